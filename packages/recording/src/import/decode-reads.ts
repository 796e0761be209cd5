import { createContentDecoder } from '../record/content-decoder.ts'
import { ImportError } from './import-error.ts'
import type { ImportedExchange } from './imported-exchange.ts'

/**
 * Takes the content coding off reads that were captured with it on; each keeps its time.
 *
 * @throws ImportError for a coding that is not known or not kept to
 */
export function decodeReads(
  reads: ImportedExchange['reads'],
  contentEncoding: string | undefined,
): Promise<ImportedExchange['reads']> {
  return new Promise((resolve, reject) => {
    const decoded: { readonly atUs: number; readonly bytes: Uint8Array }[] = []
    const decoder = createContentDecoder(contentEncoding, {
      read: (bytes, atUs) => void decoded.push({ atUs, bytes }),
      failed: (reason) =>
        reject(new ImportError(`the body is not the ${contentEncoding} that its header says: ${reason}`)),
    })
    if (decoder === undefined) {
      reject(
        new ImportError(
          `the body has the coding "${contentEncoding}" on, which can't be taken off here; capture it without`,
        ),
      )
      return
    }
    for (const { bytes, atUs } of reads) decoder.push(bytes, atUs)
    decoder.end(() => resolve(decoded))
  })
}
