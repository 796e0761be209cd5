import { InvalidArgumentError } from 'commander'

/** For an option whose value is an integer from 0. */
export function wholeNumberOption(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw new InvalidArgumentError('It must be an integer from 0.')
}

/** For an option whose value is a port to listen on; 0 is any free one. */
export function portOption(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value <= 65_535) return value
  throw new InvalidArgumentError('It must be a port, from 0 to 65535.')
}

/** For an option whose value is an integer from 1. */
export function positiveIntegerOption(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value
  throw new InvalidArgumentError('It must be an integer from 1.')
}
