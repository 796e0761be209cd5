import { InvalidArgumentError } from 'commander'

/** For an option whose value is an integer from 0. */
export function wholeNumberOption(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw new InvalidArgumentError('It must be an integer from 0.')
}

/** For an option whose value is an integer from 1. */
export function positiveIntegerOption(text: string): number {
  const value = wholeNumberOption(text)
  if (value > 0) return value
  throw new InvalidArgumentError('It must be an integer from 1.')
}
