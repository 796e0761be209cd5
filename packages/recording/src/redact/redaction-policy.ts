import { counted } from '../counted.ts'
import { BodyRedactor } from './body-redactor.ts'
import type { Redaction } from './body-redactor.ts'
import { DEFAULT_DETECTORS, EMAIL_DETECTOR, fieldDetectors, literalDetector, patternDetector } from './detectors.ts'
import type { Detector } from './detectors.ts'

export interface RedactionOptions {
  /** E-mail addresses too. Default false: they are often what an answer is about. */
  readonly email?: boolean
  /** Secrets known by heart: masked wherever they stand. At least 4 bytes each. */
  readonly secrets?: readonly string[]
  /** JSON members whose text is masked, whatever it is. */
  readonly fields?: readonly string[]
  /**
   * Patterns of your own, matched against bytes as Latin-1: write a character beyond ASCII as its UTF-8 bytes. A match is
   * found across reads if it is up to 512 bytes long.
   */
  readonly patterns?: readonly RegExp[]
}

/** Name of the rules in the head line; a number higher means other rules. */
export const REDACTION_POLICY = 'default@1'

const SHORTEST_SECRET = 4

/** What is looked for. One policy serves many bodies. */
export class RedactionPolicy {
  readonly #detectors: readonly Detector[]
  readonly #longest: number

  /** @throws TypeError for a secret that is too short to be told from ordinary text */
  constructor({ email = false, secrets = [], fields = [], patterns = [] }: RedactionOptions = {}) {
    const short = secrets.find((secret) => Buffer.byteLength(secret) < SHORTEST_SECRET)
    if (short !== undefined) {
      throw new TypeError(
        `a secret of ${counted(Buffer.byteLength(short), 'byte')} would mask ordinary text; it needs ${SHORTEST_SECRET}`,
      )
    }
    this.#detectors = [
      ...DEFAULT_DETECTORS,
      ...(email ? [EMAIL_DETECTOR] : []),
      ...fieldDetectors(fields),
      ...secrets.map(literalDetector),
      ...patterns.map(patternDetector),
    ]
    this.#longest = Math.max(0, ...secrets.map((secret) => 2 * Buffer.byteLength(secret)))
  }

  /** For one body; `secrets` are masked as well as those of the policy. */
  body(secrets: readonly string[] = []): BodyRedactor {
    const detectors = secrets.length === 0 ? this.#detectors : [...this.#detectors, ...secrets.map(literalDetector)]
    return new BodyRedactor(
      detectors,
      Math.max(this.#longest, ...secrets.map((secret) => 2 * Buffer.byteLength(secret))),
    )
  }

  /** The secrets in whole bytes, in their order. */
  find(value: Uint8Array): readonly Redaction[] {
    const redactor = this.body()
    redactor.push(value, 0)
    redactor.end()
    return redactor.redactions()
  }

  /** A whole text; its length in UTF-8 stays. */
  text(value: string, secrets?: readonly string[]): string {
    return Buffer.from(this.bytes(Buffer.from(value), secrets)).toString()
  }

  /** Whole bytes, as many as before. */
  bytes(value: Uint8Array, secrets?: readonly string[]): Uint8Array {
    const redactor = this.body(secrets)
    return Buffer.concat([...redactor.push(value, 0), ...redactor.end()].map(({ bytes }) => bytes))
  }
}
