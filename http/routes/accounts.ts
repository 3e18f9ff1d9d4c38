// Sign-up, log-in and keys. The rules of accounts (throttling, hashing, limits) are the owner's;
// here are only shapes. Upholds ACCOUNTS1 to ACCOUNTS4.

import { Type } from '@sinclair/typebox'
import type { AccountsView, Caller, KeyView, Session } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import { keyId } from '../../engine/ids.ts'
import { labelCharactersMax } from '../../engine/limits.ts'
import { toSeconds } from '../../engine/units.ts'
import { echo } from '../echo.ts'
import type { Problem } from '../parameter.ts'
import { json, nothing } from '../reply.ts'
import { bodyRoute, type Route, type RouteDocument, route } from '../route.ts'
import { CreatedKeySchema, KeysSchema, MeSchema, SessionSchema } from '../schemas.ts'
import { lengthProblem } from '../validate.ts'

const EMAIL_CHARACTERS_MAX = 254
/** Half a surrogate pair would not come back from the disk as it was, so it is refused as well. */
const EMAIL = /^[^@\s\p{Cc}\p{Cs}]+@[^@\s\p{Cc}\p{Cs}]+$/u
const PASSWORD_BYTES_MIN = 8
const PASSWORD_BYTES_MAX = 1_024

const Credentials = Type.Object({ email: Type.String(), password: Type.String() })
const Label = Type.Object({
  label: Type.String({ minLength: 1, maxLength: labelCharactersMax }),
})
const NoQuery = Type.Object({})

/** The routes under /v1/auth and /v1/keys. */
export function accountRoutes(accounts: AccountsView): readonly Route[] {
  const bearer = { access: 'token', isPrivate: true } as const
  const open = { access: 'public', isPrivate: true } as const
  const documents = accountDocuments
  return [
    bodyRoute(
      { method: 'POST', pattern: '/v1/auth/signup', document: documents.signUp, ...open },
      { schema: Credentials, className: 'Signup', refine: refineCredentials },
      async ({ body, address }) =>
        json(sessionRecord(await accounts.signUp({ ...body, address })), 201),
    ),
    bodyRoute(
      { method: 'POST', pattern: '/v1/auth/login', document: documents.logIn, ...open },
      { schema: Credentials, className: 'Login' },
      async ({ body, address }) => json(sessionRecord(await accounts.logIn({ ...body, address }))),
    ),
    route(
      {
        method: 'GET',
        pattern: '/v1/auth/me',
        document: documents.me,
        access: 'caller',
        isPrivate: true,
      },
      NoQuery,
      ({ caller }) => json(meRecord(known(caller))),
    ),
    route(
      { method: 'GET', pattern: '/v1/keys', document: documents.keys, ...bearer },
      NoQuery,
      ({ caller }) => {
        const keys = accounts.keys(known(caller).accountId).map(keyRecord)
        return json({ keys, total: keys.length })
      },
    ),
    bodyRoute(
      { method: 'POST', pattern: '/v1/keys', document: documents.createKey, ...bearer },
      { schema: Label, className: 'Key' },
      async ({ caller, body }) => {
        const { view, key } = await accounts.createKey(known(caller).accountId, body.label)
        return json({ ...keyRecord(view), key }, 201)
      },
    ),
    route(
      {
        method: 'DELETE',
        pattern: '/v1/keys/{key_id}',
        document: documents.revokeKey,
        ...bearer,
      },
      NoQuery,
      async (request) => {
        const { accountId } = known(request.caller)
        // Another account's key is as unknown as one that never was.
        if (await accounts.revokeKey(accountId, keyId(request.path('key_id')))) return nothing()
        throw new EngineError('NOT_FOUND', 'no such key')
      },
    ),
  ]
}

const accountDocuments = {
  signUp: {
    group: 'Auth',
    summary: 'Create an account and log in',
    answer: SessionSchema,
    status: 201,
    refusals: { 400: 'the e-mail has an account already' },
  },
  logIn: {
    group: 'Auth',
    summary: 'Log in',
    answer: SessionSchema,
    refusals: { 401: 'wrong e-mail or password' },
  },
  me: { group: 'Auth', summary: 'The account of the credential', answer: MeSchema },
  keys: { group: 'Auth', summary: "The account's API keys", answer: KeysSchema },
  createKey: {
    group: 'Auth',
    summary: 'Create an API key; it is shown this once',
    answer: CreatedKeySchema,
    status: 201,
    refusals: { 400: 'the account has as many keys as it may' },
  },
  revokeKey: {
    group: 'Auth',
    summary: 'Revoke an API key',
    answer: null,
    status: 204,
    refusals: { 404: 'the account has no such key' },
  },
} satisfies Record<string, RouteDocument>

/** Without an @ it may be the password in the wrong field. */
function repeatedEmail(email: string): unknown {
  return email.includes('@') ? echo(email.slice(0, EMAIL_CHARACTERS_MAX)) : '[redacted]'
}

/** What the schema cannot say: a password's bytes and what an e-mail must look like. */
function refineCredentials(value: { email: string; password: string }): readonly Problem[] {
  const problems: Problem[] = []
  const { email, password } = value
  if (Array.from(email).length > EMAIL_CHARACTERS_MAX) {
    problems.push(
      lengthProblem({
        loc: ['body', 'email'],
        input: repeatedEmail(email),
        isShort: false,
        limit: EMAIL_CHARACTERS_MAX,
      }),
    )
  } else if (!EMAIL.test(email)) {
    const reason = 'An email address must have exactly one @-sign, with text on both sides.'
    problems.push({
      type: 'value_error',
      loc: ['body', 'email'],
      msg: `value is not a valid email address: ${reason}`,
      input: repeatedEmail(email),
      ctx: { reason },
    })
  }
  const bytes = Buffer.byteLength(password)
  if (bytes < PASSWORD_BYTES_MIN || bytes > PASSWORD_BYTES_MAX) {
    const isShort = bytes < PASSWORD_BYTES_MIN
    const limit = isShort ? PASSWORD_BYTES_MIN : PASSWORD_BYTES_MAX
    problems.push(lengthProblem({ loc: ['body', 'password'], input: '[redacted]', isShort, limit }))
  }
  return problems
}

function known(caller: Caller | null): Caller {
  if (caller === null) throw new Error('the wrapper lets nobody in without a caller')
  return caller
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
    prefix: key.prefix,
    created_at: toSeconds(key.createdAtMs),
    last_used_at: key.lastUsedAtMs === null ? null : toSeconds(key.lastUsedAtMs),
  }
}
