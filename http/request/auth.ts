// Credentials of a request → its caller. Every route takes a key (`X-API-Key`, or `Authorization:
// Bearer` as clients of other interfaces send theirs) or a login token (`Authorization: Bearer`); routes
// about keys and the account take the login token only. Not for: quotas (handle.ts).
// Upholds AUTH1, AUTH2 (no credential reaches a log line or an error body), AUTH9.

import type { AccountsView, Caller } from '../../actors/views.ts'
import { isKeyLike } from '../../engine/account.ts'

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
}

const ANONYMOUS: Identity = { caller: null, isTokenHolder: false }

/** The identity; `prefersToken`: look at the token even when the key is good. */
export function identify(
  accounts: AccountsView,
  credentials: Credentials,
  prefersToken: boolean,
): Identity {
  const byKey = credentials.key === '' ? null : accounts.callerOfKey(credentials.key)
  if (byKey !== null && !prefersToken) return { caller: byKey, isTokenHolder: false }
  const bearer = bearerToken(credentials.authorization)
  if (bearer === null || isKeyLike(bearer)) {
    const caller = byKey ?? (bearer === null ? null : accounts.callerOfKey(bearer))
    return caller === null ? ANONYMOUS : { caller, isTokenHolder: false }
  }
  const byToken = accounts.callerOfToken(bearer)
  if (byToken !== null) return { caller: byToken, isTokenHolder: true }
  return byKey === null ? ANONYMOUS : { caller: byKey, isTokenHolder: false }
}

/** The token of an `Authorization: Bearer` header; null when it has another form. */
function bearerToken(authorization: string): string | null {
  const parts = /^bearer +([\x21-\x7e]+)$/i.exec(authorization)
  return parts?.[1] ?? null
}
