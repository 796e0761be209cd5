/** Key of a block among those of all choices. */
export function blockKey({ choice = 0, index }: { readonly choice?: number; readonly index: number }): string {
  return `${choice}/${index}`
}
