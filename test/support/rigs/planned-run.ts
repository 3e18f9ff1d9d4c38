// Delivery times from the planned moment, with and without slow readers beside the normal ones. Server and normal
// readers are separate processes (planned-stream.ts).

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Markets of the fake engine. */
export const MARKETS = 60

/** The publications, from `startMs` of the shared clock on. */
export interface Plan {
  readonly startMs: number
  readonly perSecond: number
  readonly seconds: number
}

export type PlannedQuestion =
  | { readonly kind: 'serve' }
  | { readonly kind: 'publish'; readonly plan: Plan }
  | {
      readonly kind: 'read'
      readonly port: number
      readonly readers: number
      readonly marketIds: readonly string[]
    }
  /** Returns the late deliveries so far; from now on lateness counts from `startMs`. */
  | { readonly kind: 'late'; readonly startMs: number }

/** Late deliveries of a run. */
export interface Late {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
}

/** Milliseconds of a clock that all processes of the machine share, with fractions. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

const FILE = fileURLToPath(new URL('./planned-stream.ts', import.meta.url))

/** One of the two processes; takes one request at a time. */
export class PlannedEnd {
  readonly #child: ChildProcess = fork(FILE, [], {
    execArgv: ['--import', import.meta.resolve('tsx')],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })

  ask<Answer>(question: PlannedQuestion): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const onExit = () => reject(new Error('an end of the stream died'))
      this.#child.once('exit', onExit)
      this.#child.once('message', (text) => {
        this.#child.off('exit', onExit)
        resolve(JSON.parse(String(text)))
      })
      this.#child.send(JSON.stringify(question))
    })
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}
