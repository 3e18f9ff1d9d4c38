// Validates a webhook's URL: scheme, host, port and form, after `new URL` has normalised it (2130706433, 0x7f.1 and
// full-width digits are all 127.0.0.1). Checked at registration and at every attempt.

import { isIPv4 } from 'node:net'
import type { CallPolicy } from './post.ts'
import { isPublicAddress } from './public-address.ts'

const URL_CHARACTERS_MAX = 2_048
const HOST_CHARACTERS_MAX = 253
const PORT_FREE_MIN = 1_024

/**
 * Ports from 1,024 on that protocols other than HTTP use: the Fetch standard's bad ports, and ports of databases,
 * queues, brokers, desktops and container engines.
 */
const PORTS_DENIED: ReadonlySet<number> = new Set([
  1080, 1099, 1194, 1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2377, 2379,
  2380, 2483, 2484, 3128, 3260, 3306, 3389, 3659, 4045, 4190, 4222, 4369, 5060, 5061, 5222, 5269,
  5432, 5433, 5672, 5900, 5901, 6000, 6379, 6380, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  7199, 8125, 9042, 9092, 9093, 9160, 9300, 10080, 10250, 10255, 11211, 15672, 26379, 27017, 27018,
  27019, 28015,
])

/** Names of this machine or this network, by RFC 6761, RFC 6762, RFC 8375 and convention. */
const INSIDE_NAME = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home\.arpa)$/
const NAME = /^(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*$/

/**
 * Returns the URL as it is stored and called, or an error that states what is accepted. The error does not repeat the
 * given text. Does not resolve names.
 */
export function readTargetUrl(
  text: string,
  policy: CallPolicy,
): { readonly url: string } | { readonly problem: string } {
  if (text.length > URL_CHARACTERS_MAX) return { problem: TOO_LONG }
  // The URL parser removes or replaces these characters, so the called URL would differ from the URL that a person
  // reads.
  if (hasHiddenCharacter(text)) {
    return { problem: 'the URL must hold no spaces, control characters or backslashes' }
  }
  if (!URL.canParse(text)) return { problem: `must be a URL such as ${EXAMPLE}` }
  const url = new URL(text)
  if (url.pathname === MASKED_PATH) return { problem: MASKED }
  const problem = problemOf(url, policy)
  if (problem !== null) return { problem }
  url.hash = ''
  return url.href.length > URL_CHARACTERS_MAX ? { problem: TOO_LONG } : { url: url.href }
}

const EXAMPLE = 'https://example.com/hooks'
/** `/…`, which answers show in place of a secret path and query. */
const MASKED_PATH = '/%E2%80%A6'
const MASKED =
  'the path `/…` replaces a hidden path and query: give the whole URL, or leave `url` out of a change'
const TOO_LONG = `a URL has at most ${URL_CHARACTERS_MAX} characters, after encoding too`

function problemOf(url: URL, policy: CallPolicy): string | null {
  const isScheme = url.protocol === 'https:' || (url.protocol === 'http:' && policy.allowsHttp)
  if (!isScheme) {
    const schemes = policy.allowsHttp ? 'https:// or http://' : 'https://'
    return `the URL must begin with ${schemes}`
  }
  if (url.username !== '' || url.password !== '') {
    return 'the URL must hold no user name or password'
  }
  return hostProblem(url.hostname, policy) ?? portProblem(url, policy)
}

function hostProblem(host: string, policy: CallPolicy): string | null {
  const notPublic = `the host must be a public name or address, such as in ${EXAMPLE}`
  if (host.startsWith('[') || isIPv4(host)) {
    const isAllowed = policy.allowsPrivate || isPublicAddress(bareHost(host))
    return isAllowed ? null : notPublic
  }
  if (host.length > HOST_CHARACTERS_MAX || !NAME.test(host)) {
    return 'the host must be a name of letters, digits, hyphens and dots, without a dot at its end'
  }
  if (policy.allowsPrivate) return null
  return INSIDE_NAME.test(host) || !host.includes('.') ? notPublic : null
}

function portProblem(url: URL, policy: CallPolicy): string | null {
  const port = portOf(url)
  if (port === 443 || (port === 80 && policy.allowsHttp)) return null
  if (port >= PORT_FREE_MIN && !PORTS_DENIED.has(port)) return null
  const standardPorts = policy.allowsHttp ? '443, 80' : '443'
  return `the port must be ${standardPorts} or one from ${PORT_FREE_MIN} on that no other protocol is known for`
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

/** The host of a URL as sockets expect it: an IPv6 address has no brackets. */
function bareHost(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host
}

function hasHiddenCharacter(text: string): boolean {
  for (let position = 0; position < text.length; position += 1) {
    const code = text.charCodeAt(position)
    if (code <= 0x20 || code === 0x7f || code === 0x5c /* \ */) return true
  }
  return false
}
