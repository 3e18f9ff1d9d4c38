// Resolves receivers' names again for every connection. A name is rejected when any of its addresses is not
// public, so that the checked addresses are the ones that are connected to.

import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

/** All IPv4 and IPv6 addresses of a name. Rejects or returns none when there are none. */
export type AddressesOf = (host: string) => Promise<readonly string[]>

/** The address may not be called. The message is for the webhook's owner and contains no address. */
export class RefusedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RefusedError'
  }
}

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1']
/** Timeout of one query to one server. Two tries stay within the time limit to connect. */
const DNS_MS = 1_000
const DNS_TRIES = 2
/** Further addresses are not tried: a name may have any number of them, and the time limit to connect is 5 s. */
const ADDRESSES_TRIED_MAX = 4

/**
 * Queries the machine's DNS servers directly. getaddrinfo would occupy the threads that also commit to the
 * disk, one per unresponsive name server. So the hosts file is not read. localhost and names below it
 * resolve to loopback (RFC 6761), where the policy allows that.
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

  /** Cancels all pending queries. */
  stop(): void {
    this.#resolver.cancel()
  }
}

/** A `lookup` for sockets. Fails with RefusedError for a name with an address that is not public. */
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
      // With autoSelectFamily the socket requests all addresses and tries one after the other.
      ({ first, found }) => {
        if (options.all === true) callback(null, found)
        else callback(null, first.address, first.family)
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('no address'), []),
    )
  }
}
