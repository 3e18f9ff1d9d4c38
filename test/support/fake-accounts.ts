// Accounts for tests of the face, without disk or hashing: an account has one key and one token whose
// names follow from its own. Not for: real quotas and windows (actors/accounts.ts).

import type { AccountWatcher } from '../../actors/account-directory.ts'
import type { AccountsView, Caller, KeyView, Quota, Session } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { type AccountId, accountId, type KeyId, keyId } from '../../engine/ids.ts'
import { toSeconds } from '../../engine/units.ts'

interface FakeAccount {
  readonly caller: Caller
  usedCount: number
  socketCount: number
}

/** Accounts without disk or hashing; windows never end unless the test resets them. */
export class FakeAccounts implements AccountsView {
  readonly accounts = new Map<AccountId, FakeAccount>()
  readonly keyRows = new Map<string, { accountId: AccountId; view: KeyView }>()
  readonly tokens = new Map<string, AccountId>()
  readonly #addresses = new Map<string, number>()
  /** For tests to tell of what happens to accounts. */
  readonly watchers: AccountWatcher[] = []
  readonly #clock: Clock
  addressLimit = 600

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** An account with one key `<name>-key` and one token `<name>-token`. */
  make(name: string, set: Partial<Caller> = {}): void {
    const caller: Caller = {
      accountId: accountId(`acc_${name}`),
      email: `${name}@example.com`,
      tier: 'free',
      createdAtMs: this.#clock.nowMs(),
      requestsPerMinute: 60,
      socketsMax: 2,
      keyId: null,
      ...set,
    }
    this.accounts.set(caller.accountId, { caller, usedCount: 0, socketCount: 0 })
    this.tokens.set(`${name}-token`, caller.accountId)
    this.#addKey(caller.accountId, `${name}-key`, 'first')
  }

  #addKey(account: AccountId, key: string, label: string): KeyView {
    const view = {
      id: keyId(`key_${this.keyRows.size + 1}`),
      label,
      prefix: key.slice(0, 4),
      createdAtMs: this.#clock.nowMs(),
      lastUsedAtMs: null,
    }
    this.keyRows.set(key, { accountId: account, view })
    return view
  }

  callerOfKey(key: string): Caller | null {
    const row = this.keyRows.get(key)
    const account = row === undefined ? undefined : this.accounts.get(row.accountId)
    return row === undefined || account === undefined
      ? null
      : { ...account.caller, keyId: row.view.id }
  }

  callerOfToken(token: string): Caller | null {
    const account = this.tokens.get(token)
    return account === undefined ? null : (this.accounts.get(account)?.caller ?? null)
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

  takeAddressRequest(address: string): Quota {
    this.#addresses.set(address, (this.#addresses.get(address) ?? 0) + 1)
    return this.peekAddress(address)
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
    if (this.accounts.has(accountId(`acc_${name}`))) {
      throw new EngineError('BAD_REQUEST', 'this e-mail has an account already')
    }
    this.make(name)
    return this.logIn(request)
  }

  async logIn(request: { email: string; password: string }): Promise<Session> {
    const name = request.email.split('@')[0] ?? ''
    const account = this.accounts.get(accountId(`acc_${name}`))
    if (account === undefined || request.password === 'wrong') {
      throw new EngineError('UNAUTHORIZED', 'wrong e-mail or password')
    }
    return { caller: account.caller, accessToken: `${name}-token`, expiresInSeconds: 86_400 }
  }

  keys(account: AccountId): readonly KeyView[] {
    return [...this.keyRows.values()]
      .filter((row) => row.accountId === account)
      .map((row) => row.view)
  }

  async createKey(account: AccountId, label: string) {
    const key = `pmk_${this.keyRows.size + 1}`
    return { view: this.#addKey(account, key, label), key }
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
