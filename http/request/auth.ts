// Credentials of a request → its caller. Every route takes a key (`X-API-Key`, or `Authorization:
// Bearer` as clients of other interfaces send theirs) or a login token (`Authorization: Bearer`); routes
// about keys and the account take the login token only. A token in a cookie counts for the dashboard alone
// (dashboard-request.ts).

import type { AccountsView, Caller } from '../../actors/views.ts'
import { isKeyLike } from '../../engine/accounts/account.ts'

/** What a request carried; '' where it carried nothing. */
export interface Credentials {
  readonly key: string
  readonly authorization: string
}

/** The caller: by API key, by login token, or unknown. */
export interface Identity {
  /** The account that the request counts against; null: its address counts. */
  readonly caller: Caller | null
  /** The caller was proven by a login token. */
  readonly isTokenHolder: boolean
  /** By the token in the dashboard's cookie: it has a budget of its own. */
  readonly isDashboard: boolean
}

const ANONYMOUS: Identity = { caller: null, isTokenHolder: false, isDashboard: false }

/**
 * The identity; `prefersToken`: look at the token even when the key is good. `cookieToken`, '' for none, counts where the
 * request has no other credential.
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

/** The token of an `Authorization: Bearer` header; null when it has another form. */
function bearerToken(authorization: string): string | null {
  const parts = /^bearer +([\x21-\x7e]+)$/i.exec(authorization)
  return parts?.[1] ?? null
}
