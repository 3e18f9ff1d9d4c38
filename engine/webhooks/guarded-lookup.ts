// Looks up a receiver's name for each new connection. Rejects a name if any of its addresses is not public. The socket
// connects to the addresses that were checked.

import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

/** All IPv4 and IPv6 addresses of a name. If there are none, rejects or returns an empty list. */
export type AddressesOf = (host: string) => Promise<readonly string[]>

/** The address may not be called. The message is shown to the webhook's owner and contains no address. */
export class RefusedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RefusedError'
  }
}

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1']
/** Timeout of a query to one server. Two tries fit the time limit of a connection. */
const DNS_MS = 1_000
const DNS_TRIES = 2
/** Maximum addresses of a name that are tried, because a connection has a time limit of 5 s. */
const ADDRESSES_TRIED_MAX = 4

/**
 * Queries the machine's DNS servers directly, because getaddrinfo would block threads that commit to the disk. The
 * hosts file is not read. localhost and its subdomains are loopback (RFC 6761), if the policy allows loopback.
 */
export class NameServers {
  readonly #resolver = new Resolver({ timeout: DNS_MS, tries: DNS_TRIES })

  async addressesOf(host: string): Promise<readonly string[]> {
    if (host === 'localhost' || host.endsWith('.localhost')) return LOOPBACK
    const [v4, v6] = await Promise.allSettled([
      this.#resolver.resolve4(host),
      this.#resolver.resolve6(host),
    ])
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason
    return [
      ...(v4.status === 'fulfilled' ? v4.value : []),
      ...(v6.status === 'fulfilled' ? v6.value : []),
    ]
  }

  stop(): void {
    this.#resolver.cancel()
  }
}

/** The lookup fails with RefusedError if an address of the name is not public. */
export function guardedLookup(addressesOf: AddressesOf, allowsPrivate: boolean): LookupFunction {
  const find = async (host: string) => {
    const addresses = await addressesOf(host)
    if (!allowsPrivate && !addresses.every(isPublicAddress)) {
      throw new RefusedError('the name leads to an address that is not public')
    }
    const found = addresses
      .slice(0, ADDRESSES_TRIED_MAX)
      .map((address) => ({ address, family: isIP(address) }))
    const [first] = found
    if (first === undefined) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
    return { first, found }
  }
  return (host, options, callback) => {
    find(host).then(
      // With autoSelectFamily the socket requests all addresses and tries them in sequence.
      ({ first, found }) => {
        if (options.all === true) callback(null, found)
        else callback(null, first.address, first.family)
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('no address'), []),
    )
  }
}
