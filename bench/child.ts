// A child process of a bench, which receives commands and sends reports over the `fork` channel. Each report has a
// `kind`; `failed` is an error.

import { type ChildProcess, fork } from 'node:child_process'

const ANSWER_MS_MAX = 120_000

/** This process's V8 flags, for all child processes of a bench: `npm run bench` sets those of `npm start`. */
export const V8_FLAGS = process.execArgv.filter((flag) =>
  /^--(v8-pool|max-semi-space|max-old-space)-size=/.test(flag),
)
/** Settings of the C library's allocator, for processes that inherit no environment. */
export const ALLOCATOR = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('MALLOC_') && value !== undefined ? [[name, value]] : [],
  ),
)

/** A running TypeScript file of this folder that receives commands and sends reports. */
export class Child<Command, Report> {
  readonly #process: ChildProcess
  readonly #name: string

  constructor(file: string, args: readonly string[] = []) {
    this.#name = [file, ...args].join(' ')
    this.#process = fork(new URL(file, import.meta.url), args, {
      execArgv: [...V8_FLAGS, '--import', 'tsx'],
      serialization: 'json',
    })
  }

  tell(command: Command): void {
    this.#process.send(Object(command))
  }

  /** Sends a command, then as `next`. */
  ask<Kind extends string>(
    command: Command,
    kind: Kind,
    workMs = 0,
  ): Promise<Extract<Report, { kind: Kind }>> {
    const answer = this.next(kind, workMs)
    this.tell(command)
    return answer
  }

  /**
   * The next report, which must be of this kind. Rejects for another kind, at the process's end, and two minutes after
   * `workMs`.
   */
  next<Kind extends string>(kind: Kind, workMs = 0): Promise<Extract<Report, { kind: Kind }>> {
    return new Promise((resolve, reject) => {
      const finish = (act: () => void) => {
        clearTimeout(limit)
        this.#process.off('message', take)
        this.#process.off('exit', onExit)
        act()
      }
      const fail = (why: string) => finish(() => reject(new Error(`${this.#name}: ${why}`)))
      const take = (report: Report) => {
        if (isOf(report, kind)) finish(() => resolve(report))
        else fail(JSON.stringify(report))
      }
      const onExit = (code: number | null) => fail(`ended with ${code}`)
      const limit = setTimeout(() => fail(`said no ${kind}`), workMs + ANSWER_MS_MAX)
      this.#process.on('message', take)
      this.#process.once('exit', onExit)
    })
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#process.kill('SIGKILL')
    await ended
  }
}

function isOf<Report, Kind extends string>(
  report: Report,
  kind: Kind,
): report is Extract<Report, { kind: Kind }> {
  return Reflect.get(Object(report), 'kind') === kind
}
