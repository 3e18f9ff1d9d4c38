// The tab's session: its token is kept where no other tab sees it and is gone when the tab is closed.
// Not for: the forms (pages/log-in-or-sign-up.ts, pages/account.ts). Upholds DASH3.

import { ApiError, request, useToken } from './api.ts'
import { recall, remember } from './browser.ts'
import type { Me, Session } from './records.ts'
import { Signal } from './signal.ts'
import { endStream, setStreamToken } from './stream.ts'

const NAME = 'twinbook.token'

/** Why the tab has no session. */
export type Ending = 'never' | 'left' | 'expired' | 'deleted'

type SessionState =
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

/** The account of the session, with its limits. */
export const whoAmI = (signal?: AbortSignal): Promise<Me> =>
  request<Me>('/v1/auth/me', signal === undefined ? {} : { signal })

/** Forgets the token at once, and has the server end it; where it cannot be asked, the token ends by its time. */
export function logOut(): void {
  const { value: state } = session
  end('left')
  if (state.kind === 'out') return
  request('/v1/auth/logout', { method: 'POST', token: state.token }).catch(() => undefined)
}

/** Ends every other session of the account, and goes on with a new token. Rejects with ApiError. */
export async function changePassword(current: string, next: string): Promise<void> {
  const body = { current_password: current, new_password: next }
  const { access_token: token } = await withPassword(() =>
    request<Session>('/v1/auth/password', { method: 'POST', body, asksPassword: true }),
  )
  remember(NAME, token)
  begin(token)
}

/** Deletes the account with all that it has. Rejects with ApiError. */
export async function deleteAccount(password: string): Promise<void> {
  const body = { password }
  await withPassword(() => request('/v1/auth/me', { method: 'DELETE', body, asksPassword: true }))
  end('deleted')
}

/** A 401 may be of the token as well as of the password: which one, an answer without a password says. */
async function withPassword<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) await whoAmI()
    throw error
  }
}

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
