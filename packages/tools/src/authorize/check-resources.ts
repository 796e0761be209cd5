import { pathInside } from './path-boundary.ts'
import { ResourceError } from './resource-error.ts'
import type { Resource } from './resource.ts'
import { allowedUrl } from './url-boundary.ts'
import type { ResolveAddresses } from './url-boundary.ts'

/** Resources one call may declare; each may cost a look-up. */
export const MAX_RESOURCES = 128

export interface ResourceRefusal {
  /** Place in the tool's list. */
  readonly index: number
  readonly kind: string
  /** Reads on after "the path", "the url", "the id"; holds no value. */
  readonly reason: string
}

/** The first resource that is outside its boundary; `undefined` when all are inside. What can't be judged is outside. */
export async function findRefusedResource(
  resources: readonly Resource[],
  resolve?: ResolveAddresses,
): Promise<ResourceRefusal | undefined> {
  if (resources.length > MAX_RESOURCES) {
    return { index: MAX_RESOURCES, kind: 'list', reason: `it holds more than ${MAX_RESOURCES} resources` }
  }
  for (const [index, resource] of resources.entries()) {
    try {
      await requireInside(resource, resolve)
    } catch (error) {
      const reason = error instanceof ResourceError ? error.message : 'it could not be checked'
      return { index, kind: kindOf(resource), reason }
    }
  }
  return undefined
}

async function requireInside(resource: Resource, resolve: ResolveAddresses | undefined): Promise<void> {
  switch (resource.kind) {
    case 'path':
      await pathInside(resource.root, resource.path)
      return
    case 'url':
      await allowedUrl(resource.url, resource.allow, resolve)
      return
    case 'id': {
      const allowed: unknown = typeof resource.allowed === 'function' ? await resource.allowed() : resource.allowed
      if (allowed !== true) throw new ResourceError('id', 'it is not one of yours')
      return
    }
    default:
      // A kind from a newer version, or from code without types.
      throw new ResourceError(resource, 'its kind is not known')
  }
}

function kindOf(resource: unknown): string {
  return typeof resource === 'object' && resource !== null && 'kind' in resource ? String(resource.kind) : 'unknown'
}
