// Network prefixes of client addresses, for limits per network. IPv6 addresses must have eight groups without leading
// zeros.

/** The /64 of an IPv6 address (`2001:db8:0:0::/64`), the network of one host. IPv4 addresses are returned unchanged. */
export function networkOf(address: string): string {
  return prefixOf(address, 64)
}

/**
 * The /48 of an IPv6 address or of its /64, the network of one customer of a provider. IPv4 addresses are returned
 * unchanged.
 */
export function siteOf(address: string): string {
  return prefixOf(address, 48)
}

function prefixOf(address: string, bits: 48 | 64): string {
  if (!address.includes(':')) return address
  return `${address
    .split(':')
    .slice(0, bits / 16)
    .join(':')}::/${bits}`
}
