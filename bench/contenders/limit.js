/** What the runtime itself needs, and nothing more. No parser: wrong on many bodies, on purpose. */

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * decode + indexOf + slice, one object per event. Returns what the last read cut, to begin with the next time.
 * @param {readonly Uint8Array[]} reads @param {(event: { data: string }) => void} emit
 */
export function limitFraming(reads, emit, cut = '') {
  let tail = cut
  for (const read of reads) {
    const text = tail + decoder.decode(read)
    let from = 0
    for (;;) {
      const to = text.indexOf('\n', from)
      if (to < 0) break
      if (to > from) emit({ data: text.slice(from + 6, to) })
      from = to + 1
    }
    tail = from === text.length ? '' : text.slice(from)
  }
  return tail
}

/** The same for multi-byte text, whose characters may be cut: the streaming decoder. */
export function limitFramingCut(reads, emit) {
  const streaming = new TextDecoder('utf-8', { ignoreBOM: true })
  let tail = ''
  for (const read of reads) {
    const text = tail + streaming.decode(read, { stream: true })
    let from = 0
    for (;;) {
      const to = text.indexOf('\n', from)
      if (to < 0) break
      if (to > from) emit({ data: text.slice(from + 6, to) })
      from = to + 1
    }
    tail = from === text.length ? '' : text.slice(from)
  }
}

/** framing + JSON.parse + concatenation. Returns the final message. */
export function limitEndToEnd(reads, cut = false) {
  let text = ''
  let finish
  const calls = []
  const emit = ({ data }) => {
    if (data === '[DONE]') return
    const choice = JSON.parse(data).choices[0]
    const { delta } = choice
    if (delta.content) text += delta.content
    if (delta.tool_calls) {
      for (const piece of delta.tool_calls) {
        const call = (calls[piece.index] ??= { id: piece.id, name: piece.function.name, arguments: '' })
        call.arguments += piece.function.arguments
      }
    }
    if (choice.finish_reason) finish = choice.finish_reason
  }
  if (cut) limitFramingCut(reads, emit)
  else limitFraming(reads, emit)
  return { text, finish, calls }
}

/** Reading a web stream and nothing else. */
export async function limitReading(stream, take) {
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    take(value)
  }
}

/** Reading a web stream, framing, and one async generator that gives events one by one. */
export async function* limitGenerator(stream) {
  const reader = stream.getReader()
  const streaming = new TextDecoder('utf-8', { ignoreBOM: true })
  let tail = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const text = tail + streaming.decode(value, { stream: true })
    let from = 0
    for (;;) {
      const to = text.indexOf('\n', from)
      if (to < 0) break
      if (to > from) yield { data: text.slice(from + 6, to) }
      from = to + 1
    }
    tail = text.slice(from)
  }
}
