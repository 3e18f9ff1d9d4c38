// Who is logged in, in this tab: the token is kept where no other tab sees it and is gone when the tab is closed.
// Not for: the forms (pages/account.ts). Upholds DASH3.

import { request, useToken } from './api.ts'
import { recall, remember } from './browser.ts'
import type { Me, Session } from './records.ts'
import { Signal } from './signal.ts'
import { endStream, setStreamToken } from './stream.ts'

const NAME = 'twinbook.token'

/** Why nobody is logged in. */
export type Ending = 'never' | 'left' | 'expired'

export type SessionState =
  | { readonly kind: 'out'; readonly ending: Ending }
  | { readonly kind: 'in'; readonly token: string }

/** The tab's session; every part that depends on it listens. */
export const session = new Signal<SessionState>({ kind: 'out', ending: 'never' })

/** Takes up the token that the tab remembers. */
export function resumeSession(): void {
  const token = recall(NAME)
  if (token !== null) begin(token)
}

/** Rejects with ApiError: 401 for a wrong e-mail or password, 429 with the seconds to wait. */
export const logIn = (email: string, password: string): Promise<void> =>
  enter('/v1/auth/login', email, password)

/** Rejects with ApiError: 400 for an e-mail that is taken, 422 with the fields that are not accepted. */
export const signUp = (email: string, password: string): Promise<void> =>
  enter('/v1/auth/signup', email, password)

/** Who it is, with the account's limits. */
export const whoAmI = (signal?: AbortSignal): Promise<Me> =>
  request<Me>('/v1/auth/me', signal === undefined ? {} : { signal })

export const logOut = (): void => end('left')

async function enter(path: string, email: string, password: string): Promise<void> {
  const { access_token: token } = await request<Session>(path, {
    method: 'POST',
    body: { email, password },
    token: null,
  })
  remember(NAME, token)
  begin(token)
}

function begin(token: string): void {
  useToken(token, () => end('expired'))
  setStreamToken(token)
  session.set({ kind: 'in', token })
}

function end(ending: Ending): void {
  remember(NAME, null)
  useToken(null, () => undefined)
  endStream()
  session.set({ kind: 'out', ending })
}
