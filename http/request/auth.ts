// Identifies the caller from an API key (`X-API-Key` or `Authorization: Bearer`) or a login token (`Authorization:
// Bearer`). Routes for keys and the account accept only the token. A token in a cookie is valid only for requests of
// the dashboard's page.

import type { AccountsView, Caller } from '../../actors/views.ts'
import { isKeyLike } from '../../engine/accounts/account.ts'
import type { RequestHead } from './head.ts'
import { LOOPBACK_HOST } from './peer-address.ts'

export interface Identity {
  /** The account whose quota the request counts against. Null: the quota of the address. */
  readonly caller: Caller | null
  /** True if a login token identified the caller. */
  readonly isTokenHolder: boolean
  readonly isDashboard: boolean
}

const ANONYMOUS: Identity = { caller: null, isTokenHolder: false, isDashboard: false }

/**
 * `prefersToken`: check the token even if the key is valid. `cookieToken` is used only if the request has no other
 * credential; '' without a cookie.
 */
export function identify(
  accounts: AccountsView,
  credentials: Pick<RequestHead, 'key' | 'authorization'>,
  prefersToken: boolean,
  cookieToken = '',
): Identity {
  if (cookieToken !== '' && credentials.key === '' && credentials.authorization === '') {
    const caller = accounts.callerOfToken(cookieToken)
    return caller === null ? ANONYMOUS : { caller, isTokenHolder: true, isDashboard: true }
  }
  const byKey = credentials.key === '' ? null : accounts.callerOfKey(credentials.key)
  if (byKey !== null && !prefersToken) return byCaller(byKey, false)
  const bearer = bearerToken(credentials.authorization)
  if (bearer === null || isKeyLike(bearer)) {
    const caller = byKey ?? (bearer === null ? null : accounts.callerOfKey(bearer))
    return byCaller(caller, false)
  }
  const byToken = accounts.callerOfToken(bearer)
  return byToken === null ? byCaller(byKey, false) : byCaller(byToken, true)
}

function byCaller(caller: Caller | null, isTokenHolder: boolean): Identity {
  return caller === null ? ANONYMOUS : { caller, isTokenHolder, isDashboard: false }
}

function bearerToken(authorization: string): string | null {
  const parts = /^bearer +([\x21-\x7e]+)$/i.exec(authorization)
  return parts?.[1] ?? null
}

const COOKIE = 'twinbook'

export interface DashboardRequest {
  readonly token: string
  /** True if the `Host` header is a loopback address or `localhost`. */
  readonly isLoopback: boolean
  /** Returns the `Set-Cookie` value that stores a token for `seconds`. */
  setCookie(token: string, seconds: number): string
  clearCookie(): string
}

/** Null if another page or program sent the request. */
export function dashboardRequest(head: RequestHead): DashboardRequest | null {
  if (!head.isDashboard || !isSameOrigin(head)) return null
  const { host, cookie } = head
  // Services on different ports of one host share cookies, so each port has its own cookie name.
  const plain = `${COOKIE}${/:(\d+)$/.exec(host)?.[1] ?? ''}`
  const bound = `__Host-${plain}`
  const isSecure = isOverTls(head)
  const written = (token: string, seconds: number) => {
    const terms = `; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`
    return isSecure ? `${bound}=${token}${terms}; Secure` : `${plain}=${token}${terms}`
  }
  return {
    // Over TLS, read only the cookie with the `__Host-` prefix, since a page without TLS can set the plain cookie.
    token: cookieValue(cookie, isSecure ? bound : plain),
    isLoopback: LOOPBACK_HOST.test(host),
    setCookie: written,
    clearCookie: () => written('', 0),
  }
}

/** True if the browser loaded the page over TLS. A proxy in front of the server terminates TLS. */
function isOverTls({ origin, forwardedProto, fetchSite, host }: RequestHead): boolean {
  if (origin !== '') return origin.startsWith('https://')
  // Browsers send Sec-Fetch-Site over TLS. Without TLS they send it only to loopback hosts.
  return forwardedProto === 'https' || (fetchSite !== '' && !LOOPBACK_HOST.test(host))
}

function isSameOrigin({ fetchSite, origin, host }: RequestHead): boolean {
  // Scripts cannot set Sec-Fetch-Site, and it stays correct if a proxy changes Host.
  if (fetchSite !== '') return fetchSite === 'same-origin'
  return origin === '' || origin.replace(/^https?:\/\//, '').toLowerCase() === host.toLowerCase()
}

function cookieValue(cookie: string, name: string): string {
  for (const part of cookie.split(';')) {
    const [key = '', ...value] = part.trim().split('=')
    if (key === name) return value.join('=')
  }
  return ''
}
