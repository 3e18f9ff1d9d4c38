// The account actor enforces the rules: throttling, password hashing and limits.

import { Type } from '@sinclair/typebox'
import type { AccountsView, Caller, KeyView, Session } from '../../actors/views.ts'
import { KEY_SCOPES } from '../../engine/accounts/account.ts'
import { emailRefusal } from '../../engine/accounts/email.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { keyId } from '../../engine/ids.ts'
import { endedTokensPerAccountMax, labelCharactersMax } from '../../engine/limits.ts'
import { toSeconds } from '../../engine/units.ts'
import type { DashboardRequest } from '../request/auth.ts'
import { type Answer, json, nothing, withHeader } from '../request/reply.ts'
import {
  accountOf,
  bodyRoute,
  type RequestFacts,
  type Route,
  requireCaller,
  route,
} from '../request/route.ts'
import {
  CreatedKeySchema,
  choice,
  DashboardSessionSchema,
  KeysSchema,
  MeSchema,
  parameters,
  SessionSchema,
} from '../schemas.ts'
import {
  echo,
  lengthRefusal,
  type Problem,
  problemOf,
  type Refusal,
} from '../validation/problems.ts'

const EMAIL_CHARACTERS_MAX = 254
/** Also rejects single surrogates, which would not survive storage as UTF-8. */
const EMAIL = /^[^@\s\p{Cc}\p{Cs}]+@[^@\s\p{Cc}\p{Cs}]+$/u
const PASSWORD_BYTES_MIN = 8
const PASSWORD_BYTES_MAX = 1_024

const Credentials = Type.Object({ email: Type.String(), password: Type.String() })
const NewKey = Type.Object({
  label: Type.String({ minLength: 1, maxLength: labelCharactersMax }),
  scopes: Type.Optional(Type.Array(choice(KEY_SCOPES), { minItems: 1, maxItems: 16 })),
})
const Passwords = Type.Object({ current_password: Type.String(), new_password: Type.String() })

const BEARER = { group: 'Auth', access: 'token', budget: 'management', isPrivate: true } as const
const SIGN_IN = { group: 'Auth', access: 'public', budget: 'signIn', isPrivate: true } as const
const BUSY = 'too many passwords are being checked, or the disk is late'
/** The last of 24 hourly backups may be made just before deleted data is overwritten. */
const BACKUP_SECONDS = 25 * 3_600

/**
 * The routes under /v1/auth and /v1/keys. `opensLocalAccount`: pages on this machine may log in to the local account
 * without a password.
 */
export function accountRoutes(
  accounts: AccountsView,
  clock: Clock,
  opensLocalAccount: boolean,
): readonly Route[] {
  return [
    bodyRoute(
      'POST /v1/auth/signup',
      {
        ...SIGN_IN,
        summary: 'Create an account and log in',
        body: { schema: Credentials, className: 'Signup', refine: refineCredentials },
        answer: SessionSchema,
        status: 201,
        refusals: {
          400: 'the e-mail has an account already',
          403: 'the operator has closed sign-up',
          503: BUSY,
        },
      },
      async ({ address, dashboard }, body) =>
        opened(await accounts.signUp({ ...body, address }), dashboard, 201),
    ),
    bodyRoute(
      'POST /v1/auth/login',
      {
        ...SIGN_IN,
        summary: 'Log in',
        body: { schema: Credentials, className: 'Login' },
        answer: SessionSchema,
        refusals: { 401: 'wrong e-mail or password', 503: BUSY },
      },
      async ({ address, dashboard }, body) =>
        opened(await accounts.logIn({ ...body, address }), dashboard),
    ),
    route(
      'GET /v1/auth/me',
      {
        ...{ ...BEARER, access: 'caller' },
        summary: 'The account of the credential',
        answer: MeSchema,
      },
      ({ caller }) => json(meRecord(requireCaller(caller))),
    ),
    ...tokenRoutes(accounts, clock),
    ...sessionRoutes(accounts, opensLocalAccount),
    ...keyRoutes(accounts),
  ]
}

function keyRoutes(accounts: AccountsView): readonly Route[] {
  return [
    route(
      'GET /v1/keys',
      { ...BEARER, summary: "The account's API keys", answer: KeysSchema },
      ({ caller }) => {
        const keys = accounts.keys(accountOf(caller)).map(keyRecord)
        return json({ keys, total: keys.length })
      },
    ),
    bodyRoute(
      'POST /v1/keys',
      {
        ...BEARER,
        summary: 'Create an API key; it is shown this once',
        description:
          '`read` asks for data and lists webhooks, `webhooks` makes, changes and deletes them as well; every key reads. A new key has `read` unless it asks for more.',
        body: { schema: NewKey, className: 'Key' },
        answer: CreatedKeySchema,
        status: 201,
        refusals: { 400: 'the account has as many keys as it may' },
      },
      async ({ caller }, { label, scopes }) => {
        const { view, key } = await accounts.createKey(accountOf(caller), label, scopes)
        return json({ ...keyRecord(view), key }, 201)
      },
    ),
    route(
      'DELETE /v1/keys/{key_id}',
      {
        ...BEARER,
        summary: 'Revoke an API key',
        answer: null,
        status: 204,
        refusals: { 404: 'the account has no such key' },
      },
      async ({ caller, path }) => {
        // A key of another account gets the same answer as an unknown key.
        if (await accounts.revokeKey(accountOf(caller), keyId(path('key_id')))) return nothing()
        throw new EngineError('NOT_FOUND', 'no such key')
      },
    ),
  ]
}

function tokenRoutes(accounts: AccountsView, clock: Clock): readonly Route[] {
  return [
    route(
      'POST /v1/auth/logout',
      {
        ...BEARER,
        summary: 'Log out: this token is good for nothing any more, and its streams end',
        description: `With \`everywhere=true\` all tokens of the account end; its keys stay. More than ${endedTokensPerAccountMax} log-outs of an account within a day end all of its tokens.`,
        query: Type.Object({ everywhere: parameters.flag(false) }),
        answer: null,
        status: 204,
        refusals: { 503: BUSY },
      },
      async ({ caller, dashboard }, { everywhere }) => {
        if (everywhere) await accounts.logOutEverywhere(requireCaller(caller))
        else await accounts.logOut(requireCaller(caller))
        return closed(dashboard)
      },
    ),
    bodyRoute(
      'POST /v1/auth/password',
      {
        ...BEARER,
        summary: 'Change the password: every token issued before is ended, keys stay',
        description:
          'The answer has a new token, as a log-in has. Wrong current passwords delay further attempts as at log-in, counted separately for each token.',
        body: {
          schema: Passwords,
          className: 'PasswordChange',
          refine: (value) => passwordProblems('new_password', value.new_password),
        },
        answer: SessionSchema,
        refusals: { 401: 'wrong current password', 503: BUSY },
      },
      async ({ caller, dashboard }, body) => {
        const change = { current: body.current_password, next: body.new_password }
        return opened(await accounts.changePassword(requireCaller(caller), change), dashboard)
      },
    ),
    bodyRoute(
      'DELETE /v1/auth/me',
      {
        ...BEARER,
        summary:
          'Delete the account, its keys, its webhooks and what they have not delivered, for good',
        description:
          'Its streams end, and its e-mail can sign up again. Its data is overwritten in the database within an hour. Backups have it for another day.',
        body: { schema: Type.Object({ password: Type.String() }), className: 'Deletion' },
        answer: null,
        status: 204,
        headers: {
          'X-Backups-Until': 'when the last backup with its data is deleted, in Unix seconds',
        },
        refusals: { 401: 'wrong password', 503: BUSY },
      },
      async ({ caller, dashboard }, { password }) => {
        await accounts.deleteAccount(requireCaller(caller), password)
        const until = toSeconds(clock.nowMs()) + BACKUP_SECONDS
        return withHeader(closed(dashboard), 'X-Backups-Until', String(until))
      },
    ),
  ]
}

function sessionRoutes(accounts: AccountsView, opensLocalAccount: boolean): readonly Route[] {
  const isOffered = ({ isLocal, dashboard }: RequestFacts) =>
    opensLocalAccount && isLocal && dashboard?.isLoopback === true
  const sessionAnswer = (caller: Caller | null, isLocalOffered: boolean, hasEnded = false) => {
    const user = caller && {
      ...userRecord(caller),
      has_password: accounts.hasPassword(caller.accountId),
    }
    return json({ user, has_ended: hasEnded, local_account: isLocalOffered })
  }
  return [
    route(
      'GET /v1/auth/session',
      {
        ...{ ...SIGN_IN, budget: 'data' },
        summary: 'For the dashboard: who is logged in there',
        description:
          'The dashboard holds its token in a cookie that scripts cannot read and that counts for its own page alone: `user` is null for everybody else.',
        answer: DashboardSessionSchema,
      },
      (request) => {
        const { caller, dashboard } = request
        if (dashboard === null) return sessionAnswer(null, false)
        return sessionAnswer(caller, isOffered(request), caller === null && dashboard.token !== '')
      },
    ),
    route(
      'POST /v1/auth/session',
      {
        ...SIGN_IN,
        summary: 'For the dashboard: log in to the local account',
        description:
          'Without a password, for a page on the machine on which the service runs, unless it has a trusted proxy or listens for other machines. `user` is null where that is not offered.',
        answer: DashboardSessionSchema,
        refusals: { 503: BUSY },
      },
      async (request) => {
        const { address, dashboard } = request
        if (dashboard === null || !isOffered(request)) return sessionAnswer(null, false)
        const session = await accounts.openLocalSession(address)
        if (session === null) return sessionAnswer(null, false)
        return withSessionCookie(sessionAnswer(session.caller, true), session, dashboard)
      },
    ),
  ]
}

/** An e-mail without an @ may be a password in the wrong field, so the answer does not repeat it. */
function repeatedEmail(email: string): unknown {
  return email.includes('@') ? echo(email.slice(0, EMAIL_CHARACTERS_MAX)) : '[redacted]'
}

/** Finds problems that the schema cannot express: the byte length of a password and the form of an e-mail address. */
function refineCredentials(value: { email: string; password: string }): readonly Problem[] {
  const { email, password } = value
  const refusal = emailProblem(email)
  const problems =
    refusal === null ? [] : [problemOf(refusal, ['body', 'email'], repeatedEmail(email))]
  return [...problems, ...passwordProblems('password', password)]
}

function emailProblem(email: string): Refusal | null {
  if (Array.from(email).length > EMAIL_CHARACTERS_MAX) {
    return lengthRefusal(false, EMAIL_CHARACTERS_MAX)
  }
  const form = 'An email address must have exactly one @-sign, with text on both sides.'
  const reason = EMAIL.test(email) ? emailRefusal(email) : form
  if (reason === null) return null
  const msg = `value is not a valid email address: ${reason}`
  return { type: 'value_error', msg, ctx: { reason } }
}

function passwordProblems(field: string, password: string): readonly Problem[] {
  const bytes = Buffer.byteLength(password)
  if (bytes >= PASSWORD_BYTES_MIN && bytes <= PASSWORD_BYTES_MAX) return []
  const isShort = bytes < PASSWORD_BYTES_MIN
  const limit = isShort ? PASSWORD_BYTES_MIN : PASSWORD_BYTES_MAX
  return [problemOf(lengthRefusal(isShort, limit), ['body', field], '[redacted]')]
}

function userRecord(caller: Caller) {
  return {
    id: caller.accountId,
    email: caller.email,
    tier: caller.tier,
    created_at: toSeconds(caller.createdAtMs),
  }
}

function meRecord(caller: Caller) {
  const { requestsPerMinute, socketsMax } = caller
  const limits = { requests_per_minute: requestsPerMinute, websocket_connections: socketsMax }
  return { user: userRecord(caller), limits }
}

function opened(session: Session, dashboard: DashboardRequest | null, status = 200): Answer {
  const answer = json(sessionRecord(session), status)
  return dashboard === null ? answer : withSessionCookie(answer, session, dashboard)
}

function withSessionCookie(answer: Answer, session: Session, dashboard: DashboardRequest): Answer {
  const cookie = dashboard.setCookie(session.accessToken, session.expiresInSeconds)
  return withHeader(answer, 'Set-Cookie', cookie)
}

function closed(dashboard: DashboardRequest | null): Answer {
  return dashboard === null ? nothing() : nothing([['Set-Cookie', dashboard.clearCookie()]])
}

function sessionRecord(session: Session) {
  return {
    user: userRecord(session.caller),
    access_token: session.accessToken,
    token_type: 'bearer',
    expires_in: session.expiresInSeconds,
  }
}

function keyRecord(key: KeyView) {
  return {
    id: key.id,
    label: key.label,
    scopes: [...key.scopes],
    prefix: key.prefix,
    created_at: toSeconds(key.createdAtMs),
    last_used_at: key.lastUsedAtMs === null ? null : toSeconds(key.lastUsedAtMs),
  }
}
