// Passwords: hashed and checked with argon2id in a pool of one thread with a bounded queue.
// Not for: who has which password (actors/accounts.ts). Upholds PASS1, PASS2.

import { randomBytes } from 'node:crypto'
import { EngineError } from '../errors.ts'
import { passwordQueueMax } from '../limits.ts'
import { openPool } from '../pool.ts'
import type { PasswordResult, PasswordTask } from './task.ts'

export interface PasswordPool {
  /** The encoded argon2id hash with a fresh salt. Rejects with EngineError when the queue is full. */
  hash(password: string): Promise<string>
  /** Whether the password belongs to the hash; false for a broken hash. */
  verify(password: string, encoded: string): Promise<boolean>
  close(): Promise<void>
}

const TIMEOUT_MS = 10_000

export function openPasswordPool(): PasswordPool {
  const pool = openPool<PasswordTask, PasswordResult>({
    worker: new URL('./worker.ts', import.meta.url),
    threads: 1,
    queueMax: passwordQueueMax,
    timeoutMs: TIMEOUT_MS,
    isResult,
  })
  return {
    async hash(password) {
      const result = await pool.run({ kind: 'hash', password, salt: randomBytes(16) })
      if (result.kind === 'hashed') return result.encoded
      throw new EngineError('INTERNAL', 'the password was not hashed')
    },
    async verify(password, encoded) {
      const result = await pool.run({ kind: 'verify', password, encoded })
      return result.kind === 'verified' && result.isRight
    },
    close: () => pool.close(),
  }
}

function isResult(value: unknown): value is PasswordResult {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  if (value.kind === 'hashed') return 'encoded' in value && typeof value.encoded === 'string'
  return value.kind === 'verified' && 'isRight' in value && typeof value.isRight === 'boolean'
}
