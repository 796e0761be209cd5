/** Lines of a recording, as text, for tests. */
export const HEAD = '{"t":"head","format":"streamfold/recording","v":1}'

export function lines(...all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('')
}

export function read(at: number, off: number, s: string): string {
  return JSON.stringify({ t: 'b', at, off, len: new TextEncoder().encode(s).length, s })
}

export function base64Read(at: number, off: number, ...bytes: readonly number[]): string {
  return JSON.stringify({ t: 'b', at, off, len: bytes.length, x: btoa(String.fromCharCode(...bytes)) })
}
