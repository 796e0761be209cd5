import { _ } from 'ajv'
import type { Ajv, CodeKeywordDefinition, KeywordCxt } from 'ajv'

/** Characters as JSON Schema counts them: a surrogate pair is one. */
export function characters(text: string): number {
  let count = text.length
  for (let at = 1; at < text.length; at++) {
    if (isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at))) {
      count--
      // A pair ends here: its second half begins no other.
      at++
    }
  }
  return count
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/**
 * Gives a compiler `minLength` and `maxLength` that count characters only where the number of code units leaves it open: a text of
 * n units has n characters at most, and half as many at least.
 */
export function addLengthKeywords(ajv: Ajv): void {
  for (const keyword of ['minLength', 'maxLength'] as const) {
    ajv.removeKeyword(keyword)
    ajv.addKeyword(lengthKeyword(keyword))
  }
}

function lengthKeyword(keyword: 'minLength' | 'maxLength'): CodeKeywordDefinition {
  return {
    keyword,
    type: 'string',
    schemaType: 'number',
    error: {
      message: ({ schemaCode }) => _`"wrong length, the limit is " + ${schemaCode}`,
      params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
    },
    code(cxt: KeywordCxt) {
      const { gen, data, schema } = cxt
      const limit = schema as number
      const count = gen.scopeValue('func', { ref: characters })
      const units = _`${data}.length`
      if (keyword === 'maxLength') {
        cxt.fail(_`${units} > ${limit} && (${units} > ${2 * limit} || ${count}(${data}) > ${limit})`)
      } else {
        cxt.fail(_`${units} < ${limit} || (${units} < ${2 * limit - 1} && ${count}(${data}) < ${limit})`)
      }
    },
  }
}
