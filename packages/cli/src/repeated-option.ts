/** For an option that may be given several times: everything it was given, in order. */
export function repeatedOption(value: string, all: readonly string[] | undefined): readonly string[] {
  return [...(all ?? []), value]
}
