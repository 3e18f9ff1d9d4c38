// A child process of a bench. The bench calls functions of the process over the `fork` channel (in-child.ts). A call
// fails with the error of the process, or when the process ends.

import { type ChildProcess, fork } from 'node:child_process'

/** Timeout of a call: the maximum of `--seconds` plus two minutes. */
const ANSWER_MS_MAX = 3_720_000

/**
 * V8 flags of this process, which child processes of benches also get. `npm run bench` uses the flags of `npm start`.
 */
export const V8_FLAGS = process.execArgv.filter((flag) =>
  /^--(v8-pool|max-semi-space|max-old-space)-size=/.test(flag),
)
/** Settings of the C library's allocator, for child processes that do not inherit the environment. */
export const ALLOCATOR = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('MALLOC_') && value !== undefined ? [[name, value]] : [],
  ),
)

/** The functions of a child process. Arguments and results are JSON. */
export type Api = Readonly<Record<string, (...args: never[]) => unknown>>

interface Pending {
  resolve(value: never): void
  reject(error: Error): void
}

/** The result of the call with this id. An answer without an id is an error of the process. */
export interface Answer {
  readonly id?: number
  readonly value: never
  readonly error?: string
}

/** A process that runs a TypeScript file of this folder: `new Child<typeof api>('rest/load.ts')`. */
export class Child<Of extends Api> {
  readonly #process: ChildProcess
  readonly #name: string
  readonly #pending = new Map<number, Pending>()
  #callCount = 0
  #failure: Error | null = null

  constructor(file: string, args: readonly string[] = []) {
    this.#name = [file, ...args].join(' ')
    this.#process = fork(new URL(file, import.meta.url), args, {
      execArgv: [...V8_FLAGS, '--import', 'tsx'],
      serialization: 'json',
    })
    this.#process.on('message', ({ id, value, error }: Answer) => {
      if (id === undefined) return this.#fail(error ?? '')
      const pending = this.#pending.get(id)
      this.#pending.delete(id)
      if (error === undefined) pending?.resolve(value)
      else pending?.reject(new Error(`${this.#name}: ${error}`))
    })
    this.#process.once('exit', (code) => this.#fail(`ended with ${code}`))
  }

  #fail(why: string): void {
    this.#failure ??= new Error(`${this.#name}: ${why}`)
    for (const { reject } of this.#pending.values()) reject(this.#failure)
    this.#pending.clear()
  }

  /** Rejects with the first error of the process, even if the error is older than the call. */
  call<Name extends keyof Of & string>(
    name: Name,
    ...args: Parameters<Of[Name]>
  ): Promise<Awaited<ReturnType<Of[Name]>>> {
    const answer = new Promise<Awaited<ReturnType<Of[Name]>>>((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure)
      this.#callCount += 1
      this.#pending.set(this.#callCount, { resolve, reject })
      this.#process.send({ id: this.#callCount, name, args })
    })
    const limit = setTimeout(() => this.#fail(`no answer to ${name}`), ANSWER_MS_MAX)
    // Prevents an unhandled rejection if the call fails before the bench awaits the result.
    answer.catch(() => undefined).finally(() => clearTimeout(limit))
    return answer
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#process.kill('SIGKILL')
    await ended
  }
}
