import ipaddr from 'ipaddr.js'

/** The only range of IPv6 that is assigned for the public internet (RFC 4291 and IANA's registry). */
const GLOBAL_UNICAST_V6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/** Looks public, and is the platform itself from within Azure: addresses, certificates and extensions of the machine. */
const AZURE_PLATFORM = '168.63.129.16'

/**
 * Whether an IP address, as text, belongs to the public internet. Loopback, private, link-local (cloud metadata), shared,
 * documentation, multicast and reserved addresses do not; nor do the ranges that wrap an IPv4 address (mapped, 6to4, Teredo, NAT64), except that
 * a mapped address is judged as the IPv4 address it is. What is no address is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast' || parsed.toString() === AZURE_PLATFORM) return false
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST_V6)
}

/** An address literal in one spelling; `undefined` for a host that is a name. */
export function addressLiteral(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toNormalizedString() : undefined
}
