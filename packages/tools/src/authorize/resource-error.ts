import type { Resource } from './resource.ts'

/** A resource is outside its boundary. The message says why and never repeats the resource. */
export class ResourceError extends Error {
  override readonly name = 'ResourceError'
  readonly kind: Resource['kind']

  constructor(kind: Resource['kind'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.kind = kind
  }
}
