// The networks that addresses are counted by. IPv6 addresses are of eight groups without leading zeros.

/** The /64 of an IPv6 address (`2001:db8:0:0::/64`), which one host has to itself; an IPv4 address as it is. */
export function networkOf(address: string): string {
  return prefixOf(address, 64)
}

/** The /48 of an IPv6 address or of its /64, which one customer of a provider may have; an IPv4 address as it is. */
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
