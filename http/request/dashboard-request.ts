// Recognizes requests of the dashboard: they have the header `X-Dashboard` and come from our own page. The session
// cookie is valid only for them. A page of another origin cannot send the header without a preflight, which is never
// allowed. If the browser reports the origin (Sec-Fetch-Site, Origin), it must be ours. SameSite=Strict alone would
// admit other ports of this host, which are the same site.

import type { RequestHead } from './head.ts'
import { LOOPBACK_HOST } from './peer-address.ts'

const NAME = 'twinbook'

export interface DashboardRequest {
  /** The token in the session cookie; '' for none. */
  readonly token: string
  /** The `Host` is a loopback address or `localhost`. */
  readonly isLoopback: boolean
  /** The `Set-Cookie` value that stores a token for `seconds`. */
  setCookie(token: string, seconds: number): string
  /** The `Set-Cookie` value that deletes the token. */
  clearCookie(): string
}

/** Null unless the dashboard's own page sent the request. */
export function dashboardRequest(head: RequestHead): DashboardRequest | null {
  if (!head.isDashboard || !isSameOrigin(head)) return null
  const { host, cookie } = head
  // Ports of a host share cookies, so two services on one machine need different cookie names.
  const plain = `${NAME}${/:(\d+)$/.exec(host)?.[1] ?? ''}`
  const bound = `__Host-${plain}`
  const isSecure = isOverTls(head)
  const written = (token: string, seconds: number) => {
    const terms = `; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`
    return isSecure ? `${bound}=${token}${terms}; Secure` : `${plain}=${token}${terms}`
  }
  return {
    // Over TLS, a plain cookie may have been set by a page without TLS.
    token: cookieValue(cookie, isSecure ? bound : plain),
    isLoopback: LOOPBACK_HOST.test(host),
    setCookie: written,
    clearCookie: () => written('', 0),
  }
}

/** Whether the page was loaded over TLS, which a proxy in front of us terminates. */
function isOverTls({ origin, forwardedProto, fetchSite, host }: RequestHead): boolean {
  if (origin !== '') return origin.startsWith('https://')
  // Browsers send Sec-Fetch-Site over TLS; without TLS they send it only to loopback hosts.
  return forwardedProto === 'https' || (fetchSite !== '' && !LOOPBACK_HOST.test(host))
}

function isSameOrigin({ fetchSite, origin, host }: RequestHead): boolean {
  // Scripts cannot set this header, and proxies that change Host do not change it.
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
