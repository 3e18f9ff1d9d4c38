// Credentials of a request → who is asking. Every route takes `X-API-Key` or `Authorization: Bearer`;
// routes about keys and the account take the login token only. Not for: quotas (handle.ts).
// Upholds AUTH1 and AUTH2 (no credential reaches a log line or an error body).

import type { AccountsView, Caller } from '../actors/views.ts'

/** What a request carried; '' where it carried nothing. */
export interface Credentials {
  readonly key: string
  readonly authorization: string
}

/** Who is asking: by API key, by login token, or nobody we know. */
export interface Identity {
  /** Whom the request counts against; null: its address. */
  readonly caller: Caller | null
  /** The caller was proven by a login token. */
  readonly isTokenHolder: boolean
}

const NOBODY: Identity = { caller: null, isTokenHolder: false }

/** The identity; `needsToken`: look at the token even when the key is good. */
export function identify(
  accounts: AccountsView,
  credentials: Credentials,
  needsToken: boolean,
): Identity {
  const byKey = credentials.key === '' ? null : accounts.callerOfKey(credentials.key)
  if (byKey !== null && !needsToken) return { caller: byKey, isTokenHolder: false }
  const token = bearerToken(credentials.authorization)
  const byToken = token === null ? null : accounts.callerOfToken(token)
  if (byToken !== null) return { caller: byToken, isTokenHolder: true }
  return byKey === null ? NOBODY : { caller: byKey, isTokenHolder: false }
}

/** The token of an `Authorization: Bearer` header; null when it has another form. */
export function bearerToken(authorization: string): string | null {
  const parts = /^bearer +([\x21-\x7e]+)$/i.exec(authorization)
  return parts?.[1] ?? null
}
