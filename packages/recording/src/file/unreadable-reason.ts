const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a directory; name the files in it',
  EACCES: 'no permission to read it',
  ENAMETOOLONG: 'the name is too long',
  ERR_FS_FILE_TOO_LARGE: 'it is too large to be read at once',
}

/** Why a file can't be read, in a few words; the error's own message where there are none for it. Never throws. */
export function unreadableReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return REASONS[code] ?? (error instanceof Error ? error.message : String(error))
}
