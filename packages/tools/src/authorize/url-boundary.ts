import { lookup as lookupHost } from 'node:dns'
import type { LookupAddress, LookupOptions } from 'node:dns'
import { lookup as resolveHost } from 'node:dns/promises'
import { addressLiteral, isPublicAddress } from './public-address.ts'
import type { UrlBoundary } from './resource.ts'
import { ResourceError } from './resource-error.ts'

/** Gives all addresses of a host name. */
export type ResolveAddresses = (hostname: string) => Promise<readonly string[]>

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ws: 80, wss: 443 }

/** The system's resolver, as `fetch` asks it. */
export const resolveAddresses: ResolveAddresses = async (hostname) => {
  const answers = await resolveHost(hostname, { all: true, verbatim: true })
  return answers.map(({ address }) => address)
}

/** A URL inside its boundary, with the addresses it was allowed for. */
export interface AllowedUrl {
  readonly url: URL
  readonly addresses: readonly string[]
}

/**
 * Checks a URL against a boundary: scheme, user info, host, port, and every address the host name stands for right now.
 *
 * A name can stand for another address a moment later, and a redirect is another URL. What really fetches should connect with
 * {@link guardedLookup} and check each redirect with this function again.
 *
 * @throws ResourceError when it is outside, saying why
 */
export async function allowedUrl(
  text: string,
  boundary: UrlBoundary,
  resolve: ResolveAddresses = resolveAddresses,
): Promise<AllowedUrl> {
  const url = parseUrl(text)
  const scheme = url.protocol.slice(0, -1)
  if (!(boundary.schemes ?? ['https']).includes(scheme)) throw new ResourceError('url', 'its scheme is not allowed')
  // `https://api.example.com@evil.example` shows one host and means another.
  if (url.username !== '' || url.password !== '') throw new ResourceError('url', 'it carries a user name or password')
  const port = url.port === '' ? DEFAULT_PORTS[scheme] : Number(url.port)
  const ports = boundary.ports ?? [DEFAULT_PORTS[scheme]]
  if (port === undefined || !ports.includes(port)) throw new ResourceError('url', 'its port is not allowed')
  const hostname = plainHost(url.hostname)
  if (!boundary.hosts.some((pattern) => matchesHost(hostname, pattern))) {
    throw new ResourceError('url', 'its host is not allowed')
  }
  const literal = addressLiteral(hostname)
  const addresses = literal === undefined ? await resolveAll(hostname, resolve) : [literal]
  if (boundary.privateAddresses !== true && !addresses.every((address) => isPublicAddress(address))) {
    throw new ResourceError('url', 'its host stands for an address that is not public')
  }
  return { url, addresses }
}

/** What `node:http`, `node:https` and undici take as their `lookup`. */
export type LookupFunction = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
) => void

/**
 * A `lookup` for `node:http`, `node:https` or an undici `Agent({ connect: { lookup } })` that refuses addresses that are not
 * public at the moment the connection is made: a name that was changed after the check does not help.
 *
 * Address literals never reach a lookup, so {@link allowedUrl} must have seen the URL.
 */
export function guardedLookup(lookup: LookupFunction = lookupHost): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      if (error !== null) return callback(error, address, family)
      const all = typeof address === 'string' ? [address] : address.map((one) => one.address)
      if (all.length > 0 && all.every((one) => isPublicAddress(one))) return callback(null, address, family)
      callback(new ResourceError('url', 'its host stands for an address that is not public'), '', 0)
    })
  }
}

/** White space and control characters, which `URL` drops, and backslashes, which it turns: other programs read another host. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const AMBIGUOUS = /[\u0000-\u0020\u007f\\]/

function parseUrl(text: string): URL {
  if (AMBIGUOUS.test(text)) throw new ResourceError('url', 'it holds white space, control characters or backslashes')
  try {
    return new URL(text)
  } catch {
    throw new ResourceError('url', 'it is no absolute URL')
  }
}

/** Without the one trailing dot that makes a name absolute and no other. */
function plainHost(hostname: string): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}

function matchesHost(hostname: string, pattern: string): boolean {
  const literal = addressLiteral(pattern)
  if (literal !== undefined) return addressLiteral(hostname) === literal
  const wanted = plainHost(pattern.toLowerCase())
  if (!wanted.startsWith('*.')) return hostname === wanted
  return (
    hostname.endsWith(wanted.slice(1)) && hostname.length >= wanted.length && addressLiteral(hostname) === undefined
  )
}

async function resolveAll(hostname: string, resolve: ResolveAddresses): Promise<readonly string[]> {
  let addresses: readonly string[]
  try {
    addresses = await resolve(hostname)
  } catch (error) {
    throw new ResourceError('url', 'its host could not be resolved', { cause: error })
  }
  if (addresses.length === 0) throw new ResourceError('url', 'its host has no address')
  return addresses
}
