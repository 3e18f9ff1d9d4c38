// Real accounts over in-memory storage and a manual clock, with instant password hashing that counts its work.

import { createHash } from 'node:crypto'
import { Accounts } from '../../../actors/accounts/accounts.ts'
import type { PasswordPool } from '../../../engine/passwords/passwords.ts'
import { openMemoryStorage } from '../reference/memory.ts'
import { ManualClock } from './manual-clock.ts'

export const QUICK_SECRET = 'a secret of at least thirty-two bytes'

/** Hashes at once and counts its calls: equal work is what hides unknown e-mail addresses. */
class QuickPasswords implements PasswordPool {
  readonly decoyHash = 'of nobody'
  hashed = 0
  verified = 0
  /** Set it to fail the next calls, as a full queue does. */
  refusal: Error | null = null
  /** Set it to delay results until it resolves. */
  gate: Promise<void> = Promise.resolve()

  async hash(password: string): Promise<string> {
    if (this.refusal !== null) throw this.refusal
    this.hashed += 1
    await this.gate
    return createHash('sha256').update(password).digest('hex')
  }

  async verify(password: string, encoded: string): Promise<boolean> {
    if (this.refusal !== null) throw this.refusal
    this.verified += 1
    await this.gate
    return createHash('sha256').update(password).digest('hex') === encoded
  }

  async close(): Promise<void> {}
}

/** Accounts whose parts a test controls; `reopen` is a restart on the same storage. */
export function openQuickAccounts(clock = new ManualClock(), storage = openMemoryStorage()) {
  const passwords = new QuickPasswords()
  const reopen = () =>
    new Accounts({
      storage: storage.accounts,
      clock,
      passwords,
      jwtSecret: QUICK_SECRET,
      signUpsPerHour: 1_000,
    })
  return { accounts: reopen(), reopen, clock, passwords, storage }
}
