// Real accounts with in-memory storage, a manual clock and instant password hashing.

import { createHash } from 'node:crypto'
import { Accounts } from '../../../actors/accounts/accounts.ts'
import type { PasswordPool } from '../../../engine/passwords/passwords.ts'
import { openMemoryStorage } from '../reference/memory.ts'
import { ManualClock } from './manual-clock.ts'

export const QUICK_SECRET = 'a secret of at least thirty-two bytes'

/** Counts the hashes, because unknown e-mail addresses must cost as many hashes as known ones. */
class QuickPasswords implements PasswordPool {
  readonly decoyHash = 'of nobody'
  hashed = 0
  verified = 0
  /** Makes the next calls fail, like a full queue. */
  refusal: Error | null = null
  /** Results wait for this promise. */
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

/** `reopen` simulates a restart with the same storage. */
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
