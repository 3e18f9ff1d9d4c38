// Authentication, quotas, sign-up and log-in for the API server.

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
import type { AccountsView, Caller, KeyView, Quota, Session } from '../views.ts'
import { type ConnectionSlot, ConnectionSlots } from './connection-slots.ts'
import { AccountDirectory, type AccountWatcher } from './directory.ts'
import { type LoginOutcome, LoginThrottle } from './login-throttle.ts'
import { type AccountQuotas, QUOTA_KINDS, type QuotaKind, Quotas } from './quotas.ts'

const localEmail = (number: number): string => `local${number === 1 ? '' : number}@localhost`
/** Equal for known and unknown e-mails, so that the message does not reveal which e-mails exist. */
const WRONG_LOGIN = 'e-mail or password is wrong'
const WRONG_PASSWORD = 'the password is wrong'
/** A client of a slower sign-up may have timed out before the answer. */
const ANSWERED_MS_MAX = 2_000
const ANSWERED_MAX = 10_000
/** Period in which a client can repeat a sign-up whose answer it may not have received. */
const REPEAT_MS_MAX = 600_000

interface Login {
  readonly email: string
  readonly password: string
  readonly requester: HashRequester
}

export class Accounts implements AccountsView {
  readonly directory: AccountDirectory
  readonly #passwords: PasswordPool
  readonly #tokens: AccessTokens
  readonly #clock: Clock
  readonly #connectionSlots: ConnectionSlots
  /**
   * E-mails whose sign-up is in progress, so that concurrent sign-ups create one account. Value: whether the caller
   * already received a time-out.
   */
  readonly #claimed = new Map<string, boolean>()
  readonly #answered = new Set<string>()
  readonly #quotas: Readonly<Record<QuotaKind, AccountQuotas>>
  readonly #addressQuotas: Quotas<string>
  readonly #fileQuotas: Quotas<string>
  readonly #throttle: LoginThrottle
  readonly #isSignUpOpen: boolean

  constructor(parts: {
    storage: AccountTable
    clock: Clock
    passwords: PasswordPool
    jwtSecret: string
    /** Verifies older tokens until they expire. */
    jwtSecretPrevious?: string | null
    quotas?: (kind: QuotaKind) => AccountQuotas
    connectionSlots?: ConnectionSlots
    isSignUpOpen?: boolean | undefined
    /** Maximum accounts created per hour and address. */
    signUpsPerHour?: number | undefined
  }) {
    const { storage, clock, jwtSecret, jwtSecretPrevious = null } = parts
    const { quotas = () => new Quotas<AccountId>(clock) } = parts
    this.directory = new AccountDirectory(storage, clock)
    this.#passwords = parts.passwords
    this.#tokens = new AccessTokens({ secret: jwtSecret, previous: jwtSecretPrevious, clock })
    this.#clock = clock
    this.#quotas = {
      account: quotas('account'),
      management: quotas('management'),
      dashboard: quotas('dashboard'),
    }
    this.#connectionSlots = parts.connectionSlots ?? new ConnectionSlots()
    this.#addressQuotas = new Quotas(clock)
    this.#fileQuotas = new Quotas(clock)
    this.#throttle = new LoginThrottle(clock, parts.signUpsPerHour)
    this.#isSignUpOpen = parts.isSignUpOpen ?? true
  }

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

  #active(id: AccountId): AccountRecord | null {
    const account = this.directory.find(id)
    return account === null || account.isDisabled ? null : account
  }

  takeAccountRequest(account: AccountId): Quota {
    return this.countRequests('account', account, 1)
  }

  takeManagementRequest(account: AccountId): Quota {
    return this.countRequests('management', account, 1)
  }

  takeDashboardRequest(account: AccountId): Quota {
    return this.countRequests('dashboard', account, 1)
  }

  countRequests(kind: QuotaKind, account: AccountId, count: number): Quota {
    const quotas = this.#quotas[kind]
    const limit = this.#limitOf(kind, account)
    return count > 0 ? quotas.take(account, limit, count) : quotas.peek(account, limit)
  }

  #limitOf(kind: QuotaKind, account: AccountId): number {
    if (kind === 'management') return managementRequestsPerMinute
    if (kind === 'dashboard') return dashboardRequestsPerMinute
    const record = this.#active(account)
    return record === null ? 0 : limitsOf(record).requestsPerMinute
  }

  useOf(account: AccountId): { requests: number; streams: number } {
    const quotas = QUOTA_KINDS.map((kind) => this.countRequests(kind, account, 0))
    const requests = quotas.reduce((sum, { limit, remaining }) => sum + limit - remaining, 0)
    return { requests, streams: this.#connectionSlots.count(account) }
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

  async signUp(request: { email: string; password: string; address: string }): Promise<Session> {
    this.#throttle.takeAttempt(request.address)
    if (!this.#isSignUpOpen) {
      throw new EngineError('FORBIDDEN', 'sign-up is closed here: ask the operator for an account')
    }
    const email = normalizedEmail(request.email)
    // The running sign-up timed out but may still succeed, so the caller must retry.
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
   * The client may not have received the answer to its first sign-up, so a repeated sign-up with the correct password
   * logs in.
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
    const requester = { network: siteOf(address), class: 'signUp' } as const
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
    const requester: HashRequester = {
      network: siteOf(request.address),
      class: isKnown ? 'known' : 'logIn',
    }
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

  /** Returns null for a wrong e-mail or password. Both take the same time. */
  async #accountWithPassword({ email, password, requester }: Login): Promise<AccountRecord | null> {
    const encoded = this.directory.findByEmail(email)?.passwordHash ?? this.#passwords.decoyHash
    const isRight = await this.#passwords.verify(password, encoded, requester)
    // Found again, because the account may have been disabled, deleted or recreated during the verification.
    const account = this.directory.findByEmail(email)
    const isSame = account !== null && account.passwordHash === encoded
    return isRight && isSame && !account.isDisabled ? account : null
  }

  async #session({ id, tokenGeneration }: AccountRecord, message: string): Promise<Session> {
    const accessToken = await this.#tokens.issue(id, tokenGeneration)
    // The account may have been deleted, or its tokens ended, while the token was signed.
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

  async logOut({ accountId: id, token }: Caller): Promise<void> {
    const account = this.directory.find(id)
    if (account === null || token === null) return
    const ended = { tokenId: token.id, accountId: id, expiresAtMs: token.expiresAtMs }
    await this.#inTime(() => this.directory.endToken(account, ended))
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

  /** Failures count per token, so that guesses with a stolen token do not block the user's own token. */
  async #verifyPassword(caller: Caller, password: string): Promise<string> {
    const account = this.directory.find(caller.accountId)
    const encoded = account?.passwordHash ?? this.#passwords.decoyHash
    // Contains upper case, so it cannot equal an e-mail.
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

  /**
   * Of two concurrent changes only the first succeeds. Throws UNAUTHORIZED if the password changed or the caller's
   * token ended meanwhile.
   */
  #accountIfUnchanged(caller: Caller, passwordHash: string): AccountRecord {
    const account = this.directory.find(caller.accountId)
    if (account !== null && account.passwordHash === passwordHash && this.isValid(caller)) {
      return account
    }
    throw new EngineError('UNAUTHORIZED', WRONG_PASSWORD)
  }

  /**
   * Rejects with UNAVAILABLE before the client's request times out. `throwIfLate` throws after the time limit, so that
   * work whose failure was reported changes nothing.
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
      // The disk and the password threads have time limits of their own.
      const isTimeout = error instanceof EngineError && error.code === 'TIMED_OUT'
      throw isTimeout ? busy(error) : error
    } finally {
      stop()
    }
  }

  watchlist(account: AccountId): readonly string[] {
    return this.directory.find(account)?.watchlist ?? []
  }

  watchMarket(account: AccountId, market: string): Promise<readonly string[]> {
    return this.directory.watchMarket(this.#existing(account), market)
  }

  unwatchMarket(account: AccountId, market: string): Promise<boolean> {
    return this.directory.unwatchMarket(this.#existing(account), market)
  }

  /** The account may have been deleted since the request was authenticated. */
  #existing(id: AccountId): AccountRecord {
    const account = this.#active(id)
    if (account === null) throw new EngineError('UNAUTHORIZED', 'the account no longer exists')
    return account
  }

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
   * Returns the key of the local account, so that a first start needs no sign-up. Reuses `storedKey` if the key is
   * valid. The account has the enterprise tier. The key is rejected while the account is disabled.
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

  saveUse(): Promise<void> {
    return this.directory.saveUse()
  }
}

function requesterOf({ accountId: id }: Caller): HashRequester {
  return { network: `account ${id}`, class: 'known' }
}

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
