// Hashes and checks passwords with argon2id in one thread, behind a queue that is shared fairly between networks. A request
// that has waited too long is refused when its turn comes, so that no hash is made for a client that has gone.

import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../clock.ts'
import { EngineError } from '../errors.ts'
import { FairQueue } from '../fair-queue.ts'
import { passwordQueueMax, passwordWaitMsMax } from '../limits.ts'
import { openPool, type Pool } from '../pool.ts'
import { ARGON2ID, type PasswordResult, type PasswordTask } from './password-task.ts'

export interface PasswordPool {
  /** An encoded hash that no password has: to check against it takes as long as against a real one. */
  readonly decoyHash: string
  /** The encoded argon2id hash with a fresh salt. Rejects with EngineError UNAVAILABLE when too many wait. */
  hash(password: string, requester: HashRequester): Promise<string>
  /** Whether the password belongs to the hash; false for a broken hash. Rejects as `hash` does. */
  verify(password: string, encoded: string, requester: HashRequester): Promise<boolean>
  close(): Promise<void>
}

/** Who has a password hashed. Known and unknown requesters have half of the thread each, and networks take turns. */
export interface HashRequester {
  /** An IPv4 address, the /48 of an IPv6 one, or an account. */
  readonly network: string
  /** It logged in from there before, or has a token. */
  readonly isTrusted: boolean
}

/** What one hash takes at most; a thread that needs longer hangs, and is replaced. */
const HANG_MS = 30_000
const SALT_BYTES = 16
/** Of known requesters, and as many of unknown ones. */
const CLASS_WAITING_MAX = passwordQueueMax / 2

type HashThread = Pool<PasswordTask, PasswordResult>

/** The first task starts the thread, which takes less than a hash does; it ends after half a minute without one, with its 19 MiB. */
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

/** One task at a time: known and unknown requesters in turn, and within each their networks in turn. */
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
    // Whoever comes first while the other class has the thread waits for that one task alone.
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
