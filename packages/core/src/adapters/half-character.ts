/**
 * Does a piece of text end in the middle of a character? One outside the basic plane is two UTF-16 units, which a sender may cut
 * apart (fault F203). Such a half is held until its other half comes, so that every delta is well formed.
 */
export function endsInHalf(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800
}
