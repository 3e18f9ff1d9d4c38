// Accounts as the face asks of them: who is asking, what they may, signing up and in. All accounts and
// keys are in the directory (account-directory.ts); quotas count per account over all its keys and
// tokens. Passwords are hashed elsewhere (engine/passwords/). Upholds ACC6 to ACC12, LOGIN3, LOGIN5.

import { randomBytes } from 'node:crypto'
import { AccessTokens, TOKEN_SECONDS } from '../engine/access-token.ts'
import { limitsOf } from '../engine/account.ts'
import type { Clock } from '../engine/clock.ts'
import { EngineError } from '../engine/errors.ts'
import { type AccountId, accountId, type KeyId } from '../engine/ids.ts'
import { addressRequestsPerMinute } from '../engine/limits.ts'
import type { PasswordPool } from '../engine/passwords/passwords.ts'
import type { AccountRecord, AccountTable } from '../storage/storage.ts'
import { AccountDirectory, type AccountWatcher } from './account-directory.ts'
import { type LoginOutcome, LoginThrottle } from './login-throttle.ts'
import { Quotas } from './quotas.ts'
import type { AccountsView, Caller, KeyView, Quota, Session } from './views.ts'

const LOCAL_EMAIL = 'local@localhost'
/** Wrong in the same words for known and unknown e-mails. */
const WRONG = 'e-mail or password is wrong'

export class AccountsActor implements AccountsView {
  /** Every account and key, for commands and for whoever depends on an account. */
  readonly directory: AccountDirectory
  readonly #passwords: PasswordPool
  readonly #tokens: AccessTokens
  readonly #sockets = new Map<AccountId, number>()
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
    /** A replaced secret, whose tokens are good until they expire. */
    jwtSecretPrevious?: string | null
  }) {
    const { storage, clock, jwtSecret, jwtSecretPrevious = null } = parts
    this.directory = new AccountDirectory(storage, clock)
    this.#passwords = parts.passwords
    this.#tokens = new AccessTokens({ secret: jwtSecret, previous: jwtSecretPrevious, clock })
    this.#accountQuotas = new Quotas(clock)
    this.#addressQuotas = new Quotas(clock)
    this.#throttle = new LoginThrottle(clock)
  }

  // Who is asking

  callerOfKey(key: string): Caller | null {
    const record = this.directory.use(key)
    return record === null ? null : this.#caller(record.accountId, record.id)
  }

  callerOfToken(token: string): Caller | null {
    const subject = this.#tokens.subjectOf(token)
    return subject === null ? null : this.#caller(accountId(subject), null)
  }

  /** Null for an unknown and for a disabled account alike. */
  #caller(id: AccountId, key: KeyId | null): Caller | null {
    const account = this.#active(id)
    if (account === null) return null
    const { email, tier, createdAtMs } = account
    return { accountId: id, email, tier, createdAtMs, ...limitsOf(account), keyId: key }
  }

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

  watch(watcher: AccountWatcher): void {
    this.directory.watch(watcher)
  }

  // Signing up and in

  async signUp(request: { email: string; password: string; address: string }): Promise<Session> {
    this.#throttle.takeAttempt(request.address)
    const email = request.email.toLowerCase()
    if (this.directory.findByEmail(email) !== null || this.#claimed.has(email)) {
      throw new EngineError('BAD_REQUEST', 'an account with this e-mail exists')
    }
    this.#claimed.add(email)
    try {
      const passwordHash = await this.#passwords.hash(request.password)
      const account = await this.directory.add({ email, passwordHash, tier: 'free' })
      return await this.#session(account.id)
    } finally {
      this.#claimed.delete(email)
    }
  }

  async logIn(request: { email: string; password: string; address: string }): Promise<Session> {
    this.#throttle.takeAttempt(request.address)
    const email = request.email.toLowerCase()
    this.#throttle.begin(email)
    let outcome: LoginOutcome = 'undecided'
    try {
      const id = await this.#provenAccount(email, request.password)
      outcome = id === null ? 'failed' : 'passed'
      if (id === null) throw new EngineError('UNAUTHORIZED', WRONG)
      return await this.#session(id)
    } finally {
      this.#throttle.end(email, outcome)
    }
  }

  /** The account whose e-mail and password these are; null, after the same work, for any other. */
  async #provenAccount(email: string, password: string): Promise<AccountId | null> {
    // Awaited for known e-mails too, so that the first log-in of a run costs the same for both.
    const dummyHash = await this.#openDummyHash()
    const encoded = this.directory.findByEmail(email)?.passwordHash ?? dummyHash
    const isRight = await this.#passwords.verify(password, encoded)
    // Looked up again: it may have been disabled or deleted, or deleted and made anew.
    const account = this.directory.findByEmail(email)
    const isSame = account !== null && account.passwordHash === encoded
    return isRight && isSame && !account.isDisabled ? account.id : null
  }

  /** The hash of a password nobody knows: checking against it takes as long as against a real one. */
  #openDummyHash(): Promise<string> {
    if (this.#dummyHash !== null) return this.#dummyHash
    const made = this.#passwords.hash(randomBytes(24).toString('base64'))
    this.#dummyHash = made
    // A full queue refuses this log-in, not every one after it.
    made.catch(() => {
      this.#dummyHash = null
    })
    return made
  }

  async #session(id: AccountId): Promise<Session> {
    const caller = this.#caller(id, null)
    if (caller === null) throw new EngineError('UNAUTHORIZED', WRONG)
    const accessToken = await this.#tokens.issue(id)
    return { caller, accessToken, expiresInSeconds: TOKEN_SECONDS }
  }

  // Keys

  keys(account: AccountId): readonly KeyView[] {
    return this.directory.viewsOf(account)
  }

  createKey(account: AccountId, label: string): Promise<{ view: KeyView; key: string }> {
    return this.directory.addKey(account, label)
  }

  revokeKey(account: AccountId, id: KeyId): Promise<boolean> {
    return this.directory.revokeKey(account, id)
  }

  /**
   * The local account with an enterprise key, for a first start without sign-up. A kept key that is
   * still known is used again. Returns the key; while the account is disabled it opens nothing.
   */
  async openLocalAccount(keptKey: string | null): Promise<string> {
    if (keptKey !== null && this.directory.use(keptKey) !== null) return keptKey
    const local =
      this.directory.findByEmail(LOCAL_EMAIL) ??
      (await this.directory.add({ email: LOCAL_EMAIL, passwordHash: null, tier: 'enterprise' }))
    return (await this.directory.makeKey(local.id, 'local')).key
  }

  /** Writes when keys were last used; called at leisure, and at the end. */
  saveUse(): Promise<void> {
    return this.directory.saveUse()
  }
}
