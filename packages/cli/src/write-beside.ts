import { writeFile } from 'node:fs/promises'
import { clip } from 'streamfold/json'
import type { CommandIo } from './command-io.ts'
import { messageOf } from './message-of.ts'

/** Writes a file beside what goes to standard output; false, and a message, where that can't be done: the result must not be lost. */
export async function writeBeside(file: string, text: string, { stderr }: CommandIo): Promise<boolean> {
  try {
    await writeFile(file, text)
    return true
  } catch (error) {
    await stderr.write(`streamfold: ${clip(file, 200)} was not written: ${messageOf(error)}\n`)
    return false
  }
}
