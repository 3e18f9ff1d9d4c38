// Runs many users in a separate process, so that they do not slow the engine whose stream they read.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TrueTrade } from '../reference/client-ledger.ts'

export interface SimulatedUsersOptions {
  readonly seed: string
  readonly host: string
  readonly port: number
  readonly apiKey: string
  readonly clients: number
  /** One in `wideEvery` clients follows all trades instead of single markets. 0: no client does. */
  readonly wideEvery: number
  readonly marketIds: readonly string[]
  readonly marketsPerClient: number
  /**
   * null: direct connections. `gateways`: each connection goes to a random port of these and is reset within
   * `lifeMsMax`.
   */
  readonly rough: {
    readonly lifeMsMax: number
    readonly gateways?: readonly number[]
  } | null
}

export type SimulatedUsersRequest =
  | { readonly kind: 'ready' }
  /** Compares client books with REST books during `forMs`, while the books change. */
  | { readonly kind: 'sample'; readonly forMs: number }
  | { readonly kind: 'calm' }
  | { readonly kind: 'check'; readonly trades: readonly TrueTrade[] }

export interface SimulatedUsersReport {
  readonly clients: number
  readonly live: number
  readonly states: Readonly<Record<string, number>>
  readonly counts: Readonly<Record<string, number>>
  readonly gaps: Readonly<Record<string, number>>
  readonly proxy: Readonly<Record<string, number>> | null
  readonly faults: readonly string[]
  readonly trades: {
    readonly due: number
    readonly handed: number
    readonly announced: number
    readonly missing: readonly string[]
    readonly extra: readonly string[]
  }
  readonly books: { readonly compared: number; readonly wrong: readonly string[] }
  readonly loop: { readonly p50Ms: number; readonly p99Ms: number; readonly cpuSeconds: number }
}

/** REST books, compared with a client's books at the same seq. */
export interface SampleReport {
  readonly asked: number
  readonly equal: number
  readonly different: readonly string[]
  /** The client was disconnected or did not reach the seq, so the books were not compared. */
  readonly unknown: number
}

export interface SimulatedUsersReplies {
  ready: { readonly live: number; readonly rejected: readonly string[] }
  sample: SampleReport
  calm: null
  check: SimulatedUsersReport
}

/** Losses that clients detected themselves. Without a faulty network each of them is a defect. */
export function unannounced({ gaps }: SimulatedUsersReport): readonly string[] {
  const causes = ['seq_hole', 'checksum', 'no_base', 'replay_short']
  return Object.keys(gaps).filter((name) => causes.some((cause) => name.endsWith(` ${cause}`)))
}

const FILE = fileURLToPath(new URL('./simulated-users-process.ts', import.meta.url))

export class SimulatedUsers {
  readonly #child: ChildProcess
  readonly #waiting: ((text: string) => void)[] = []
  readonly #exited: Promise<void>
  #failure: string | null = null

  constructor(options: SimulatedUsersOptions) {
    this.#child = fork(FILE, [JSON.stringify(options)], {
      execArgv: ['--import', import.meta.resolve('tsx')],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', (text) => this.#waiting.shift()?.(String(text)))
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#failure = `the crowd ended: ${code ?? signal}`
        for (const answer of this.#waiting.splice(0)) answer('null')
        resolve()
      })
    })
  }

  static start(options: SimulatedUsersOptions): SimulatedUsers {
    return new SimulatedUsers(options)
  }

  /** Responses arrive in the order of the requests. */
  async ask<Kind extends SimulatedUsersRequest['kind']>(
    question: SimulatedUsersRequest & { kind: Kind },
  ): Promise<SimulatedUsersReplies[Kind]> {
    if (this.#failure !== null) throw new Error(this.#failure)
    const answered = new Promise<string>((resolve) => this.#waiting.push(resolve))
    this.#child.send(JSON.stringify(question))
    const text = await answered
    if (this.#failure !== null) throw new Error(this.#failure)
    return JSON.parse(text)
  }

  async stop(): Promise<void> {
    if (this.#failure === null) this.#child.kill('SIGKILL')
    await this.#exited
  }
}
