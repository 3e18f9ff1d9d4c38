// Determines the address that a request counts against: the peer's address, or the forwarded address behind a trusted
// proxy (TRUSTED_PROXIES). All addresses of an IPv6 /64 count as one, since one host may own all of them.

import type { HttpResponse } from 'uWebSockets.js'
import { BlockList, isIP, isIPv4 } from 'node:net'
import { networkOf } from '../../engine/networks.ts'
import type { RequestHead } from './head.ts'

/** Names of this machine that need no DNS, with an optional port. */
export const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i
/** Whether a `Host` is a loopback name or an IP address, which DNS cannot make another machine's. */
export function isAddressHost(host: string): boolean {
  const name = host.replace(/:\d*$/, '').replace(/^\[|\]$/g, '')
  return LOOPBACK_HOST.test(host) || isIP(name) !== 0
}

/** Maximum hops that are read. */
const HOPS_MAX = 32
const GROUPS = 8

export class PeerAddresses {
  readonly #trusted = new BlockList()
  readonly #hasTrusted: boolean

  /** `trusted`: addresses, or subnets such as `10.0.0.0/8`, already validated. */
  constructor(trusted: readonly string[]) {
    this.#hasTrusted = trusted.length > 0
    for (const entry of trusted) {
      const [address = '', bits] = entry.split('/')
      const family = familyOf(address)
      if (bits === undefined) this.#trusted.addAddress(address, family)
      else this.#trusted.addSubnet(address, Number(bits), family)
    }
  }

  /** An IPv4 address, or an IPv6 /64. Call it before the first await. */
  of(res: HttpResponse, head: RequestHead): string {
    const peer = peerOf(res)
    const isProxied = this.#hasTrusted && this.#isTrusted(peer)
    return networkOf(isProxied ? this.#forwardedFor(peer, head.forwardedFor) : peer)
  }

  /** The address that a new connection counts against. Null for a trusted proxy and for a peer without an address. */
  ofConnection(res: HttpResponse): string | null {
    const peer = peerOf(res)
    return peer === '' || this.#isTrusted(peer) ? null : networkOf(peer)
  }

  /**
   * True if the request was sent from this machine and not through a proxy. The sender may still be a web page whose
   * domain resolves to this machine (DNS rebinding): check `Host` for that.
   */
  isLocal(res: HttpResponse, head: RequestHead): boolean {
    if (head.isForwarded || res.getProxiedRemoteAddressAsText().byteLength > 0) return false
    const peer = peerOf(res)
    return peer.startsWith('127.') || peer === '0:0:0:0:0:0:0:1'
  }

  /** The nearest hop that is not a trusted proxy. Any client can write the entries to its left. */
  #forwardedFor(peer: string, list: string): string {
    let nearest = peer
    const hops = list.split(',').filter((hop) => hop.trim() !== '')
    for (const hop of hops.slice(-HOPS_MAX).reverse()) {
      const address = normalized(hop.trim())
      if (address === null) return nearest
      nearest = address
      if (!this.#isTrusted(address)) return nearest
    }
    return nearest
  }

  #isTrusted(address: string): boolean {
    return address !== '' && this.#trusted.check(address, familyOf(address))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}

/** Returns '' for a peer without an address (a Unix socket). */
function peerOf(res: HttpResponse): string {
  return normalized(Buffer.from(res.getRemoteAddressAsText()).toString()) ?? ''
}

/**
 * Returns the canonical form of an address: without brackets, port or zone, IPv4-mapped IPv6 as IPv4, and IPv6 as eight
 * groups without leading zeros (`2001:db8:0:0:0:0:0:1`). Returns null if the text is not an address.
 */
export function normalized(text: string): string | null {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1]
  const portless = bracketed ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text
  const address = portless.replace(/%.*$/, '')
  const family = isIP(address)
  if (family === 4) return bracketed === undefined ? address : null
  if (family === 0) return null
  const groups = groupsOf(address)
  const [, , , , , marker, high = 0, low = 0] = groups
  const isMapped = marker === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  return groups.map((group) => group.toString(16)).join(':')
}

function groupsOf(address: string): readonly number[] {
  const [left = '', right] = address.split('::')
  const before = written(left)
  const after = right === undefined ? [] : written(right)
  const zeros = new Array<number>(GROUPS - before.length - after.length).fill(0)
  return [...before, ...zeros, ...after]
}

/** The groups in a part of an address. A trailing IPv4 address becomes two groups. */
function written(part: string): readonly number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}
