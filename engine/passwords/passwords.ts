// Hashes and verifies passwords with argon2id in one worker thread. Networks are served in turn. A request that has
// waited too long is rejected without hashing, because its client has timed out.

import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../clock.ts'
import { EngineError } from '../errors.ts'
import { FairQueue } from '../fair-queue.ts'
import { passwordQueueMax, passwordWaitMsMax, signUpQueueMax } from '../limits.ts'
import { openPool, type Pool } from '../pool.ts'
import { ARGON2ID, type PasswordResult, type PasswordTask } from './password-task.ts'

export interface PasswordPool {
  /** An encoded hash that no password matches. Verifying against it takes as long as against a real hash. */
  readonly decoyHash: string
  /** Returns the encoded argon2id hash with a new salt. Rejects with EngineError UNAVAILABLE if the queue is full. */
  hash(password: string, requester: HashRequester): Promise<string>
  /** False if the password is wrong or the hash is malformed. Rejects like `hash`. */
  verify(password: string, encoded: string, requester: HashRequester): Promise<boolean>
  close(): Promise<void>
}

/**
 * Each class of requests has a share of the thread. Within a class, networks are served in turn.
 * - `known`: half of the thread, for requesters with a token or with an earlier log-in from their network.
 * - `logIn`: a quarter, for any other log-in.
 * - `signUp`: a quarter. Anyone can sign up, so log-ins must not wait for sign-ups.
 *
 * A class without requests leaves its share to the other classes.
 */
export interface HashRequester {
  /** An IPv4 address, the /48 of an IPv6 address, or an account. */
  readonly network: string
  readonly class: 'known' | 'logIn' | 'signUp'
}

const HANG_MS = 30_000
const SALT_BYTES = 16

type HashThread = Pool<PasswordTask, PasswordResult>

/** The first task starts the thread. The thread ends after half a minute without a task, which frees 19 MiB. */
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
    queueMax: 1,
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

class AlternatingQueues {
  #first: Pick<FairQueue<Waiting>, 'next'>
  #second: Pick<FairQueue<Waiting>, 'next'>

  constructor(first: Pick<FairQueue<Waiting>, 'next'>, second: Pick<FairQueue<Waiting>, 'next'>) {
    this.#first = first
    this.#second = second
  }

  next(): Waiting | null {
    const taken = this.#first.next()
    if (taken === null) return this.#second.next()
    const first = this.#first
    this.#first = this.#second
    this.#second = first
    return taken
  }
}

class HashQueue {
  readonly #clock: Clock
  readonly #thread: HashThread
  readonly #queues = {
    known: new FairQueue<Waiting>(passwordQueueMax),
    logIn: new FairQueue<Waiting>(passwordQueueMax),
    signUp: new FairQueue<Waiting>(signUpQueueMax),
  }
  readonly #tasks = new AlternatingQueues(
    this.#queues.known,
    new AlternatingQueues(this.#queues.logIn, this.#queues.signUp),
  )
  #isBusy = false

  constructor(clock: Clock, thread: HashThread) {
    this.#clock = clock
    this.#thread = thread
  }

  run(task: PasswordTask, requester: HashRequester): Promise<PasswordResult> {
    return new Promise((resolve, reject) => {
      const waiting = { task, sinceMs: this.#clock.monotonicMs(), resolve, reject }
      this.#queues[requester.class].add([requester.network], waiting)?.reject(tooMany())
      if (!this.#isBusy) this.#next()
    })
  }

  #next(): void {
    for (;;) {
      const first = this.#tasks.next()
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

function tooMany(): EngineError {
  const options = { retryAfterSeconds: Math.ceil(passwordWaitMsMax / 1_000) }
  return new EngineError('UNAVAILABLE', 'too many passwords are being checked, try again', options)
}

/** The PHC string format of argon2 hashes. */
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
