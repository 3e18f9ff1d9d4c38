// Accounts, their keys, quotas and sockets, all in memory and looked up by hash; changes are
// answered only once they are on the platter. Passwords are hashed elsewhere (engine/passwords/).
// Upholds ACC6 to ACC12.

import { randomBytes } from 'node:crypto'
import { AccessTokens, TOKEN_SECONDS } from '../engine/access-token.ts'
import { hashKey, isKeyShaped, keyPrefix, makeKey, TIERS } from '../engine/account.ts'
import type { Clock } from '../engine/clock.ts'
import { EngineError } from '../engine/errors.ts'
import { type AccountId, accountId, type KeyId, keyId } from '../engine/ids.ts'
import { addressRequestsPerMinute, keysPerAccountMax } from '../engine/limits.ts'
import type { PasswordPool } from '../engine/passwords/passwords.ts'
import type { TimeMs } from '../engine/units.ts'
import type { AccountRecord, AccountTable, KeyRecord } from '../storage/storage.ts'
import { LoginThrottle } from './login-throttle.ts'
import { Quotas } from './quotas.ts'
import type { AccountsView, Caller, KeyView, Quota, Session } from './views.ts'

const LOCAL_EMAIL = 'local@localhost'
/** Wrong in the same words for known and unknown e-mails. */
const WRONG = 'e-mail or password is wrong'

export class AccountsActor implements AccountsView {
  readonly #storage: AccountTable
  readonly #clock: Clock
  readonly #passwords: PasswordPool
  readonly #tokens: AccessTokens
  readonly #accounts = new Map<AccountId, AccountRecord>()
  readonly #byEmail = new Map<string, AccountId>()
  readonly #keys = new Map<KeyId, KeyRecord>()
  readonly #byHash = new Map<string, KeyId>()
  /** Apart from the records, since every request changes it. */
  readonly #lastUsed = new Map<KeyId, TimeMs>()
  readonly #keysOf = new Map<AccountId, Set<KeyId>>()
  readonly #sockets = new Map<AccountId, number>()
  readonly #revokedListeners: ((key: KeyId) => void)[] = []
  /** E-mails being signed up, so that two at once make one account. */
  readonly #claimed = new Set<string>()
  readonly #accountQuotas: Quotas<AccountId>
  readonly #addressQuotas: Quotas<string>
  readonly #throttle: LoginThrottle
  #dummyHash: Promise<string> | null = null

  constructor(parts: {
    storage: AccountTable
    clock: Clock
    passwords: PasswordPool
    jwtSecret: string
  }) {
    this.#storage = parts.storage
    this.#clock = parts.clock
    this.#passwords = parts.passwords
    this.#tokens = new AccessTokens({ secret: parts.jwtSecret, clock: parts.clock })
    this.#accountQuotas = new Quotas(parts.clock)
    this.#addressQuotas = new Quotas(parts.clock)
    this.#throttle = new LoginThrottle(parts.clock)
    for (const account of this.#storage.accounts()) this.#keepAccount(account)
    for (const key of this.#storage.keys()) this.#keepKey(key)
  }

  // Who is asking

  callerOfKey(key: string): Caller | null {
    if (!isKeyShaped(key)) return null
    const id = this.#byHash.get(hashKey(key))
    const record = id === undefined ? undefined : this.#keys.get(id)
    if (record === undefined) return null
    this.#lastUsed.set(record.id, this.#clock.nowMs())
    return this.#caller(record.accountId, record.id)
  }

  callerOfToken(token: string): Caller | null {
    const subject = this.#tokens.subjectOf(token)
    return subject === null ? null : this.#caller(accountId(subject), null)
  }

  #caller(id: AccountId, key: KeyId | null): Caller | null {
    const account = this.#accounts.get(id)
    if (account === undefined) return null
    const plan = TIERS[account.tier]
    return {
      accountId: id,
      email: account.email,
      tier: account.tier,
      createdAtMs: account.createdAtMs,
      requestsPerMinute: account.requestsPerMinute ?? plan.requestsPerMinute,
      socketsMax: account.socketsMax ?? plan.socketsMax,
      keyId: key,
    }
  }

  // Quotas and sockets

  takeAccountRequest(account: AccountId): Quota {
    const limit = this.#caller(account, null)?.requestsPerMinute ?? 0
    return this.#accountQuotas.take(account, limit)
  }

  takeAddressRequest(address: string): Quota {
    return this.#addressQuotas.take(address, addressRequestsPerMinute)
  }

  peekAddress(address: string): Quota {
    return this.#addressQuotas.peek(address, addressRequestsPerMinute)
  }

  openSocket(caller: Caller): { release(): void } | null {
    const { accountId: id, socketsMax } = caller
    const open = this.#sockets.get(id) ?? 0
    if (open >= socketsMax) return null
    this.#sockets.set(id, open + 1)
    let isReleased = false
    return {
      release: () => {
        if (isReleased) return
        isReleased = true
        const left = (this.#sockets.get(id) ?? 1) - 1
        if (left > 0) this.#sockets.set(id, left)
        else this.#sockets.delete(id)
      },
    }
  }

  onRevoked(listener: (key: KeyId) => void): void {
    this.#revokedListeners.push(listener)
  }

  // Signing up and in

  async signUp(request: { email: string; password: string; address: string }): Promise<Session> {
    this.#throttle.takeAttempt(request.address)
    const email = request.email.toLowerCase()
    if (this.#byEmail.has(email) || this.#claimed.has(email)) {
      throw new EngineError('BAD_REQUEST', 'an account with this e-mail exists')
    }
    this.#claimed.add(email)
    try {
      const passwordHash = await this.#passwords.hash(request.password)
      const account: AccountRecord = {
        id: accountId(`acc_${randomBytes(12).toString('hex')}`),
        email,
        passwordHash,
        tier: 'free',
        requestsPerMinute: null,
        socketsMax: null,
        createdAtMs: this.#clock.nowMs(),
      }
      await this.#storage.putAccount(account)
      this.#keepAccount(account)
      return await this.#session(account.id)
    } finally {
      this.#claimed.delete(email)
    }
  }

  async logIn(request: { email: string; password: string; address: string }): Promise<Session> {
    this.#throttle.takeAttempt(request.address)
    const email = request.email.toLowerCase()
    this.#throttle.assertMayTry(email)
    const id = this.#byEmail.get(email)
    const account = id === undefined ? undefined : this.#accounts.get(id)
    // Awaited for known e-mails too, so that the first log-in of a run costs the same for both.
    const dummyHash = await this.#openDummyHash()
    const encoded = account?.passwordHash ?? dummyHash
    const isRight = await this.#passwords.verify(request.password, encoded)
    if (!isRight || account === undefined || account.passwordHash === null) {
      this.#throttle.noteFailure(email)
      throw new EngineError('UNAUTHORIZED', WRONG)
    }
    this.#throttle.noteSuccess(email)
    return this.#session(account.id)
  }

  /** The hash of a password nobody knows: checking against it takes as long as against a real one. */
  #openDummyHash(): Promise<string> {
    this.#dummyHash ??= this.#passwords.hash(randomBytes(24).toString('base64'))
    return this.#dummyHash
  }

  async #session(id: AccountId): Promise<Session> {
    const caller = this.#caller(id, null)
    if (caller === null) throw new EngineError('INTERNAL', 'the account is gone')
    const accessToken = await this.#tokens.issue(id)
    return { caller, accessToken, expiresInSeconds: TOKEN_SECONDS }
  }

  // Keys

  keys(account: AccountId): readonly KeyView[] {
    const views: KeyView[] = []
    for (const id of this.#keysOf.get(account) ?? []) {
      const record = this.#keys.get(id)
      if (record !== undefined) views.push(this.#viewOf(record))
    }
    return views
  }

  async createKey(account: AccountId, label: string): Promise<{ view: KeyView; key: string }> {
    if ((this.#keysOf.get(account)?.size ?? 0) >= keysPerAccountMax) {
      throw new EngineError('BAD_REQUEST', `an account has at most ${keysPerAccountMax} keys`)
    }
    return this.#addKey(account, label, makeKey())
  }

  async #addKey(account: AccountId, label: string, key: string) {
    const record: KeyRecord = {
      id: keyId(`key_${randomBytes(9).toString('hex')}`),
      accountId: account,
      hash: hashKey(key),
      prefix: keyPrefix(key),
      label,
      createdAtMs: this.#clock.nowMs(),
      lastUsedAtMs: null,
    }
    // Kept before it is on the platter, so that the limit counts it; usable only with the answer.
    this.#keepKey(record)
    try {
      await this.#storage.putKey(record)
    } catch (error) {
      this.#dropKey(record)
      throw error
    }
    return { view: this.#viewOf(record), key }
  }

  async revokeKey(account: AccountId, id: KeyId): Promise<boolean> {
    const record = this.#keys.get(id)
    if (record === undefined || record.accountId !== account) return false
    this.#dropKey(record)
    for (const listener of this.#revokedListeners) listener(id)
    await this.#storage.removeKey(id)
    return true
  }

  /**
   * The local account with an enterprise key, for a first start without sign-up. A kept key that is
   * still valid is used again. Returns the key.
   */
  async openLocalAccount(keptKey: string | null): Promise<string> {
    if (keptKey !== null && this.callerOfKey(keptKey) !== null) return keptKey
    let id = this.#byEmail.get(LOCAL_EMAIL)
    if (id === undefined) {
      const account: AccountRecord = {
        id: accountId(`acc_${randomBytes(12).toString('hex')}`),
        email: LOCAL_EMAIL,
        passwordHash: null,
        tier: 'enterprise',
        requestsPerMinute: null,
        socketsMax: null,
        createdAtMs: this.#clock.nowMs(),
      }
      await this.#storage.putAccount(account)
      this.#keepAccount(account)
      id = account.id
    }
    return (await this.#addKey(id, 'local', makeKey())).key
  }

  /** Writes when keys were last used; called at leisure, and at the end. */
  async saveUse(): Promise<void> {
    for (const [id, lastUsedAtMs] of this.#lastUsed) {
      const record = this.#keys.get(id)
      if (record === undefined || record.lastUsedAtMs === lastUsedAtMs) continue
      const used = { ...record, lastUsedAtMs }
      await this.#storage.putKey(used)
      if (this.#keys.has(id)) this.#keys.set(id, used)
    }
  }

  #viewOf({ id, label, prefix, createdAtMs, lastUsedAtMs }: KeyRecord): KeyView {
    return { id, label, prefix, createdAtMs, lastUsedAtMs: this.#lastUsed.get(id) ?? lastUsedAtMs }
  }

  #keepAccount(account: AccountRecord): void {
    this.#accounts.set(account.id, account)
    this.#byEmail.set(account.email, account.id)
  }

  #keepKey(record: KeyRecord): void {
    this.#keys.set(record.id, record)
    this.#byHash.set(record.hash, record.id)
    const keys = this.#keysOf.get(record.accountId)
    if (keys === undefined) this.#keysOf.set(record.accountId, new Set([record.id]))
    else keys.add(record.id)
  }

  #dropKey(record: KeyRecord): void {
    this.#keys.delete(record.id)
    this.#lastUsed.delete(record.id)
    this.#byHash.delete(record.hash)
    this.#keysOf.get(record.accountId)?.delete(record.id)
  }
}
