// All accounts and keys in memory. A change takes effect at once and resolves when it is on disk.

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
import {
  endedTokensPerAccountMax,
  keysPerAccountMax,
  watchlistMarketsMax,
} from '../../engine/limits.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { AccountEntry } from '../../storage/cluster-accounts.ts'
import type {
  AccountRecord,
  AccountTable,
  EndedToken,
  KeyRecord,
} from '../../storage/contract/storage.ts'
import type { KeyView } from '../views.ts'

/** A disabled account can be enabled again with all its keys. A deletion is final. */
export type DeactivationReason = 'disabled' | 'deleted'

/**
 * Callbacks run synchronously with a change, before it is on disk. Their writes to the same LMDB environment are in the
 * same transaction. Callbacks must not throw.
 */
export interface AccountWatcher {
  onRevoked?(key: KeyId): void
  onTokenEnded?(tokenId: string): void
  /** The keys of the account stay valid. */
  onTokensEnded?(account: AccountId): void
  /** The watcher must end all requests, streams and webhooks of the account. */
  onAccountDeactivated?(account: AccountId, reason: DeactivationReason): void
  onAccountEnabled?(account: AccountId): void
  onLimits?(account: AccountId, limits: { requestsPerMinute: number; socketsMax: number }): void
}

const USED_KEYS_MAX = 10_000
const USES_PER_COMMIT = 500

export class AccountDirectory {
  readonly #storage: AccountTable
  readonly #clock: Clock
  readonly #accounts = new Map<AccountId, AccountRecord>()
  readonly #byEmail = new Map<string, AccountId>()
  /** Only accounts whose e-mail differs from its skeleton. E-mails that look alike have the same skeleton. */
  readonly #bySkeleton = new Map<string, AccountId>()
  readonly #keys = new Map<KeyId, KeyRecord>()
  readonly #byHash = new Map<string, KeyId>()
  /** Key ids by key text, so that each text is hashed once. May contain revoked keys. */
  readonly #usedKeys = new Map<string, KeyId>()
  readonly #lastUsed = new Map<KeyId, TimeMs>()
  readonly #keysOf = new Map<AccountId, Set<KeyId>>()
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

  /** Also returns disabled accounts. */
  find(id: AccountId): AccountRecord | null {
    return this.#accounts.get(id) ?? null
  }

  /** Case-insensitive. Also returns disabled accounts. */
  findByEmail(email: string): AccountRecord | null {
    const id = this.#byEmail.get(email.toLowerCase()) ?? this.#byEmail.get(normalizedEmail(email))
    return id === undefined ? null : this.find(id)
  }

  findLookAlike(email: string): AccountRecord | null {
    const normalized = normalizedEmail(email)
    const skeleton = emailSkeleton(normalized)
    const id = this.#byEmail.get(skeleton) ?? this.#bySkeleton.get(skeleton)
    const account = id === undefined ? null : this.find(id)
    return account === null || account.email === normalized ? null : account
  }

  isActive(id: AccountId): boolean {
    const account = this.find(id)
    return account !== null && !account.isDisabled
  }

  /** Sorted by e-mail, starting after the e-mail `after`. Null: from the start. */
  list(after: string | null, limit: number): readonly AccountRecord[] {
    let first: string[] = []
    let last: string | null = null
    // Sorts one page only, because sorting all accounts would block the event loop.
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

  /** The e-mail must be new and in lower case. Lookups find the account when it is on disk. */
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

  // The methods below take a record that was looked up in the same event-loop tick. Memory changes at once, so that
  // concurrent changes do not overwrite each other.

  /** Null: the limit of the tier. */
  setTier(
    account: AccountRecord,
    set: Pick<AccountRecord, 'tier' | 'requestsPerMinute' | 'socketsMax' | 'deliveriesPerSecond'>,
  ): Promise<AccountRecord> {
    return this.#change({ ...account, ...set })
  }

  disable(account: AccountRecord): Promise<AccountRecord> {
    return this.#change({ ...account, isDisabled: true })
  }

  /** Keys and tokens from before `disable` are valid again. */
  enable(account: AccountRecord): Promise<AccountRecord> {
    return this.#change({ ...account, isDisabled: false })
  }

  /** Resolves with the new watchlist. Rejects with BAD_REQUEST if it is full. */
  async watchMarket(account: AccountRecord, market: string): Promise<readonly string[]> {
    const { watchlist = [] } = account
    if (watchlist.includes(market)) return watchlist
    if (watchlist.length >= watchlistMarketsMax) {
      throw new EngineError(
        'BAD_REQUEST',
        `a watchlist has at most ${watchlistMarketsMax} markets: remove one first`,
      )
    }
    const changed = [...watchlist, market]
    await this.#change({ ...account, watchlist: changed })
    return changed
  }

  /** Resolves with false if the watchlist does not have the market. */
  async unwatchMarket(account: AccountRecord, market: string): Promise<boolean> {
    const { watchlist = [] } = account
    if (!watchlist.includes(market)) return false
    await this.#change({ ...account, watchlist: watchlist.filter((id) => id !== market) })
    return true
  }

  setPassword(account: AccountRecord, passwordHash: string): Promise<AccountRecord> {
    return this.endTokens({ ...account, passwordHash })
  }

  endTokens(account: AccountRecord): Promise<AccountRecord> {
    const generation = account.tokenGeneration + 1
    return this.#change({ ...account, tokenGeneration: generation }, () =>
      // The new generation invalidates these tokens, so their own records are not needed.
      this.#removeEndedTokens(account.id),
    )
  }

  async #change(
    changed: AccountRecord,
    remove: () => readonly Promise<void>[] = () => [],
  ): Promise<AccountRecord> {
    this.#apply(changed)
    await Promise.all([...remove(), this.#storage.putAccount(changed)])
    return changed
  }

  #apply(account: AccountRecord): void {
    const before = this.find(account.id)
    if (before !== null && before.email !== account.email) this.#removeEmail(before.email)
    this.#indexAccount(account)
    if (before === null) return
    const [limits, limitsBefore] = [limitsOf(account), limitsOf(before)]
    const isLimited =
      limits.requestsPerMinute !== limitsBefore.requestsPerMinute ||
      limits.socketsMax !== limitsBefore.socketsMax
    for (const watcher of this.#watchers) {
      if (before.tokenGeneration !== account.tokenGeneration) watcher.onTokensEnded?.(account.id)
      if (account.isDisabled && !before.isDisabled)
        watcher.onAccountDeactivated?.(account.id, 'disabled')
      if (before.isDisabled && !account.isDisabled) watcher.onAccountEnabled?.(account.id)
      if (isLimited) watcher.onLimits?.(account.id, limits)
    }
  }

  async remove(account: AccountRecord): Promise<number> {
    const { id } = account
    const keys = this.keysOf(id)
    this.#applyRemoval(account)
    const removals = keys.map((key) => this.#storage.removeKey(key.id))
    removals.push(...this.#removeEndedTokens(id))
    await Promise.all([...removals, this.#storage.removeAccount(id)])
    return keys.length
  }

  #applyRemoval({ id, email }: AccountRecord): void {
    this.#accounts.delete(id)
    this.#removeEmail(email)
    for (const key of this.keysOf(id)) this.#applyRevocation(key.id)
    this.#keysOf.delete(id)
    for (const watcher of this.#watchers) watcher.onAccountDeactivated?.(id, 'deleted')
  }

  /** Whether a user ended the token, alone or with all tokens of the account. Does not check the expiry. */
  isEnded(account: AccountRecord, token: { tokenId: string; generation: number }): boolean {
    return token.generation !== account.tokenGeneration || this.#endedTokens.has(token.tokenId)
  }

  /** Returns false if the token had ended before. If an account has too many ended tokens, ends all its tokens. */
  async endToken(account: AccountRecord, token: EndedToken): Promise<boolean> {
    if (this.#endedTokens.has(token.tokenId)) return false
    const removals = this.#removeExpiredTokens(account.id)
    const isOver = (this.#endedTokensOf.get(account.id)?.size ?? 0) >= endedTokensPerAccountMax
    if (isOver) {
      await Promise.all([...removals, this.endTokens(account)])
      return true
    }
    this.#applyEndedToken(token)
    await Promise.all([...removals, this.#storage.putEndedToken(token)])
    return true
  }

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

  #applyEndedToken(token: EndedToken): void {
    if (this.#endedTokens.has(token.tokenId)) return
    this.#addEndedToken(token)
    for (const watcher of this.#watchers) watcher.onTokenEnded?.(token.tokenId)
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

  follow(entry: AccountEntry): void {
    switch (entry.kind) {
      case 'account':
        return this.#apply(entry.account)
      case 'key':
        return this.#indexKey(entry.key)
      case 'token':
        return this.#applyEndedToken(entry.token)
      case 'gone':
        if (entry.of === 'key') this.#applyRevocation(keyId(entry.id))
        else if (entry.of === 'account') {
          const account = this.find(accountId(entry.id))
          if (account !== null) this.#applyRemoval(account)
        }
    }
  }

  followEnd({ of, id }: Revocation): void {
    if (of === 'key') this.#applyRevocation(keyId(id))
    else if (of === 'account') {
      const account = this.find(accountId(id))
      if (account !== null) this.#apply({ ...account, isDisabled: true })
    } else {
      for (const watcher of this.#watchers) {
        if (of === 'token') watcher.onTokenEnded?.(id)
        else watcher.onTokensEnded?.(accountId(id))
      }
    }
  }

  hasKey(id: KeyId): boolean {
    return this.#keys.has(id)
  }

  /** Returns null for a malformed, unknown or revoked key. Records the time of use. */
  use(key: string): KeyRecord | null {
    const id = this.#idOf(key)
    const record = id === undefined ? undefined : this.#keys.get(id)
    if (record === undefined) return null
    this.#lastUsed.set(record.id, this.#clock.nowMs())
    return record
  }

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
   * Only the result contains the text of the key. Rejects with BAD_REQUEST if the account has the maximum number of
   * keys, and with UNAUTHORIZED if the account is disabled or deleted.
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
    // Indexed before the write, so that concurrent calls count the key.
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

  async revokeKey(account: AccountId, id: KeyId): Promise<boolean> {
    const record = this.#keys.get(id)
    if (record === undefined || record.accountId !== account) return false
    this.#applyRevocation(id)
    await this.#storage.removeKey(id)
    return true
  }

  #applyRevocation(id: KeyId): void {
    const record = this.#keys.get(id)
    if (record === undefined) return
    this.#dropKey(record)
    for (const watcher of this.#watchers) watcher.onRevoked?.(id)
  }

  /** Stores the last-use times of keys and removes expired tokens. Called periodically and at shutdown. */
  async saveUse(): Promise<void> {
    await Promise.all(this.#removeExpiredTokens(null))
    let batch: Promise<void>[] = []
    for (const [id, lastUsedAtMs] of this.#lastUsed) {
      const record = this.#keys.get(id)
      if (record === undefined || record.lastUsedAtMs === lastUsedAtMs) continue
      batch.push(this.#saveUseOf({ ...record, lastUsedAtMs }))
      // A commit per key would take too long at shutdown.
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

function invalidCredential(): EngineError {
  return new EngineError('UNAUTHORIZED', 'missing or invalid credential')
}
