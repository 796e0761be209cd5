import type { StreamChunk } from '../../src/chunk/chunk.ts'

interface NaiveBlock {
  type: string
  index: number
  status: string
  text?: string
  callId?: string
  name?: string
  argumentsText?: string
  metadata?: Record<string, unknown>
}

interface NaiveChoice {
  blocks: NaiveBlock[]
  finish?: { reason: string; raw: string | null }
  metadata: Record<string, unknown>
  hasMetadata: boolean
}

/** What a snapshot should show, but for its version: folded anew from all chunks, without any cleverness. */
export function naiveSnapshot(chunks: readonly StreamChunk[]): unknown {
  const choices = new Map<number, NaiveChoice>()
  const whole = { metadata: {} as Record<string, unknown>, hasMetadata: false }
  let id: string | undefined
  let model: string | undefined
  let usage: unknown
  const choiceOf = (index = 0): NaiveChoice => {
    if (!choices.has(index)) choices.set(index, { blocks: [], metadata: {}, hasMetadata: false })
    return choices.get(index)!
  }
  for (const chunk of chunks) {
    switch (chunk.type) {
      case 'start':
        id ??= chunk.id
        model ??= chunk.model
        break
      case 'usage':
        usage = chunk.usage
        break
      case 'finish':
        choiceOf(chunk.choice).finish = { reason: chunk.reason, raw: chunk.raw ?? null }
        break
      case 'metadata': {
        const target = chunk.choice === undefined ? whole : choiceOf(chunk.choice)
        target.hasMetadata = true
        Object.assign(target.metadata, chunk.replace)
        for (const [key, values] of Object.entries(chunk.append ?? {})) {
          target.metadata[key] = [...((target.metadata[key] as unknown[]) ?? []), ...values]
        }
        break
      }
      case 'error':
        break
      case 'block-start':
      case 'block-end':
      case 'text-delta':
      case 'reasoning-delta':
      case 'refusal-delta':
      case 'tool-call-delta':
        takeBlock(
          chunk,
          chunk.type === 'block-end' && chunk.block === undefined ? choices.get(chunk.choice ?? 0) : undefined,
          choiceOf,
        )
    }
  }
  return {
    ...(id !== undefined && { id }),
    ...(model !== undefined && { model }),
    choices: [...choices]
      .sort(([a], [b]) => a - b)
      .map(([index, { blocks, finish, metadata, hasMetadata }]) => ({
        index,
        blocks: blocks.toSorted((a, b) => a.index - b.index),
        ...(finish !== undefined && { finish }),
        ...(hasMetadata && { metadata }),
      })),
    ...(usage !== undefined && { usage }),
    ...(whole.hasMetadata && { metadata: whole.metadata }),
    ended: false,
  }
}

type BlockChunk = Exclude<StreamChunk, { type: 'start' | 'usage' | 'finish' | 'metadata' | 'error' }>

function takeBlock(chunk: BlockChunk, known: NaiveChoice | undefined, choiceOf: (index?: number) => NaiveChoice): void {
  const { index } = chunk
  if (chunk.type === 'block-end' && chunk.block === undefined) {
    const block = known?.blocks.find((one) => one.index === index)
    if (block !== undefined) {
      block.status = 'done'
      keep(block, chunk.metadata)
    }
    return
  }
  if (chunk.type === 'block-start' && chunk.blockType === 'tool-call') return
  const { blocks } = choiceOf(chunk.choice)
  let block = blocks.find((one) => one.index === index)
  const open = (fresh: NaiveBlock): NaiveBlock => {
    blocks.push(fresh)
    return fresh
  }
  switch (chunk.type) {
    case 'block-start':
      block ??= open({ type: chunk.blockType, index, text: '', status: 'streaming' })
      keep(block, chunk.metadata)
      break
    case 'tool-call-delta':
      block ??= open({ type: 'tool-call', index, callId: chunk.id, argumentsText: '', status: 'streaming' })
      if (block.type !== 'tool-call') break
      block.argumentsText += chunk.argumentsDelta
      if (chunk.name !== undefined) block.name = chunk.name
      keep(block, chunk.metadata)
      break
    case 'block-end': {
      const restated = chunk.block!
      if (restated.type === 'tool-call') {
        block ??= open({ type: 'tool-call', index, callId: restated.callId, argumentsText: '', status: 'streaming' })
        if (block.type === 'tool-call') {
          block.argumentsText ||= restated.argumentsText
          block.name ??= restated.name!
        }
      } else {
        block ??= open({ type: restated.type, index, text: '', status: 'streaming' })
        if (block.type !== 'tool-call') block.text = restated.text
      }
      if ((block.type === 'tool-call') === (restated.type === 'tool-call')) keep(block, restated.metadata)
      keep(block, chunk.metadata)
      block.status = 'done'
      break
    }
    case 'text-delta':
    case 'reasoning-delta':
    case 'refusal-delta':
      block ??= open({ type: chunk.type.replace('-delta', ''), index, text: '', status: 'streaming' })
      if (block.type === 'tool-call') break
      block.text += chunk.text
      block.status = 'streaming'
  }
}

function keep(block: NaiveBlock, metadata: Readonly<Record<string, unknown>> | undefined): void {
  if (metadata !== undefined) block.metadata = { ...block.metadata, ...metadata }
}
