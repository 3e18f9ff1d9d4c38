// Excludes all ranges of the IANA special-purpose registries (RFC 6890 and its updates) and the internal services of
// clouds.

import { BlockList, isIPv4, isIPv6 } from 'node:net'

const NOT_PUBLIC_V4: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // A service of a cloud provider. The address looks public, but the host itself answers.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** The only publicly allocated IPv6 range. Mapped, compatible and translated IPv4 addresses are outside it. */
const GLOBAL_V6: readonly [network: string, bits: number] = ['2000::', 3]
const NOT_PUBLIC_V6: readonly (readonly [network: string, bits: number])[] = [
  // Protocol assignments, including Teredo. Teredo and 6to4 addresses can embed an IPv4 address.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

// Separate lists, because an IPv6 rule for mapped addresses would also match plain IPv4 addresses.
const notPublicV4 = new BlockList()
for (const [network, bits] of NOT_PUBLIC_V4) notPublicV4.addSubnet(network, bits, 'ipv4')
const globalV6 = new BlockList()
globalV6.addSubnet(...GLOBAL_V6, 'ipv6')
const notPublicV6 = new BlockList()
for (const [network, bits] of NOT_PUBLIC_V6) notPublicV6.addSubnet(network, bits, 'ipv6')

/**
 * Accepts dotted-decimal IPv4 addresses, and IPv6 addresses without brackets and without a zone. Returns false for
 * other texts.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublicV4.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  return globalV6.check(address, 'ipv6') && !notPublicV6.check(address, 'ipv6')
}
