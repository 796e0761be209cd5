import { setTimeout as pause } from 'node:timers/promises'
import { defineTool, NoEffectError } from '@streamfold/tools'
import type { Tool } from '@streamfold/tools'

/** Two tools that touch nothing outside of themselves. `timeMs` is how long each takes, so that it can be interrupted. */
export function harmlessTools(timeMs: number): readonly Tool[] {
  const addNumbers = defineTool({
    name: 'add_numbers',
    description: 'Adds numbers and gives the sum.',
    effect: 'read',
    parameters: {
      type: 'object',
      properties: { numbers: { type: 'array', items: { type: 'number' }, minItems: 1, maxItems: 100 } },
      required: ['numbers'],
    },
    async execute({ numbers }, { signal }) {
      await pause(timeMs, undefined, { signal })
      const sum = numbers.reduce((total, number) => total + number, 0)
      if (!Number.isFinite(sum)) throw new NoEffectError('the sum is beyond the largest number there is')
      return { sum }
    },
  })
  const formatDate = defineTool({
    name: 'format_date',
    description: 'Writes a date in the way of a locale.',
    effect: 'read',
    parameters: {
      type: 'object',
      properties: {
        date: { type: 'string', description: 'YYYY-MM-DD', pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' },
        locale: { type: 'string', description: 'such as ja-JP', minLength: 2, maxLength: 35 },
      },
      required: ['date', 'locale'],
    },
    async execute({ date, locale }, { signal }) {
      await pause(timeMs, undefined, { signal })
      return { text: dateText(date, locale) }
    },
  })
  return [addNumbers, formatDate]
}

function dateText(date: string, locale: string): string {
  const day = new Date(`${date}T00:00:00Z`)
  // A day too many rolls over into the next month.
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) {
    throw new NoEffectError(`there is no day ${date}`)
  }
  try {
    return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(day)
  } catch (cause) {
    throw new NoEffectError(`there is no locale ${locale}; one is ja-JP`, { cause })
  }
}
