// Session of the browser. All tabs share its HttpOnly cookie and notify each other of logins and logouts.

import { ApiError, request, watchRefusals } from './api.ts'
import { openTabChannel } from './browser.ts'
import type { DashboardSession, Me } from './records.ts'
import { Signal } from './signal.ts'
import { beginStream, endStream } from './stream.ts'

export type Ending = 'never' | 'left' | 'expired' | 'deleted'

type User = NonNullable<DashboardSession['user']>

export type SessionState =
  /** A request for the state is running, or has failed with `error`. */
  | { readonly kind: 'asking'; readonly error: unknown }
  /** `isLocalOffered`: the server offers the local account, which needs no password. */
  | { readonly kind: 'out'; readonly ending: Ending; readonly isLocalOffered: boolean }
  | { readonly kind: 'in'; readonly user: User }

export const session = new Signal<SessionState>({ kind: 'asking', error: null })

let notifyTabs: () => void = () => undefined

/** Repeats the request when another tab logs in or out. */
export function resumeSession(): void {
  watchRefusals(() => session.value.kind === 'in' && end('expired'))
  notifyTabs = openTabChannel('twinbook.session', () => void refreshSession())
  void refreshSession()
}

/** Never rejects. */
export async function refreshSession(): Promise<void> {
  try {
    take(await request<DashboardSession>('/v1/auth/session'))
  } catch (error) {
    // A known state stays valid after an error. A later request of the tab detects an ended session.
    if (session.value.kind === 'asking') session.set({ kind: 'asking', error })
  }
}

/** Rejects with ApiError: 401 for a wrong email or password, 429 after too many attempts. */
export const logIn = (email: string, password: string): Promise<void> =>
  enter('/v1/auth/login', { email, password })

/** Rejects with ApiError: 400 if the email is taken, 422 for invalid fields. */
export const signUp = (email: string, password: string): Promise<void> =>
  enter('/v1/auth/signup', { email, password })

/** Rejects with ApiError. */
export async function openLocal(): Promise<void> {
  take(await request<DashboardSession>('/v1/auth/session', { method: 'POST' }))
  notifyTabs()
}

export const whoAmI = (signal?: AbortSignal): Promise<Me> =>
  request<Me>('/v1/auth/me', signal === undefined ? {} : { signal })

/**
 * Ends the session in all tabs of this browser, or all sessions of the account if `isEverywhere`. Rejects with
 * ApiError.
 */
export async function logOut(isEverywhere = false): Promise<void> {
  const query = isEverywhere ? { everywhere: true } : {}
  try {
    await request('/v1/auth/logout', { method: 'POST', query })
  } catch (error) {
    // 401: the session has already ended.
    if (!(error instanceof ApiError) || error.status !== 401) throw error
  }
  end('left')
  notifyTabs()
}

/** The server ends all other sessions of the account and renews this session. Rejects with ApiError. */
export async function changePassword(current: string, next: string): Promise<void> {
  const body = { current_password: current, new_password: next }
  await withPassword(() =>
    request('/v1/auth/password', { method: 'POST', body, hasPassword: true }),
  )
  await refreshSession()
  notifyTabs()
}

export async function deleteAccount(password: string): Promise<void> {
  const body = { password }
  await withPassword(() => request('/v1/auth/me', { method: 'DELETE', body, hasPassword: true }))
  end('deleted')
  notifyTabs()
}

/**
 * A 401 means a wrong password or an ended session. A second request, without a password, returns 401 only for an ended
 * session.
 */
async function withPassword<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send()
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) await whoAmI()
    throw error
  }
}

async function enter(path: string, body: object): Promise<void> {
  await request(path, { method: 'POST', body, hasPassword: true })
  take(await request<DashboardSession>('/v1/auth/session'))
  notifyTabs()
}

function take({
  user,
  has_ended: hasEnded,
  local_account: isLocalOffered,
}: DashboardSession): void {
  if (user !== null) {
    beginStream(user.id)
    session.set({ kind: 'in', user })
    return
  }
  const { value: state } = session
  if (state.kind === 'in') return end('left', isLocalOffered)
  const ending = state.kind === 'out' ? state.ending : hasEnded ? 'expired' : 'never'
  session.set({ kind: 'out', ending, isLocalOffered })
}

function end(ending: Ending, isLocalOffered = false): void {
  endStream()
  session.set({ kind: 'out', ending, isLocalOffered })
  // Only the server knows whether the local account is available.
  if (!isLocalOffered) void refreshSession()
}
