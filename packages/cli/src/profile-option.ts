import { readFile } from 'node:fs/promises'
import { unreadableReason } from '@streamfold/recording'
import { profileOf, readProfile } from 'streamfold'
import type { Api, ProviderProfile } from 'streamfold'

/** What `--profile` chose; a built-in profile also tells the wire format. */
export type ProfileOption = { readonly profile: ProviderProfile; readonly api?: Api } | { readonly misuse: string }

/** A built-in profile by name, or the JSON file that the text names (with a slash or ending in `.json`). */
export async function readProfileOption(text: string): Promise<ProfileOption> {
  try {
    if (!text.endsWith('.json') && !text.includes('/')) {
      const { api, profile } = profileOf(text)
      return { api, profile }
    }
    return { profile: readProfile(JSON.parse(await readFile(text, 'utf8'))) }
  } catch (error) {
    return { misuse: `--profile ${text}: ${unreadableReason(error)}` }
  }
}
