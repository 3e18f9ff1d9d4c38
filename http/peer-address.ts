// Which address a request counts against: the peer's, or behind a proxy that the operator trusts the
// one that it forwards for (TRUSTED_PROXIES; the header is anybody's to write otherwise).
// Not for: quotas (handle.ts). Upholds PEER1, PEER2.

import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { BlockList, isIP } from 'node:net'

/** More hops than any honest chain has are not read. */
const HOPS_MAX = 32

export class PeerAddresses {
  readonly #trusted = new BlockList()
  readonly #hasTrusted: boolean

  /** `trusted`: addresses, or subnets as `10.0.0.0/8`; checked by the configuration. */
  constructor(trusted: readonly string[]) {
    this.#hasTrusted = trusted.length > 0
    for (const entry of trusted) {
      const [address = '', bits] = entry.split('/')
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#trusted.addAddress(address, family)
      else this.#trusted.addSubnet(address, Number(bits), family)
    }
  }

  /** As text, IPv4 in its short form. To be read before anything is awaited. */
  of(res: HttpResponse, req: HttpRequest): string {
    const peer = shortForm(Buffer.from(res.getRemoteAddressAsText()).toString())
    if (!this.#hasTrusted || !this.#isTrusted(peer)) return peer
    return this.#forwardedFor(peer, req.getHeader('x-forwarded-for'))
  }

  /** The nearest hop that is no proxy of ours; whatever stands left of it was written by anybody. */
  #forwardedFor(peer: string, header: string): string {
    const hops = header.split(',').slice(-HOPS_MAX)
    let nearest = peer
    for (const hop of hops.reverse()) {
      const address = hop.trim()
      if (isIP(address) === 0) return nearest
      nearest = address
      if (!this.#isTrusted(address)) return nearest
    }
    return nearest
  }

  #isTrusted(address: string): boolean {
    const family = isIP(address)
    return family !== 0 && this.#trusted.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** uWebSockets.js writes every address in full; one of IPv4 comes mapped into IPv6. */
function shortForm(text: string): string {
  const mapped = /^(?:0000:){5}ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/.exec(
    text,
  )
  if (mapped === null) return text
  return mapped
    .slice(1)
    .map((hex) => Number.parseInt(hex, 16))
    .join('.')
}
