import type { RedactionOptions } from '@streamfold/recording'
import type { Command } from 'commander'
import { messageOf } from './message-of.ts'
import { repeatedOption } from './repeated-option.ts'

/** What can be asked for on the command line. */
export interface RedactionFlags {
  readonly email?: boolean
  readonly field?: readonly string[]
  readonly pattern?: readonly string[]
  readonly secretEnv?: readonly string[]
}

/** The options of every command that writes recordings. */
export function addRedactionOptions(command: Command): Command {
  return command
    .option('--email', 'mask e-mail addresses too')
    .option('--field <name>', 'mask the text of JSON members of this name; repeat it for each', repeatedOption)
    .option('--pattern <regex>', 'mask what matches; repeat it for each', repeatedOption)
    .option('--secret-env <name>', 'mask the value of this environment variable; repeat it for each', repeatedOption)
}

/** Options for the library, or what is wrong with those that were given. */
export function redactionOf(
  { email, field, pattern, secretEnv = [] }: RedactionFlags,
  env: Readonly<Record<string, string | undefined>>,
): RedactionOptions | { readonly misuse: string } {
  const missing = secretEnv.find((name) => env[name] === undefined || env[name] === '')
  if (missing !== undefined) return { misuse: `the environment variable ${missing} of --secret-env is not set` }
  const short = secretEnv.find((name) => Buffer.byteLength(env[name] ?? '') < 4)
  if (short !== undefined) return { misuse: `the value of ${short} is too short to be told from ordinary text` }
  const patterns: RegExp[] = []
  for (const source of pattern ?? []) {
    try {
      patterns.push(new RegExp(source))
    } catch (error) {
      return { misuse: `--pattern: ${messageOf(error)}` }
    }
  }
  return {
    ...(email !== undefined && { email }),
    ...(field !== undefined && { fields: field }),
    ...(patterns.length > 0 && { patterns }),
    ...(secretEnv.length > 0 && { secrets: secretEnv.map((name) => env[name]!) }),
  }
}
