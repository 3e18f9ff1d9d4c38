// What makes a request one of the dashboard's: the header `X-Dashboard`, which only its own page can send, and that the page is ours.
// The session's cookie counts for such requests alone. A page of another origin cannot send the header without a
// preflight, which never allows it; where the browser says from where a request comes (Sec-Fetch-Site, Origin), it must
// be from here. SameSite=Strict alone would let in other ports of this host, which are the same site.

import type { RequestHead } from './head.ts'
import { LOOPBACK_HOST } from './peer-address.ts'

const NAME = 'twinbook'

/** A request of the dashboard's own page. */
export interface DashboardRequest {
  /** The token in its cookie; '' for none. */
  readonly token: string
  /** The host that it names is this machine by address, or `localhost`. */
  readonly isLoopback: boolean
  /** The `Set-Cookie` that keeps a token for so many seconds. */
  setCookie(token: string, seconds: number): string
  /** The `Set-Cookie` that forgets it. */
  clearCookie(): string
}

/** Null for every request that the dashboard's own page did not make. */
export function dashboardRequest(head: RequestHead): DashboardRequest | null {
  if (!head.isDashboard || !isSameOrigin(head)) return null
  const { host, cookie } = head
  // Cookies are shared by the ports of a host: two services on one machine have a name each.
  const plain = `${NAME}${/:(\d+)$/.exec(host)?.[1] ?? ''}`
  const bound = `__Host-${plain}`
  const isSecure = isOverTls(head)
  const written = (token: string, seconds: number) => {
    const terms = `; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`
    return isSecure ? `${bound}=${token}${terms}; Secure` : `${plain}=${token}${terms}`
  }
  return {
    // Over TLS a plain cookie may have been set by a page without it.
    token: cookieValue(cookie, isSecure ? bound : plain),
    isLoopback: LOOPBACK_HOST.test(host),
    setCookie: written,
    clearCookie: () => written('', 0),
  }
}

/** Whether the page came over TLS, which a proxy in front of us ends. */
function isOverTls({ origin, forwardedProto, fetchSite, host }: RequestHead): boolean {
  if (origin !== '') return origin.startsWith('https://')
  // Browsers send Sec-Fetch-Site to hosts over TLS, and without TLS to loopback alone.
  return forwardedProto === 'https' || (fetchSite !== '' && !LOOPBACK_HOST.test(host))
}

function isSameOrigin({ fetchSite, origin, host }: RequestHead): boolean {
  // No script can write it, and a proxy that sends another Host leaves it as it is.
  if (fetchSite !== '') return fetchSite === 'same-origin'
  return origin === '' || origin.replace(/^https?:\/\//, '').toLowerCase() === host.toLowerCase()
}

/** '' for none. */
function cookieValue(cookie: string, name: string): string {
  for (const part of cookie.split(';')) {
    const [key = '', ...value] = part.trim().split('=')
    if (key === name) return value.join('=')
  }
  return ''
}
