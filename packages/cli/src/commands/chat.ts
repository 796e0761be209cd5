import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { apiModel, StoreError } from '@streamfold/tools'
import type { ConversationResult, Ledger } from '@streamfold/tools'
import { Option } from 'commander'
import type { Command } from 'commander'
import type { StreamReport } from 'streamfold'
import { clip } from 'streamfold/json'
import { CHAT_APIS, chatEndpoint } from '../chat/chat-endpoint.ts'
import type { ChatEndpoint, EndpointFlags } from '../chat/chat-endpoint.ts'
import { ChatSession, promptsBegun } from '../chat/chat-session.ts'
import type { ApprovalMode } from '../chat/chat-session.ts'
import { ChatView } from '../chat/chat-view.ts'
import { harmlessTools } from '../chat/harmless-tools.ts'
import { scriptedAnswer } from '../chat/scripted-answers.ts'
import type { CommandIo } from '../command-io.ts'
import { startSampleServer } from '../demo/sample-server.ts'
import { EXIT, worse } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { wholeNumberOption } from '../integer-option.ts'
import { DEFAULT_LEDGER, NoLedgerError, openExistingLedger, openLedgerAt } from '../ledger-address.ts'
import type { OpenedLedger } from '../ledger-address.ts'
import { LineReader, LongLineError } from '../line-reader.ts'
import { keyVariables } from '../key-variables.ts'
import { messageOf } from '../message-of.ts'
import { themeOf } from '../report-text/theme.ts'
import { shellWord } from '../shell-word.ts'

export interface ChatCommandOptions extends EndpointFlags {
  readonly approve?: ApprovalMode
  readonly ledger?: string
  /** Id of a chat to go on with. */
  readonly resume?: string
  /** A file that gets the report of each answer with calls, as a line of JSON. */
  readonly report?: string
  /** How long each tool takes, in milliseconds. */
  readonly toolTime?: number
}

const CHAT_ID = /^[\w-]{1,64}$/

/**
 * `streamfold chat`: prompts from standard input, line by line; the transcript is on standard output, everything else on standard
 * error. Every call is in the ledger before it is run, so a chat that was interrupted or killed can be gone on with.
 */
export async function chatCommand(options: ChatCommandOptions, io: CommandIo): Promise<ExitCode> {
  const endpoint = chatEndpoint(options, io.env)
  if (typeof endpoint === 'string') return await refuse(endpoint, EXIT.usage, io)
  const { resume } = options
  if (resume !== undefined && !CHAT_ID.test(resume)) {
    return await refuse(`--resume: "${clip(resume, 80)}" is no id of a chat`, EXIT.usage, io)
  }
  const address = options.ledger ?? DEFAULT_LEDGER
  let opened: OpenedLedger
  try {
    opened = resume === undefined ? await openLedgerAt(address) : await openExistingLedger(address, false)
  } catch (error) {
    if (error instanceof NoLedgerError) return await refuse(error.message, EXIT.unreadableInput, io)
    if (!(error instanceof StoreError) && !isSystemError(error)) throw error
    return await refuse(`the ledger can't be opened: ${clip(error.message, 300)}`, EXIT.unreadableInput, io)
  }
  const scripted = endpoint === undefined ? await startSampleServer(scriptedAnswer) : undefined
  try {
    const used = endpoint ?? { api: 'chat_completions', model: 'script-1', baseURL: scripted!.baseUrl }
    return await chat(options, used, opened.ledger, io)
  } catch (error) {
    if (error instanceof LongLineError) return await refuse(error.message, EXIT.usage, io)
    if (error instanceof StoreError) {
      return await refuse(`the ledger can't be written: ${clip(error.message, 300)}`, EXIT.unwanted, io)
    }
    throw error
  } finally {
    scripted?.close()
    await opened.store.close()
  }
}

async function chat(
  options: ChatCommandOptions,
  endpoint: ChatEndpoint,
  ledger: Ledger,
  io: CommandIo,
): Promise<ExitCode> {
  const { approve = 'ask', resume, toolTime = 0, report } = options
  const begun = resume === undefined ? 0 : await promptsBegun(ledger, resume)
  if (resume !== undefined && begun === 0) {
    const where = options.ledger === undefined ? '' : ` --ledger ${clip(shellWord(safeAddress(options.ledger)), 200)}`
    const advice = `streamfold ledger list${where} shows the runs that are (CHAT.1, CHAT.2, …)`
    return await refuse(`there is no chat ${resume} in this ledger; ${advice}`, EXIT.unreadableInput, io)
  }
  const chatId = resume ?? `chat-${randomBytes(5).toString('hex')}`
  const goOn = `streamfold chat --resume ${chatId}${flagsOf(options)}`
  const view = new ChatView(io.stdout, themeOf(io.stdout, io.env))
  const lines = new LineReader(io.stdin)
  const ask = async (label: string, question: string): Promise<string | undefined> => {
    await view.question(label, question)
    const answer = await lines.next(io.signal)
    await view.answered(answer)
    return answer
  }
  const warn = (text: string): void => void io.stderr.write(`streamfold: ${clip(text, 300)}\n`)
  const session = new ChatSession({
    chatId,
    begun,
    ledger,
    model: apiModel(endpoint),
    tools: harmlessTools(toolTime),
    approve,
    view,
    ask,
    signal: io.signal,
    onReport: (completed) => {
      if (report !== undefined) appendReport(report, completed, warn)
    },
    onError: (error) => warn(messageOf(error)),
  })
  try {
    await io.stderr.write(`streamfold: ${banner(options, endpoint)}\nstreamfold: go on later with: ${goOn}\n`)
    let exit: ExitCode = EXIT.wanted
    const told = async (result: ConversationResult): Promise<void> => {
      view.end()
      await view.settled()
      exit = worse(exit, await tell(result, options, endpoint, io))
    }
    if (resume !== undefined) {
      const resumed = await session.resume()
      if (!resumed.live) recall(resumed.result, view)
      await told(resumed.result)
    }
    while (!io.signal.aborted) {
      const prompt = await ask('you', '')
      if (prompt === undefined) break
      if (prompt.trim() !== '') await told(await session.prompt(prompt))
    }
    if (!io.signal.aborted) return exit
    await io.stderr.write(`streamfold: interrupted; go on with: ${goOn}\n`)
    return EXIT.interrupted
  } finally {
    lines.close()
    await session.close()
  }
}

/** What a finished run ended with: its answer was not streamed again. */
function recall(result: ConversationResult, view: ChatView): void {
  const prompt = result.messages.findLast(({ role }) => role === 'user')
  if (prompt?.role === 'user' && typeof prompt.content === 'string') view.said('asked', prompt.content)
  if (result.state === 'finished') view.said('answer', result.text)
}

/** Says why there is no answer, and what that means for the exit code. */
async function tell(
  result: ConversationResult,
  { apiKeyEnv }: ChatCommandOptions,
  { api, baseURL }: ChatEndpoint,
  { stderr, signal }: CommandIo,
): Promise<ExitCode> {
  if (result.state === 'finished' || signal.aborted) return EXIT.wanted
  if (result.state === 'pending') {
    const calls = result.waiting.map(({ name, code }) => `${clip(name, 40)} (${code ?? 'pending'})`)
    await stderr.write(`streamfold: not answered: ${calls.join(', ')} did not end yet\n`)
    return EXIT.unwanted
  }
  const { reason, error } = result
  const unreachable = error?.phase === 'connect'
  const refused = error?.status === 401 || error?.status === 403
  const where = unreachable ? `, ${clip(baseURL ?? api, 200)} can't be reached` : ''
  const why = error === undefined ? '' : ` (${error.code}): ${clip(error.message, 300)}`
  const advice = refused ? `; check the key in ${keyVariables(api, apiKeyEnv).join(' or ')}` : ''
  await stderr.write(`streamfold: not answered: ${reason}${where}${why}${advice}\n`)
  return unreachable || refused ? EXIT.endpoint : EXIT.unwanted
}

function banner({ model, ledger }: ChatCommandOptions, { api, baseURL }: ChatEndpoint): string {
  const where = baseURL === undefined ? api : `${api} at ${clip(baseURL, 200)}`
  const who = model === undefined ? `a script (${where}; --model and --base-url for a real one)` : `${model} (${where})`
  return `you talk to ${clip(who, 300)}; the ledger is ${safeAddress(clip(ledger ?? DEFAULT_LEDGER, 200))}`
}

/** The flags that lead to the same chat again. */
function flagsOf({ baseUrl, api, model, apiKeyEnv, ledger, approve }: ChatCommandOptions): string {
  const flags = {
    '--base-url': baseUrl,
    '--api': api,
    '--model': model,
    '--api-key-env': apiKeyEnv,
    '--approve': approve === 'ask' ? undefined : approve,
  }
  const given = Object.entries({ ...flags, '--ledger': ledger === undefined ? undefined : safeAddress(ledger) })
  return given.map(([flag, value]) => (value === undefined ? '' : ` ${flag} ${clip(shellWord(value), 300)}`)).join('')
}

/** Without the password of a database. */
function safeAddress(address: string): string {
  return address.replace(/^(\w+:\/\/[^:/@]*):[^@]*@/, '$1:…@')
}

/** At once, so that lines stand in order and a process that is killed has written what it knew. */
function appendReport(file: string, report: StreamReport, warn: (text: string) => void): void {
  try {
    appendFileSync(file, `${JSON.stringify(report)}\n`)
  } catch (error) {
    warn(`a report was not written: ${messageOf(error)}`)
  }
}

async function refuse(reason: string, exit: ExitCode, { stderr }: CommandIo): Promise<ExitCode> {
  await stderr.write(`streamfold: ${reason}\n`)
  return exit
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error
}

/** Puts the command into a program. */
export function addChatCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  program
    .command('chat')
    .description('a chat with two harmless tools, each call shown in every state and run once')
    .option('--base-url <url>', "of the endpoint; the API's public one where absent")
    .addOption(new Option('--api <name>', 'wire format (chat_completions)').choices(CHAT_APIS))
    .option('--model <name>', 'model to talk to; without it a script on this machine answers')
    .option('--api-key-env <name>', "environment variable with the key; the API's usual one where absent")
    .addOption(
      new Option(
        '--approve <who>',
        'before a call is run: ask you (a yes, anything else is a no), always or never run it',
      )
        .choices(['ask', 'always', 'never'])
        .default('ask'),
    )
    .option('--ledger <address>', `a SQLite file or a postgres:// address (${DEFAULT_LEDGER} in this folder)`)
    .option('--resume <chat>', 'go on with a chat that was interrupted, killed or left')
    .option('--report <file>', 'append the report of each answer with calls, as a line of JSON')
    .option('--tool-time <ms>', 'how long each tool takes, to have time to interrupt it (0)', wholeNumberOption)
    .addHelpText('after', HELP)
    .action(async (flags: ChatCommandOptions) => {
      done(await chatCommand(flags, io))
    })
}

const HELP = `
Each line of standard input is a prompt; where a call waits for your yes, it is the answer.
An interrupt lets running tools come to an end. Whatever stops the process, --resume goes on from the ledger.

Exit codes: 0 every prompt was answered, 1 one was not, 2 usage, 3 the ledger can't be opened or has no such chat,
4 the endpoint can't be reached or refuses the key, 5 internal error, 130 interrupted.`
