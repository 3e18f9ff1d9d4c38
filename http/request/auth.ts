// Identifies the caller from a request's credentials. Every route accepts an API key (`X-API-Key` or `Authorization:
// Bearer`) or a login token (`Authorization: Bearer`). Routes for keys and the account accept only the login token. A
// token in a cookie is valid only for the dashboard (dashboard-request.ts).

import type { AccountsView, Caller } from '../../actors/views.ts'
import { isKeyLike } from '../../engine/accounts/account.ts'

/** Credentials in a request; '' if absent. */
export interface Credentials {
  readonly key: string
  readonly authorization: string
}

/** The caller: identified by API key or login token, or unknown. */
export interface Identity {
  /** The account that the request counts against. Null: it counts against its address. */
  readonly caller: Caller | null
  /** The caller presented a login token. */
  readonly isTokenHolder: boolean
  /** The caller presented the token in the dashboard's cookie, which has a budget of its own. */
  readonly isDashboard: boolean
}

const ANONYMOUS: Identity = { caller: null, isTokenHolder: false, isDashboard: false }

/**
 * Identifies the caller. `prefersToken`: check the token even if the key is valid. `cookieToken` ('' for none) is used
 * if the request has no other credential.
 */
export function identify(
  accounts: AccountsView,
  credentials: Credentials,
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

/** The token of an `Authorization: Bearer` header; null if the header has another form. */
function bearerToken(authorization: string): string | null {
  const parts = /^bearer +([\x21-\x7e]+)$/i.exec(authorization)
  return parts?.[1] ?? null
}
