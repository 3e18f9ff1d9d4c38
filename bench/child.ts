// A child process of a bench: it takes commands over the channel that `fork` gives and answers with reports, each with a
// `kind`; `failed` says that something is wrong.

import { type ChildProcess, fork } from 'node:child_process'

const ANSWER_MS_MAX = 120_000

/** V8's settings of this process, for all processes of a bench alike: `npm run bench` gives those of `npm start`. */
export const V8_FLAGS = process.execArgv.filter((flag) =>
  /^--(v8-pool|max-semi-space|max-old-space)-size=/.test(flag),
)
/** And those of the C library's allocator, for processes that inherit no environment. */
export const ALLOCATOR = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('MALLOC_') && value !== undefined ? [[name, value]] : [],
  ),
)

/** A TypeScript file of this folder, running, which takes commands and gives reports. */
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

  /** As `next`, of a command that takes up to `workMs` beside. */
  ask<Kind extends string>(
    command: Command,
    kind: Kind,
    workMs = 0,
  ): Promise<Extract<Report, { kind: Kind }>> {
    const answer = this.next(kind, workMs)
    this.tell(command)
    return answer
  }

  /** The next report, which must be of this kind; rejects for another, at the process's end, and after two minutes more. */
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
