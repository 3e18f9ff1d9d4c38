// Hashes and verifies passwords with argon2id in one thread. Its queue is shared fairly between networks. A
// request that has waited too long is rejected without hashing, because its client has given up.

import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../clock.ts'
import { EngineError } from '../errors.ts'
import { FairQueue } from '../fair-queue.ts'
import { passwordQueueMax, passwordWaitMsMax } from '../limits.ts'
import { openPool, type Pool } from '../pool.ts'
import { ARGON2ID, type PasswordResult, type PasswordTask } from './password-task.ts'

export interface PasswordPool {
  /** An encoded hash that no password matches. Verifying against it takes as long as against a real one. */
  readonly decoyHash: string
  /** The encoded argon2id hash with a fresh salt. Rejects with EngineError UNAVAILABLE when the queue is full. */
  hash(password: string, requester: HashRequester): Promise<string>
  /** Whether the password matches the hash. False for a malformed hash. Rejects as `hash` does. */
  verify(password: string, encoded: string, requester: HashRequester): Promise<boolean>
  close(): Promise<void>
}

/** The requester of a hash. Known and unknown requesters get half of the thread each. Networks take turns. */
export interface HashRequester {
  /** An IPv4 address, the /48 of an IPv6 one, or an account. */
  readonly network: string
  /** The requester logged in from this network before, or has a token. */
  readonly isTrusted: boolean
}

/** Time limit of one hash. A thread that exceeds it hangs, and is replaced. */
const HANG_MS = 30_000
const SALT_BYTES = 16
/** Waiting requests of known requesters, and as many of unknown ones. */
const CLASS_WAITING_MAX = passwordQueueMax / 2

type HashThread = Pool<PasswordTask, PasswordResult>

/**
 * The first task starts the thread, which takes less time than a hash. The thread ends after half a minute
 * without a task, which frees 19 MiB.
 */
export function openPasswordPool(
  clock: Clock = systemClock,
  thread: HashThread = openThread(),
): PasswordPool {
  const queue = new HashQueue(clock, thread)
  return {
    decoyHash: encoded(randomBytes(SALT_BYTES), randomBytes(ARGON2ID.hashLength)),
    async hash(password, requester) {
      const task = { kind: 'hash', password, salt: randomBytes(SALT_BYTES) } as const
      const result = await queue.run(task, requester)
      if (result.kind === 'hashed') return result.encoded
      throw new EngineError('INTERNAL', 'the password was not hashed')
    },
    async verify(password, hash, requester) {
      const result = await queue.run({ kind: 'verify', password, encoded: hash }, requester)
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

/** Runs one task at a time: alternately of known and unknown requesters, and by turns of their networks. */
class HashQueue {
  readonly #clock: Clock
  readonly #thread: HashThread
  readonly #trusted = new FairQueue<Waiting>(CLASS_WAITING_MAX)
  readonly #untrusted = new FairQueue<Waiting>(CLASS_WAITING_MAX)
  #isTrustedNext = true
  #isBusy = false

  constructor(clock: Clock, thread: HashThread) {
    this.#clock = clock
    this.#thread = thread
  }

  run(task: PasswordTask, { network, isTrusted }: HashRequester): Promise<PasswordResult> {
    return new Promise((resolve, reject) => {
      const waiting = { task, sinceMs: this.#clock.monotonicMs(), resolve, reject }
      const queue = isTrusted ? this.#trusted : this.#untrusted
      queue.add([network], waiting)?.reject(tooMany())
      if (!this.#isBusy) this.#next()
    })
  }

  #take(): Waiting | null {
    const [first, second] = this.#isTrustedNext
      ? [this.#trusted, this.#untrusted]
      : [this.#untrusted, this.#trusted]
    const taken = first.next()
    // The first request of one class waits at most for the task of the other class that is running.
    if (taken !== null) this.#isTrustedNext = !this.#isTrustedNext
    return taken ?? second.next()
  }

  #next(): void {
    for (;;) {
      const first = this.#take()
      this.#isBusy = first !== null
      if (first === null) return
      if (this.#clock.monotonicMs() - first.sinceMs > passwordWaitMsMax) {
        first.reject(tooMany())
        continue
      }
      const result = this.#thread.run(first.task)
      first.resolve(result)
      const startNext = () => this.#next()
      result.then(startNext, startNext)
      return
    }
  }
}

/** The queue clears within a few seconds, so a retry then succeeds. */
function tooMany(): EngineError {
  const options = { retryAfterSeconds: Math.ceil(passwordWaitMsMax / 1_000) }
  return new EngineError('UNAVAILABLE', 'too many passwords are being checked, try again', options)
}

/** The PHC string format that argon2 libraries use. */
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
