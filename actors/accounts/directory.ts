// All accounts and keys in memory, found by id, e-mail or hash. A change is answered only once it is on disk and flushed;
// watchers are called in the turn of the change, before the answer.

import { randomBytes } from 'node:crypto'
import {
  hashKey,
  isKeyShaped,
  KEY_SCOPES,
  type KeyScope,
  keyPrefix,
  limitsOf,
  makeKey,
  scopesOf,
  type Tier,
} from '../../engine/accounts/account.ts'
import { emailSkeleton, normalizedEmail } from '../../engine/accounts/email.ts'
import type { Clock } from '../../engine/clock.ts'
import type { Revocation } from '../../engine/cluster/gateway-messages.ts'
import { EngineError } from '../../engine/errors.ts'
import { type AccountId, accountId, type KeyId, keyId } from '../../engine/ids.ts'
import { endedTokensPerAccountMax, keysPerAccountMax } from '../../engine/limits.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { AccountEntry } from '../../storage/cluster-accounts.ts'
import type {
  AccountRecord,
  AccountTable,
  EndedToken,
  KeyRecord,
} from '../../storage/contract/storage.ts'
import type { KeyView } from '../views.ts'

/** Why an account has gone: a disabled one may come back with all its keys, a deleted one does not. */
export type DeactivationReason = 'disabled' | 'deleted'

/**
 * Called at changes to accounts, in the turn of the change: what a watcher writes to the same LMDB environment is committed
 * with the change, or neither is. Must not throw.
 */
export interface AccountWatcher {
  /** A key is revoked, by itself or with its account. */
  onRevoked?(key: KeyId): void
  /** A login token is logged out. */
  onTokenEnded?(tokenId: string): void
  /** All login tokens of the account issued so far are ended; its keys stay. */
  onTokensEnded?(account: AccountId): void
  /** Requests, sockets and webhooks of the account must end. */
  onAccountDeactivated?(account: AccountId, reason: DeactivationReason): void
  /** A disabled account is enabled again. */
  onAccountEnabled?(account: AccountId): void
  /** The account has other limits from now on, higher or lower. */
  onLimits?(account: AccountId, limits: { requestsPerMinute: number; socketsMax: number }): void
}

/** Remembered texts of keys; with one more, all are looked up again. */
const USED_KEYS_MAX = 10_000
/** Keys whose use is written in one turn. */
const USES_PER_COMMIT = 500

export class AccountDirectory {
  readonly #storage: AccountTable
  readonly #clock: Clock
  readonly #accounts = new Map<AccountId, AccountRecord>()
  readonly #byEmail = new Map<string, AccountId>()
  /** Accounts whose e-mail is not its own skeleton. */
  readonly #bySkeleton = new Map<string, AccountId>()
  readonly #keys = new Map<KeyId, KeyRecord>()
  readonly #byHash = new Map<string, KeyId>()
  /** Used keys by their text. The text of a revoked key leads to an id without a record. */
  readonly #usedKeys = new Map<string, KeyId>()
  /** Not in the records, since every request changes it. */
  readonly #lastUsed = new Map<KeyId, TimeMs>()
  readonly #keysOf = new Map<AccountId, Set<KeyId>>()
  /** Logged-out tokens, until they would have expired. */
  readonly #endedTokens = new Map<string, EndedToken>()
  readonly #endedTokensOf = new Map<AccountId, Set<string>>()
  readonly #watchers: AccountWatcher[] = []

  constructor(storage: AccountTable, clock: Clock) {
    this.#storage = storage
    this.#clock = clock
    for (const account of storage.accounts()) this.#indexAccount(account)
    for (const key of storage.keys()) this.#indexKey(key)
    for (const token of storage.endedTokens()) this.#addEndedToken(token)
  }

  watch(watcher: AccountWatcher): void {
    this.#watchers.push(watcher)
  }

  // Accounts

  /** The account with this id, disabled or not. */
  find(id: AccountId): AccountRecord | null {
    return this.#accounts.get(id) ?? null
  }

  /** The account with this e-mail (in any case), disabled or not. */
  findByEmail(email: string): AccountRecord | null {
    const id = this.#byEmail.get(email.toLowerCase()) ?? this.#byEmail.get(normalizedEmail(email))
    return id === undefined ? null : this.find(id)
  }

  /** An account whose e-mail looks the same and is another one. */
  findLookAlike(email: string): AccountRecord | null {
    const normalized = normalizedEmail(email)
    const skeleton = emailSkeleton(normalized)
    const id = this.#byEmail.get(skeleton) ?? this.#bySkeleton.get(skeleton)
    const account = id === undefined ? null : this.find(id)
    return account === null || account.email === normalized ? null : account
  }

  /** False for an unknown and for a disabled account. */
  isActive(id: AccountId): boolean {
    const account = this.find(id)
    return account !== null && !account.isDisabled
  }

  /** At most `limit` accounts in order of e-mail, strictly after one (null: from the first). */
  list(after: string | null, limit: number): readonly AccountRecord[] {
    let first: string[] = []
    let last: string | null = null
    // Sorted a page at a time: all of 100,000 at once would hold up the loop for a tenth of a second.
    for (const email of this.#byEmail.keys()) {
      if ((after !== null && email <= after) || (last !== null && email > last)) continue
      first.push(email)
      if (first.length < 2 * limit) continue
      first = first.sort().slice(0, limit)
      last = first.at(-1) ?? null
    }
    const page = first.sort().slice(0, limit)
    return page.flatMap((email) => this.findByEmail(email) ?? [])
  }

  /** Adds an account; it is found once it is on disk. The e-mail must be new, and in lower case. */
  async add(made: { email: string; passwordHash: string | null; tier: Tier }) {
    const account: AccountRecord = {
      ...made,
      id: accountId(`acc_${randomBytes(12).toString('hex')}`),
      requestsPerMinute: null,
      socketsMax: null,
      isDisabled: false,
      tokenGeneration: 0,
      createdAtMs: this.#clock.nowMs(),
    }
    await this.#storage.putAccount(account)
    this.#indexAccount(account)
    return account
  }

  // The changes below take a record that was found in the same turn. They are made in memory in the turn of the call, so
  // that two at once add up, and resolve when the disk has them.

  /** Gives an account a tier, and limits of its own (null: the tier's). */
  async setTier(
    account: AccountRecord,
    set: Pick<AccountRecord, 'tier' | 'requestsPerMinute' | 'socketsMax' | 'deliveriesPerSecond'>,
  ): Promise<AccountRecord> {
    const changed = { ...account, ...set }
    this.#indexAccount(changed)
    const limits = limitsOf(changed)
    for (const watcher of this.#watchers) watcher.onLimits?.(account.id, limits)
    await this.#storage.putAccount(changed)
    return changed
  }

  /** Ends everything of an account until it is enabled again; its keys are kept. */
  async disable(account: AccountRecord): Promise<AccountRecord> {
    const changed = { ...account, isDisabled: true }
    this.#indexAccount(changed)
    if (!account.isDisabled) this.#notifyDeactivated(account.id, 'disabled')
    await this.#storage.putAccount(changed)
    return changed
  }

  /** Enables an account: its keys and tokens are valid again. */
  async enable(account: AccountRecord): Promise<AccountRecord> {
    const changed = { ...account, isDisabled: false }
    this.#indexAccount(changed)
    if (account.isDisabled) {
      for (const watcher of this.#watchers) watcher.onAccountEnabled?.(account.id)
    }
    await this.#storage.putAccount(changed)
    return changed
  }

  /** Replaces the password, and ends every login token of the account. */
  setPassword(account: AccountRecord, passwordHash: string): Promise<AccountRecord> {
    return this.#endTokens({ ...account, passwordHash })
  }

  /** Ends every login token of the account; its keys stay. */
  endTokens(account: AccountRecord): Promise<AccountRecord> {
    return this.#endTokens(account)
  }

  async #endTokens(account: AccountRecord): Promise<AccountRecord> {
    const changed = { ...account, tokenGeneration: account.tokenGeneration + 1 }
    this.#indexAccount(changed)
    for (const watcher of this.#watchers) watcher.onTokensEnded?.(account.id)
    // Tokens that were logged out one by one are of an older generation now, and need no record.
    const removals = this.#removeEndedTokens(account.id)
    await Promise.all([...removals, this.#storage.putAccount(changed)])
    return changed
  }

  /** Removes an account with its keys, for good. Resolves with the number of keys. */
  async remove({ id, email }: AccountRecord): Promise<number> {
    const keys = this.keysOf(id)
    this.#accounts.delete(id)
    this.#removeEmail(email)
    for (const key of keys) this.#dropKey(key)
    for (const key of keys) this.#notifyRevoked(key.id)
    this.#notifyDeactivated(id, 'deleted')
    // One turn, one transaction: a crash leaves all of them or none.
    const removals = keys.map((key) => this.#storage.removeKey(key.id))
    removals.push(...this.#removeEndedTokens(id))
    await Promise.all([...removals, this.#storage.removeAccount(id)])
    this.#keysOf.delete(id)
    return keys.length
  }

  // Login tokens

  /** Whether a valid, unexpired token was ended since: by itself, or with all of its account. */
  isEnded(account: AccountRecord, token: { tokenId: string; generation: number }): boolean {
    return token.generation !== account.tokenGeneration || this.#endedTokens.has(token.tokenId)
  }

  /**
   * Ends one token; false when it was ended before. With one more than are remembered of an account, all of its tokens are
   * ended.
   */
  async endToken(account: AccountRecord, token: EndedToken): Promise<boolean> {
    if (this.#endedTokens.has(token.tokenId)) return false
    const removals = this.#removeExpiredTokens(account.id)
    const isOver = (this.#endedTokensOf.get(account.id)?.size ?? 0) >= endedTokensPerAccountMax
    if (isOver) {
      await Promise.all([...removals, this.endTokens(account)])
      return true
    }
    this.#addEndedToken(token)
    for (const watcher of this.#watchers) watcher.onTokenEnded?.(token.tokenId)
    await Promise.all([...removals, this.#storage.putEndedToken(token)])
    return true
  }

  /** Forgets the tokens that have expired: of one account, or of all. */
  #removeExpiredTokens(account: AccountId | null): Promise<void>[] {
    const nowMs = this.#clock.nowMs()
    const ids = account === null ? this.#endedTokens.keys() : this.#endedTokensOf.get(account)
    const removals: Promise<void>[] = []
    for (const id of [...(ids ?? [])]) {
      const token = this.#endedTokens.get(id)
      if (token !== undefined && token.expiresAtMs <= nowMs)
        removals.push(this.#removeEndedToken(token))
    }
    return removals
  }

  #removeEndedTokens(account: AccountId): Promise<void>[] {
    return [...(this.#endedTokensOf.get(account) ?? [])].flatMap((id) => {
      const token = this.#endedTokens.get(id)
      return token === undefined ? [] : [this.#removeEndedToken(token)]
    })
  }

  #addEndedToken(token: EndedToken): void {
    this.#endedTokens.set(token.tokenId, token)
    const ids = this.#endedTokensOf.get(token.accountId)
    if (ids === undefined) this.#endedTokensOf.set(token.accountId, new Set([token.tokenId]))
    else ids.add(token.tokenId)
  }

  #removeEndedToken({ tokenId, accountId: account }: EndedToken): Promise<void> {
    this.#endedTokens.delete(tokenId)
    const ids = this.#endedTokensOf.get(account)
    ids?.delete(tokenId)
    if (ids?.size === 0) this.#endedTokensOf.delete(account)
    return this.#storage.removeEndedToken(tokenId)
  }

  // What another process decides

  /** Takes a record as the owner of accounts wrote it; watchers hear what has ended with it. */
  follow(entry: AccountEntry): void {
    switch (entry.kind) {
      case 'account':
        return this.#followAccount(entry.account)
      case 'key':
        return this.#indexKey(entry.key)
      case 'token': {
        const { token } = entry
        if (this.#endedTokens.has(token.tokenId)) return
        this.#addEndedToken(token)
        for (const watcher of this.#watchers) watcher.onTokenEnded?.(token.tokenId)
        return
      }
      case 'gone':
        if (entry.of === 'key') this.#followRevoked(keyId(entry.id))
        else if (entry.of === 'account') this.#followRemoval(accountId(entry.id))
    }
  }

  /** Ends what the owner of accounts says has ended; its record comes after the word. */
  followEnd({ of, id }: Revocation): void {
    if (of === 'key') this.#followRevoked(keyId(id))
    else if (of === 'account') {
      const account = this.find(accountId(id))
      if (account !== null) this.#followAccount({ ...account, isDisabled: true })
    } else {
      // The generation of the account's tokens, or the token's record, is on its way; its streams end at once.
      for (const watcher of this.#watchers) {
        if (of === 'token') watcher.onTokenEnded?.(id)
        else watcher.onTokensEnded?.(accountId(id))
      }
    }
  }

  #followAccount(account: AccountRecord): void {
    const before = this.find(account.id)
    if (before !== null && before.email !== account.email) this.#removeEmail(before.email)
    this.#indexAccount(account)
    if (before === null) return
    for (const watcher of this.#watchers) {
      if (before.tokenGeneration !== account.tokenGeneration) watcher.onTokensEnded?.(account.id)
      if (account.isDisabled && !before.isDisabled)
        watcher.onAccountDeactivated?.(account.id, 'disabled')
      if (before.isDisabled && !account.isDisabled) watcher.onAccountEnabled?.(account.id)
      watcher.onLimits?.(account.id, limitsOf(account))
    }
  }

  #followRevoked(id: KeyId): void {
    const record = this.#keys.get(id)
    if (record === undefined) return
    this.#dropKey(record)
    this.#notifyRevoked(id)
  }

  #followRemoval(id: AccountId): void {
    const account = this.find(id)
    if (account === null) return
    this.#accounts.delete(id)
    this.#removeEmail(account.email)
    for (const key of this.keysOf(id)) this.#followRevoked(key.id)
    this.#keysOf.delete(id)
    this.#notifyDeactivated(id, 'deleted')
  }

  // Keys

  /** Whether a key is valid. */
  hasKey(id: KeyId): boolean {
    return this.#keys.has(id)
  }

  /** The key with this text, whose use is noted; null for a malformed, unknown or revoked one. */
  use(key: string): KeyRecord | null {
    const id = this.#idOf(key)
    const record = id === undefined ? undefined : this.#keys.get(id)
    if (record === undefined) return null
    this.#lastUsed.set(record.id, this.#clock.nowMs())
    return record
  }

  /** The id of a key's text, which is hashed once, and not for every request. */
  #idOf(key: string): KeyId | undefined {
    const cached = this.#usedKeys.get(key)
    if (cached !== undefined || !isKeyShaped(key)) return cached
    const id = this.#byHash.get(hashKey(key))
    if (id === undefined) return undefined
    if (this.#usedKeys.size >= USED_KEYS_MAX) this.#usedKeys.clear()
    this.#usedKeys.set(key, id)
    return id
  }

  keysOf(account: AccountId): readonly KeyRecord[] {
    return [...(this.#keysOf.get(account) ?? [])].flatMap((id) => this.#keys.get(id) ?? [])
  }

  viewsOf(account: AccountId): readonly KeyView[] {
    return this.keysOf(account).map((record) => this.#viewOf(record))
  }

  /**
   * Adds a key; its text is in this answer alone. Rejects with BAD_REQUEST when the account has as many as it may, with
   * UNAUTHORIZED when it is disabled or gone, or goes meanwhile.
   */
  async addKey(
    account: AccountId,
    label: string,
    scopes: readonly KeyScope[] = ['read'],
  ): Promise<{ view: KeyView; key: string }> {
    if (!this.isActive(account)) throw invalidCredential()
    if ((this.#keysOf.get(account)?.size ?? 0) >= keysPerAccountMax) {
      throw new EngineError('BAD_REQUEST', `an account has at most ${keysPerAccountMax} keys`)
    }
    return this.makeKey(account, label, scopes)
  }

  /** The same without these checks: for the local account. */
  async makeKey(
    account: AccountId,
    label: string,
    scopes: readonly KeyScope[] = KEY_SCOPES,
  ): Promise<{ view: KeyView; key: string }> {
    const key = makeKey()
    const record: KeyRecord = {
      id: keyId(`key_${randomBytes(9).toString('hex')}`),
      accountId: account,
      hash: hashKey(key),
      prefix: keyPrefix(key),
      label,
      scopes: scopesOf(scopes),
      createdAtMs: this.#clock.nowMs(),
      lastUsedAtMs: null,
    }
    // In memory before it is on disk, so that the limit counts it; its text is known only with the answer.
    this.#indexKey(record)
    try {
      await this.#storage.putKey(record)
    } catch (error) {
      this.#dropKey(record)
      throw error
    }
    if (!this.#keys.has(record.id)) throw invalidCredential()
    return { view: this.#viewOf(record), key }
  }

  /** False when the account has no such key. */
  async revokeKey(account: AccountId, id: KeyId): Promise<boolean> {
    const record = this.#keys.get(id)
    if (record === undefined || record.accountId !== account) return false
    this.#dropKey(record)
    this.#notifyRevoked(id)
    await this.#storage.removeKey(id)
    return true
  }

  /** Writes when keys were last used, and forgets expired tokens. Called at leisure, and at the end. */
  async saveUse(): Promise<void> {
    await Promise.all(this.#removeExpiredTokens(null))
    let batch: Promise<void>[] = []
    for (const [id, lastUsedAtMs] of this.#lastUsed) {
      const record = this.#keys.get(id)
      if (record === undefined || record.lastUsedAtMs === lastUsedAtMs) continue
      batch.push(this.#saveUseOf({ ...record, lastUsedAtMs }))
      // Many in one commit: a thousand keys one after another would outlast a shutdown.
      if (batch.length < USES_PER_COMMIT) continue
      await Promise.all(batch)
      batch = []
    }
    await Promise.all(batch)
  }

  async #saveUseOf(used: KeyRecord): Promise<void> {
    await this.#storage.putKey(used)
    if (this.#keys.has(used.id)) this.#keys.set(used.id, used)
  }

  #viewOf({ id, label, scopes, prefix, createdAtMs, lastUsedAtMs }: KeyRecord): KeyView {
    const usedAtMs = this.#lastUsed.get(id) ?? lastUsedAtMs
    return { id, label, scopes, prefix, createdAtMs, lastUsedAtMs: usedAtMs }
  }

  #notifyRevoked(key: KeyId): void {
    for (const watcher of this.#watchers) watcher.onRevoked?.(key)
  }

  #notifyDeactivated(account: AccountId, reason: DeactivationReason): void {
    for (const watcher of this.#watchers) watcher.onAccountDeactivated?.(account, reason)
  }

  #indexAccount(account: AccountRecord): void {
    this.#accounts.set(account.id, account)
    this.#byEmail.set(account.email, account.id)
    const skeleton = emailSkeleton(account.email)
    if (skeleton !== account.email) this.#bySkeleton.set(skeleton, account.id)
  }

  #removeEmail(email: string): void {
    this.#byEmail.delete(email)
    this.#bySkeleton.delete(emailSkeleton(email))
  }

  #indexKey(record: KeyRecord): void {
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

/** The account went after its credential was checked. */
function invalidCredential(): EngineError {
  return new EngineError('UNAUTHORIZED', 'missing or invalid credential')
}
