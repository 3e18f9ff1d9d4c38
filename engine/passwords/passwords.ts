// Passwords: hashed and checked with argon2id in one thread, behind a bounded queue. A
// request that has waited too long is refused when its turn comes, so that no hash is made for a client that has gone,
// and the thread is never ended in the middle of one.
// Not for: which account has which password (actors/accounts/accounts.ts). Upholds PASS1 to PASS4.

import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../clock.ts'
import { EngineError } from '../errors.ts'
import { passwordQueueMax, passwordWaitMsMax } from '../limits.ts'
import { openPool, type Pool } from '../pool.ts'
import { ARGON2ID, type PasswordResult, type PasswordTask } from './task.ts'

export interface PasswordPool {
  /** An encoded hash that no password has: to check against it takes as long as against a real one. */
  readonly nobodys: string
  /** The encoded argon2id hash with a fresh salt. Rejects with EngineError when too many wait. */
  hash(password: string): Promise<string>
  /** Whether the password belongs to the hash; false for a broken hash. Rejects as `hash` does. */
  verify(password: string, encoded: string): Promise<boolean>
  close(): Promise<void>
}

/** What one hash takes at most; a thread that needs longer hangs, and is replaced. */
const HANG_MS = 30_000
const SALT_BYTES = 16

type HashThread = Pool<PasswordTask, PasswordResult>

/** The first task starts the thread, which takes less than a hash does; it ends after half a minute without one, with its 19 MiB. */
export function openPasswordPool(
  clock: Clock = systemClock,
  thread: HashThread = openThread(),
): PasswordPool {
  const line = new Line(clock, thread)
  return {
    nobodys: encoded(randomBytes(SALT_BYTES), randomBytes(ARGON2ID.hashLength)),
    async hash(password) {
      const result = await line.run({ kind: 'hash', password, salt: randomBytes(SALT_BYTES) })
      if (result.kind === 'hashed') return result.encoded
      throw new EngineError('INTERNAL', 'the password was not hashed')
    },
    async verify(password, hash) {
      const result = await line.run({ kind: 'verify', password, encoded: hash })
      return result.kind === 'verified' && result.isRight
    },
    close: () => thread.close(),
  }
}

function openThread(): HashThread {
  return openPool<PasswordTask, PasswordResult>({
    worker: new URL('./worker.ts', import.meta.url),
    threads: 1,
    queueMax: passwordQueueMax,
    timeoutMs: HANG_MS,
    isResult,
  })
}

interface Waiting {
  readonly task: PasswordTask
  readonly sinceMs: number
  readonly resolve: (result: Promise<PasswordResult>) => void
  readonly reject: (error: EngineError) => void
}

/** One task at a time, in their order. */
class Line {
  readonly #clock: Clock
  readonly #thread: HashThread
  readonly #waiting: Waiting[] = []
  #isBusy = false

  constructor(clock: Clock, thread: HashThread) {
    this.#clock = clock
    this.#thread = thread
  }

  run(task: PasswordTask): Promise<PasswordResult> {
    if (this.#waiting.length >= passwordQueueMax) return Promise.reject(tooMany())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, sinceMs: this.#clock.monotonicMs(), resolve, reject })
      if (!this.#isBusy) this.#next()
    })
  }

  #next(): void {
    for (;;) {
      const first = this.#waiting.shift()
      this.#isBusy = first !== undefined
      if (first === undefined) return
      if (this.#clock.monotonicMs() - first.sinceMs > passwordWaitMsMax) {
        first.reject(tooMany())
        continue
      }
      const result = this.#thread.run(first.task)
      first.resolve(result)
      const goOn = () => this.#next()
      result.then(goOn, goOn)
      return
    }
  }
}

/** What comes back in a few seconds finds the queue of now gone. */
function tooMany(): EngineError {
  const options = { retryAfterSeconds: Math.ceil(passwordWaitMsMax / 1_000) }
  return new EngineError('UNAVAILABLE', 'too many passwords are being checked, try again', options)
}

/** In the form that argon2 libraries write. */
function encoded(salt: Buffer, hash: Buffer): string {
  const { memorySize, iterations, parallelism } = ARGON2ID
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  return `$argon2id$v=19$m=${memorySize},t=${iterations},p=${parallelism}$${text(salt)}$${text(hash)}`
}

function isResult(value: unknown): value is PasswordResult {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  if (value.kind === 'hashed') return 'encoded' in value && typeof value.encoded === 'string'
  return value.kind === 'verified' && 'isRight' in value && typeof value.isRight === 'boolean'
}
