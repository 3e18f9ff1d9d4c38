// Accounts for API server tests. Keys and token of an account derive from its name. Revoking has no effect.

import type { AccountWatcher } from '../../../actors/accounts/directory.ts'
import type { AccountsView, Caller, KeyView, Quota, Session } from '../../../actors/views.ts'
import { KEY_SCOPES, type KeyScope, scopesOf } from '../../../engine/accounts/account.ts'
import type { Clock } from '../../../engine/clock.ts'
import { EngineError } from '../../../engine/errors.ts'
import { type AccountId, accountId, type KeyId, keyId } from '../../../engine/ids.ts'
import { DAY_MS, timeMs, toSeconds } from '../../../engine/units.ts'

interface FakeAccount {
  readonly caller: Caller
  usedCount: number
  managedCount: number
  dashboardCount: number
  socketCount: number
}

/** Rate windows end only when the test resets them. */
export class FakeAccounts implements AccountsView {
  readonly accounts = new Map<AccountId, FakeAccount>()
  readonly keyRows = new Map<string, { accountId: AccountId; view: KeyView }>()
  readonly tokens = new Map<string, AccountId>()
  readonly readers = new Map<string, AccountId>()
  readonly #addresses = new Map<string, number>()
  readonly #fileBytes = new Map<string, number>()
  /** Tests call these watchers to report account changes. */
  readonly watchers: AccountWatcher[] = []
  readonly #clock: Clock
  addressLimit = 600
  readonly watched = new Map<AccountId, readonly string[]>()
  watchedMax = 100
  fileLimit = Number.MAX_SAFE_INTEGER

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Creates an account with the keys `<name>-key` and `<name>-reader`, and the token `<name>-token`. */
  make(name: string, set: Partial<Caller> = {}): void {
    const caller: Caller = {
      accountId: accountId(`acc_${name}`),
      email: `${name}@example.com`,
      tier: 'free',
      createdAtMs: this.#clock.nowMs(),
      requestsPerMinute: 60,
      socketsMax: 2,
      keyId: null,
      token: { id: name, generation: 0, expiresAtMs: timeMs(this.#clock.nowMs() + DAY_MS) },
      scopes: KEY_SCOPES,
      ...set,
    }
    const counts = { usedCount: 0, managedCount: 0, dashboardCount: 0, socketCount: 0 }
    this.accounts.set(caller.accountId, { caller, ...counts })
    this.tokens.set(`${name}-token`, caller.accountId)
    this.readers.set(`${name}-reader`, caller.accountId)
    this.#addKey(caller.accountId, `${name}-key`, 'first', KEY_SCOPES)
  }

  #addKey(
    account: AccountId,
    key: string,
    label: string,
    scopes: readonly KeyScope[] = ['read'],
  ): KeyView {
    const view = {
      id: keyId(`key_${this.keyRows.size + 1}`),
      label,
      scopes: scopesOf(scopes),
      prefix: key.slice(0, 4),
      createdAtMs: this.#clock.nowMs(),
      lastUsedAtMs: null,
    }
    this.keyRows.set(key, { accountId: account, view })
    return view
  }

  callerOfKey(key: string): Caller | null {
    const reader = this.accounts.get(this.readers.get(key) ?? accountId(''))
    if (reader !== undefined) {
      return { ...reader.caller, keyId: keyId('key_reader'), token: null, scopes: ['read'] }
    }
    const row = this.keyRows.get(key)
    const account = row === undefined ? undefined : this.accounts.get(row.accountId)
    return row === undefined || account === undefined
      ? null
      : { ...account.caller, keyId: row.view.id, token: null, scopes: row.view.scopes }
  }

  callerOfToken(token: string): Caller | null {
    const account = this.tokens.get(token)
    return account === undefined ? null : (this.accounts.get(account)?.caller ?? null)
  }

  isValid({ keyId: id, accountId: account }: Caller): boolean {
    const isKnown = id === null || [...this.keyRows.values()].some(({ view }) => view.id === id)
    return this.accounts.has(account) && (isKnown || id === 'key_reader')
  }

  #quota(limit: number, used: number): Quota {
    const isAllowed = used <= limit
    const resetSeconds = toSeconds(this.#clock.nowMs()) + 30
    return { isAllowed, limit, remaining: Math.max(0, limit - used), resetSeconds }
  }

  takeAccountRequest(id: AccountId): Quota {
    const account = this.accounts.get(id)
    if (account === undefined) throw new Error('no such account')
    account.usedCount += 1
    return this.#quota(account.caller.requestsPerMinute, account.usedCount)
  }

  takeManagementRequest(id: AccountId): Quota {
    const account = this.accounts.get(id)
    if (account === undefined) throw new Error('no such account')
    account.managedCount += 1
    return this.#quota(account.caller.requestsPerMinute, account.managedCount)
  }

  takeDashboardRequest(id: AccountId): Quota {
    const account = this.accounts.get(id)
    if (account === undefined) throw new Error('no such account')
    account.dashboardCount += 1
    return this.#quota(account.caller.requestsPerMinute, account.dashboardCount)
  }

  peekSignIn(): Quota {
    return this.#quota(20, 0)
  }

  takeAddressRequest(address: string): Quota {
    this.#addresses.set(address, (this.#addresses.get(address) ?? 0) + 1)
    return this.peekAddress(address)
  }

  takeAddressFile(address: string, byteCount: number): Quota {
    const used = (this.#fileBytes.get(address) ?? 0) + byteCount
    this.#fileBytes.set(address, used)
    return this.#quota(this.fileLimit, used)
  }

  peekAddress(address: string): Quota {
    return this.#quota(this.addressLimit, this.#addresses.get(address) ?? 0)
  }

  usedBy(address: string): number {
    return this.#addresses.get(address) ?? 0
  }

  openSocket(caller: Caller): { release(): void } | null {
    const account = this.accounts.get(caller.accountId)
    if (account === undefined || account.socketCount >= caller.socketsMax) return null
    account.socketCount += 1
    return {
      release: () => {
        account.socketCount -= 1
      },
    }
  }

  watch(watcher: AccountWatcher): void {
    this.watchers.push(watcher)
  }

  async signUp(request: { email: string; password: string }): Promise<Session> {
    const name = request.email.split('@')[0] ?? ''
    if (name === 'hasty') throw new EngineError('RATE_LIMITED', 'too many attempts')
    if (this.accounts.has(accountId(`acc_${name}`))) {
      throw new EngineError('BAD_REQUEST', 'this e-mail has an account already')
    }
    this.make(name)
    return this.logIn(request)
  }

  async logIn(request: { email: string; password: string }): Promise<Session> {
    const name = request.email.split('@')[0] ?? ''
    if (name === 'hasty') throw new EngineError('RATE_LIMITED', 'too many attempts')
    const account = this.accounts.get(accountId(`acc_${name}`))
    if (account === undefined || request.password === 'wrong') {
      throw new EngineError('UNAUTHORIZED', 'wrong e-mail or password')
    }
    return { caller: account.caller, accessToken: `${name}-token`, expiresInSeconds: 86_400 }
  }

  /** Opens a session of the account `local` if the test created it and it has remaining requests. */
  async openLocalSession(): Promise<Session | null> {
    const local = this.accounts.get(accountId('acc_local'))
    if (local === undefined) return null
    if (local.caller.requestsPerMinute === 0) {
      throw new EngineError('RATE_LIMITED', 'too many attempts')
    }
    return this.logIn({ email: 'local@example.com', password: '' })
  }

  hasPassword(account: AccountId): boolean {
    return account !== 'acc_local'
  }

  async logOut(): Promise<void> {}

  async logOutEverywhere(): Promise<void> {}

  async changePassword(caller: Caller, { current }: { current: string }): Promise<Session> {
    await this.deleteAccount(caller, current)
    return this.logIn({ email: caller.email, password: '' })
  }

  async deleteAccount(_: Caller, password: string): Promise<void> {
    if (password === 'wrong') throw new EngineError('UNAUTHORIZED', 'the password is wrong')
  }

  watchlist(account: AccountId): readonly string[] {
    return this.watched.get(account) ?? []
  }

  async watchMarket(account: AccountId, market: string): Promise<readonly string[]> {
    const list = [...new Set([...this.watchlist(account), market])]
    if (list.length > this.watchedMax) throw new EngineError('BAD_REQUEST', 'the watchlist is full')
    this.watched.set(account, list)
    return list
  }

  async unwatchMarket(account: AccountId, market: string): Promise<boolean> {
    const list = this.watchlist(account)
    this.watched.set(
      account,
      list.filter((id) => id !== market),
    )
    return list.includes(market)
  }

  keys(account: AccountId): readonly KeyView[] {
    return [...this.keyRows.values()]
      .filter((row) => row.accountId === account)
      .map((row) => row.view)
  }

  async createKey(account: AccountId, label: string, scopes?: readonly KeyScope[]) {
    const key = `pmk_${this.keyRows.size + 1}`
    return { view: this.#addKey(account, key, label, scopes), key }
  }

  async revokeKey(account: AccountId, id: KeyId): Promise<boolean> {
    for (const [key, row] of this.keyRows) {
      if (row.view.id !== id || row.accountId !== account) continue
      this.keyRows.delete(key)
      for (const watcher of this.watchers) watcher.onRevoked?.(id)
      return true
    }
    return false
  }
}
