// Accounts for the face: which account a credential names, what it may do, signing up and in. An owner, called directly.
// All accounts and keys are in the directory (actors/accounts/directory.ts); quotas count per account over all its keys
// and tokens. Passwords are hashed in threads (engine/passwords/).

import { AccessTokens, TOKEN_SECONDS } from '../../engine/accounts/access-token.ts'
import { KEY_SCOPES, type KeyScope, limitsOf } from '../../engine/accounts/account.ts'
import { normalizedEmail } from '../../engine/accounts/email.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { type AccountId, accountId, type KeyId } from '../../engine/ids.ts'
import {
  accountWorkMsMax,
  addressFileBytesPerMinute,
  addressRequestsPerMinute,
  dashboardRequestsPerMinute,
  fileAnswerBytes,
  managementRequestsPerMinute,
} from '../../engine/limits.ts'
import { siteOf } from '../../engine/networks.ts'
import type { HashRequester, PasswordPool } from '../../engine/passwords/passwords.ts'
import type { AccountRecord, AccountTable } from '../../storage/contract/storage.ts'
import type { AccountsView, Caller, KeyView, Quota, Session, TokenView } from '../views.ts'
import { type ConnectionSlot, ConnectionSlots } from './connection-slots.ts'
import { AccountDirectory, type AccountWatcher } from './directory.ts'
import { type LoginOutcome, LoginThrottle } from './login-throttle.ts'
import { type AccountQuotas, QUOTA_KINDS, type QuotaKind, Quotas } from './quotas.ts'

/** `local@localhost`, unless a user took it in an earlier version. */
const localEmail = (number: number): string => `local${number === 1 ? '' : number}@localhost`
/** The same words for known and unknown e-mails. */
const WRONG_LOGIN = 'e-mail or password is wrong'
/** For a caller with a token that needs the password as well. */
const WRONG_PASSWORD = 'the password is wrong'
/** A sign-up that took longer may have been answered too late for its client. */
const ANSWERED_MS_MAX = 2_000
/** Sign-ups that are known to be answered; beyond, the oldest may be repeated while it is young. */
const ANSWERED_MAX = 10_000
/** How long a sign-up whose answer may not have arrived can be repeated. */
const REPEAT_MS_MAX = 600_000

interface Login {
  readonly email: string
  readonly password: string
  readonly requester: HashRequester
}

export class Accounts implements AccountsView {
  /** Every account and key, for commands and for parts that depend on accounts. */
  readonly directory: AccountDirectory
  readonly #passwords: PasswordPool
  readonly #tokens: AccessTokens
  readonly #clock: Clock
  readonly #connectionSlots: ConnectionSlots
  /** E-mails being signed up, so that two at once make one account; true: the caller was told that there is no time for it. */
  readonly #claimed = new Map<string, boolean>()
  /** E-mails whose sign-up this process answered in time, oldest first. */
  readonly #answered = new Set<string>()
  readonly #accountQuotas: AccountQuotas
  readonly #managementQuotas: AccountQuotas
  readonly #dashboardQuotas: AccountQuotas
  readonly #addressQuotas: Quotas<string>
  readonly #fileQuotas: Quotas<string>
  readonly #throttle: LoginThrottle
  readonly #isSignUpOpen: boolean

  constructor(parts: {
    storage: AccountTable
    clock: Clock
    passwords: PasswordPool
    jwtSecret: string
    /** A replaced secret, whose tokens are valid until they expire. */
    jwtSecretPrevious?: string | null
    /** Where a kind of requests of accounts is counted; unless given, in this process. */
    quotas?: (kind: QuotaKind) => AccountQuotas
    /** Where streams are counted; unless given, in this process. */
    connectionSlots?: ConnectionSlots
    /** Whether accounts can be made; true unless given. */
    isSignUpOpen?: boolean | undefined
    /** Accounts made within an hour from one address; {@link signUpsPerHour} unless given. */
    signUpsPerHour?: number | undefined
  }) {
    const { storage, clock, jwtSecret, jwtSecretPrevious = null } = parts
    const { quotas = () => new Quotas<AccountId>(clock) } = parts
    this.directory = new AccountDirectory(storage, clock)
    this.#passwords = parts.passwords
    this.#tokens = new AccessTokens({ secret: jwtSecret, previous: jwtSecretPrevious, clock })
    this.#clock = clock
    this.#accountQuotas = quotas('account')
    this.#managementQuotas = quotas('management')
    this.#dashboardQuotas = quotas('dashboard')
    this.#connectionSlots = parts.connectionSlots ?? new ConnectionSlots()
    this.#addressQuotas = new Quotas(clock)
    this.#fileQuotas = new Quotas(clock)
    this.#throttle = new LoginThrottle(clock, parts.signUpsPerHour)
    this.#isSignUpOpen = parts.isSignUpOpen ?? true
  }

  // Credentials

  callerOfKey(key: string): Caller | null {
    const record = this.directory.use(key)
    const account = record === null ? null : this.#active(record.accountId)
    if (record === null || account === null) return null
    return callerOf(account, { keyId: record.id, token: null, scopes: record.scopes })
  }

  callerOfToken(token: string): Caller | null {
    const claims = this.#tokens.claimsOf(token)
    const account = claims === null ? null : this.#active(accountId(claims.subject))
    if (claims === null || account === null || this.directory.isEnded(account, claims)) return null
    const { tokenId: id, generation, expiresAtMs } = claims
    const view = { id, generation, expiresAtMs }
    return callerOf(account, { keyId: null, token: view, scopes: KEY_SCOPES })
  }

  isValid({ accountId: id, keyId, token }: Caller): boolean {
    const account = this.#active(id)
    if (account === null) return false
    if (keyId !== null) return this.directory.hasKey(keyId)
    return token !== null && !this.directory.isEnded(account, { ...token, tokenId: token.id })
  }

  /** Null for an unknown and for a disabled account alike. */
  #active(id: AccountId): AccountRecord | null {
    const account = this.directory.find(id)
    return account === null || account.isDisabled ? null : account
  }

  // Quotas and sockets

  takeAccountRequest(account: AccountId): Quota {
    const record = this.#active(account)
    return this.#accountQuotas.take(
      account,
      record === null ? 0 : limitsOf(record).requestsPerMinute,
    )
  }

  /** Counts requests that another process answered already; returns what is left. */
  countRequests(kind: QuotaKind, account: AccountId, count: number): Quota {
    const { quotas, limit } = this.#budgetOf(kind, account)
    return count > 0 ? quotas.take(account, limit, count) : quotas.peek(account, limit)
  }

  /** Requests of the account's present minute, of all its budgets, and its streams that are open here. */
  useOf(account: AccountId): { requests: number; streams: number } {
    const quotas = QUOTA_KINDS.map((kind) => this.countRequests(kind, account, 0))
    const requests = quotas.reduce((sum, { limit, remaining }) => sum + limit - remaining, 0)
    return { requests, streams: this.#connectionSlots.count(account) }
  }

  #budgetOf(kind: QuotaKind, account: AccountId) {
    if (kind === 'management') {
      return { quotas: this.#managementQuotas, limit: managementRequestsPerMinute }
    }
    if (kind === 'dashboard') {
      return { quotas: this.#dashboardQuotas, limit: dashboardRequestsPerMinute }
    }
    const record = this.#active(account)
    const limit = record === null ? 0 : limitsOf(record).requestsPerMinute
    return { quotas: this.#accountQuotas, limit }
  }

  takeManagementRequest(account: AccountId): Quota {
    return this.#managementQuotas.take(account, managementRequestsPerMinute)
  }

  takeDashboardRequest(account: AccountId): Quota {
    return this.#dashboardQuotas.take(account, dashboardRequestsPerMinute)
  }

  takeAddressRequest(address: string): Quota {
    return this.#addressQuotas.take(address, addressRequestsPerMinute)
  }

  takeAddressFile(address: string, byteCount: number): Quota {
    return this.#fileQuotas.take(address, addressFileBytesPerMinute, byteCount + fileAnswerBytes)
  }

  peekAddress(address: string): Quota {
    return this.#addressQuotas.peek(address, addressRequestsPerMinute)
  }

  peekSignIn(address: string): Quota {
    return this.#throttle.peek(address)
  }

  openSocket({ accountId: id, socketsMax }: Caller): ConnectionSlot | null {
    return this.#connectionSlots.take(id, socketsMax)
  }

  watch(watcher: AccountWatcher): void {
    this.directory.watch(watcher)
  }

  // Signing up and in

  async signUp(request: { email: string; password: string; address: string }): Promise<Session> {
    this.#throttle.takeAttempt(request.address)
    if (!this.#isSignUpOpen) {
      throw new EngineError('FORBIDDEN', 'sign-up is closed here: ask the operator for an account')
    }
    const email = normalizedEmail(request.email)
    // What it comes to is not known yet: its caller tries again.
    if (this.#claimed.get(email) === true) throw busy()
    const existing = this.directory.findByEmail(email)
    if (existing !== null || this.#claimed.has(email))
      return this.#repeatedSignUp(existing, request)
    if (this.directory.findLookAlike(email) !== null) {
      throw new EngineError('BAD_REQUEST', 'an account with an e-mail that looks the same exists')
    }
    this.#throttle.takeSignUp(request.address)
    const startedAtMs = this.#clock.monotonicMs()
    this.#claimed.set(email, false)
    this.#answered.delete(email)
    const made = this.#inTime(async (throwIfLate) => {
      try {
        return await this.#signUp({ ...request, email }, throwIfLate)
      } finally {
        this.#claimed.delete(email)
      }
    })
    try {
      const session = await made
      if (this.#clock.monotonicMs() - startedAtMs < ANSWERED_MS_MAX) this.#noteAnswered(email)
      return session
    } catch (error) {
      if (this.#claimed.has(email)) this.#claimed.set(email, true)
      throw error
    }
  }

  /**
   * Of an account that was made a moment ago, though its answer may not have arrived (the disk, the log or a gateway took too
   * long, or another engine leads since), the same credentials sign up once more; else they are refused.
   */
  async #repeatedSignUp(
    existing: AccountRecord | null,
    request: Parameters<Accounts['logIn']>[0],
  ): Promise<Session> {
    const exists = new EngineError('BAD_REQUEST', 'an account with this e-mail exists')
    if (existing === null || this.#answered.has(existing.email)) throw exists
    if (this.#clock.nowMs() - existing.createdAtMs > REPEAT_MS_MAX) throw exists
    try {
      return await this.logIn(request)
    } catch (error) {
      throw error instanceof EngineError && error.code === 'UNAUTHORIZED' ? exists : error
    }
  }

  #noteAnswered(email: string): void {
    this.#answered.add(email)
    const [oldest] = this.#answered
    if (this.#answered.size > ANSWERED_MAX && oldest !== undefined) this.#answered.delete(oldest)
  }

  async #signUp(
    { email, password, address }: { email: string; password: string; address: string },
    throwIfLate: () => void,
  ): Promise<Session> {
    const requester = { network: siteOf(address), isTrusted: false }
    const passwordHash = await this.#passwords.hash(password, requester)
    throwIfLate()
    return this.#session(
      await this.directory.add({ email, passwordHash, tier: 'free' }),
      WRONG_LOGIN,
    )
  }

  async logIn(request: { email: string; password: string; address: string }): Promise<Session> {
    const email = normalizedEmail(request.email)
    const isKnown = this.#throttle.hasLoggedIn(email, request.address)
    const end = this.#throttle.beginLogin(email, request.address)
    const requester = { network: siteOf(request.address), isTrusted: isKnown }
    return this.#inTime(() => this.#logIn({ email, password: request.password, requester }, end))
  }

  async #logIn(login: Login, end: (outcome: LoginOutcome) => void): Promise<Session> {
    let outcome: LoginOutcome = 'undecided'
    try {
      const account = await this.#accountWithPassword(login)
      outcome = account === null ? 'failed' : 'passed'
      if (account === null) throw new EngineError('UNAUTHORIZED', WRONG_LOGIN)
      return await this.#session(account, WRONG_LOGIN)
    } finally {
      end(outcome)
    }
  }

  /** The account with this e-mail and password; null, after the same work, when there is none. */
  async #accountWithPassword({ email, password, requester }: Login): Promise<AccountRecord | null> {
    const encoded = this.directory.findByEmail(email)?.passwordHash ?? this.#passwords.decoyHash
    const isRight = await this.#passwords.verify(password, encoded, requester)
    // Looked up again: the account may have been disabled, deleted, or deleted and made again meanwhile.
    const account = this.directory.findByEmail(email)
    const isSame = account !== null && account.passwordHash === encoded
    return isRight && isSame && !account.isDisabled ? account : null
  }

  async #session({ id, tokenGeneration }: AccountRecord, message: string): Promise<Session> {
    const accessToken = await this.#tokens.issue(id, tokenGeneration)
    // Through the token: the account may have gone, or its tokens ended, while this one was signed.
    const caller = this.callerOfToken(accessToken)
    if (caller === null) throw new EngineError('UNAUTHORIZED', message)
    return { caller, accessToken, expiresInSeconds: TOKEN_SECONDS }
  }

  async openLocalSession(address: string): Promise<Session | null> {
    const account = this.#localAccount
    if (account === null || account.isDisabled) return null
    this.#throttle.takeAttempt(address)
    return this.#session(account, WRONG_LOGIN)
  }

  /** The account that this process made. It has no password; an account with one was made by a user. */
  get #localAccount(): AccountRecord | null {
    for (let number = 1; ; number += 1) {
      const account = this.directory.findByEmail(localEmail(number))
      if (account === null || account.passwordHash === null) return account
    }
  }

  #freeLocalEmail(): string {
    let number = 1
    while (this.directory.findByEmail(localEmail(number)) !== null) number += 1
    return localEmail(number)
  }

  hasPassword(account: AccountId): boolean {
    return (this.directory.find(account)?.passwordHash ?? null) !== null
  }

  // Logging out, and requests that need the password once more

  async logOut({ accountId: id, token }: Caller): Promise<void> {
    const account = this.directory.find(id)
    if (account === null || token === null) return
    await this.#inTime(() => this.directory.endToken(account, ended(id, token)))
  }

  async logOutEverywhere({ accountId: id }: Caller): Promise<void> {
    const account = this.directory.find(id)
    if (account !== null) await this.#inTime(() => this.directory.endTokens(account))
  }

  changePassword(caller: Caller, change: { current: string; next: string }): Promise<Session> {
    return this.#inTime(async (throwIfLate) => {
      const passwordHash = await this.#verifyPassword(caller, change.current)
      const made = await this.#passwords.hash(change.next, requesterOf(caller))
      throwIfLate()
      // Of two changes at once the first wins: the second was proven with a password that is replaced now.
      const account = this.#accountIfUnchanged(caller, passwordHash)
      return this.#session(await this.directory.setPassword(account, made), WRONG_PASSWORD)
    })
  }

  async deleteAccount(caller: Caller, password: string): Promise<void> {
    await this.#inTime(async (throwIfLate) => {
      const passwordHash = await this.#verifyPassword(caller, password)
      throwIfLate()
      await this.directory.remove(this.#accountIfUnchanged(caller, passwordHash))
    })
  }

  /**
   * The hash that the password was proven against. Failures count against the token, so that guesses with another token, or
   * at the log-in, do not hold up this caller.
   */
  async #verifyPassword(caller: Caller, password: string): Promise<string> {
    const account = this.directory.find(caller.accountId)
    const encoded = account?.passwordHash ?? this.#passwords.decoyHash
    // E-mails are in lower case: none equals this text.
    const throttleKey = `TOKEN ${caller.token?.id}`
    this.#throttle.begin(throttleKey)
    let outcome: LoginOutcome = 'undecided'
    try {
      const isRight = await this.#passwords.verify(password, encoded, requesterOf(caller))
      outcome = isRight ? 'passed' : 'failed'
      if (!isRight) throw new EngineError('UNAUTHORIZED', WRONG_PASSWORD)
      return encoded
    } finally {
      this.#throttle.end(throttleKey, outcome)
    }
  }

  /** The account as it is now; throws UNAUTHORIZED when its password changed or the caller's token ended meanwhile. */
  #accountIfUnchanged(caller: Caller, passwordHash: string): AccountRecord {
    const account = this.directory.find(caller.accountId)
    if (account !== null && account.passwordHash === passwordHash && this.isValid(caller)) {
      return account
    }
    throw new EngineError('UNAUTHORIZED', WRONG_PASSWORD)
  }

  /**
   * Rejects with UNAVAILABLE, and when to come back, before the request itself times out. `hurry` throws after that, so that
   * nothing changes after the answer that nothing did.
   */
  async #inTime<Result>(work: (throwIfLate: () => void) => Promise<Result>): Promise<Result> {
    let isLate = false
    const throwIfLate = () => {
      if (isLate) throw busy()
    }
    let stop: () => void = () => undefined
    const late = new Promise<never>((_, reject) => {
      stop = this.#clock.after(accountWorkMsMax, () => {
        isLate = true
        reject(busy())
      })
    })
    try {
      return await Promise.race([work(throwIfLate), late])
    } catch (error) {
      // The disk or the thread gave up at about the same time.
      const isTimeout = error instanceof EngineError && error.code === 'TIMED_OUT'
      throw isTimeout ? busy(error) : error
    } finally {
      stop()
    }
  }

  // Keys

  keys(account: AccountId): readonly KeyView[] {
    return this.directory.viewsOf(account)
  }

  createKey(
    account: AccountId,
    label: string,
    scopes: readonly KeyScope[] = ['read'],
  ): Promise<{ view: KeyView; key: string }> {
    return this.directory.addKey(account, label, scopes)
  }

  revokeKey(account: AccountId, id: KeyId): Promise<boolean> {
    return this.directory.revokeKey(account, id)
  }

  /**
   * The key of the local account, which has the enterprise tier, for a first start without sign-up. A kept key that is still
   * known is returned again. While the account is disabled the key opens nothing.
   */
  async openLocalAccount(storedKey: string | null): Promise<string> {
    if (storedKey !== null && this.directory.use(storedKey) !== null) return storedKey
    const local =
      this.#localAccount ??
      (await this.directory.add({
        email: this.#freeLocalEmail(),
        passwordHash: null,
        tier: 'enterprise',
      }))
    return (await this.directory.makeKey(local.id, 'local')).key
  }

  /** Writes when keys were last used. Called at leisure, and at the end. */
  saveUse(): Promise<void> {
    return this.directory.saveUse()
  }
}

function requesterOf({ accountId: id }: Caller): HashRequester {
  return { network: `account ${id}`, isTrusted: true }
}

/** How long a caller is asked to stay away from a thread or a disk that is behind. */
const BUSY_SECONDS = 5

function busy(cause?: unknown): EngineError {
  const options = { cause, retryAfterSeconds: BUSY_SECONDS }
  return new EngineError('UNAVAILABLE', 'too busy for this now, try again soon', options)
}

function callerOf(
  account: AccountRecord,
  credential: Pick<Caller, 'keyId' | 'token' | 'scopes'>,
): Caller {
  const { id, email, tier, createdAtMs } = account
  return { accountId: id, email, tier, createdAtMs, ...limitsOf(account), ...credential }
}

function ended(account: AccountId, { id, expiresAtMs }: TokenView) {
  return { tokenId: id, accountId: account, expiresAtMs }
}
