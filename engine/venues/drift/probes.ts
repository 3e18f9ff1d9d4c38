// Runs requests whose only purpose is to check a venue for changes. They run in sequence at the start and every hour. A
// failed probe is not drift.

import { type Clock, pause, type StopTimer } from '../../clock.ts'
import type { Log } from '../../process/log.ts'

/** Records the drift that the probe finds. Rejects if the venue does not respond. */
export type Probe = (signal: AbortSignal) => Promise<void>

/** Delay of the first round after the start, because other requests of the start are more urgent. */
const FIRST_AFTER_MS = 10_000
const EVERY_MS = 3_600_000
const PROBE_MS_MAX = 30_000

export class DriftProbes {
  readonly #parts: { readonly clock: Clock; readonly log: Log }
  readonly #probes = new Map<string, Probe>()
  #stopping = new AbortController()
  #stopTimers: StopTimer[] = []
  #isRunning = false

  constructor(parts: { readonly clock: Clock; readonly log: Log }) {
    this.#parts = parts
  }

  add(probes: Readonly<Record<string, Probe>>): void {
    for (const [name, probe] of Object.entries(probes)) this.#probes.set(name, probe)
  }

  start(): void {
    if (this.#stopTimers.length > 0) return
    const { clock } = this.#parts
    this.#stopping = new AbortController()
    const run = () => void this.runAll(this.#stopping.signal)
    this.#stopTimers = [clock.after(FIRST_AFTER_MS, run), clock.every(EVERY_MS, run)]
  }

  stop(): void {
    for (const stop of this.#stopTimers) stop()
    this.#stopTimers = []
    this.#stopping.abort()
  }

  /** Never rejects. Resolves to the names of the probes without a response. Does nothing while another round runs. */
  async runAll(signal: AbortSignal): Promise<readonly string[]> {
    if (this.#isRunning) return []
    this.#isRunning = true
    const unanswered: string[] = []
    try {
      for (const [name, probe] of this.#probes) {
        if (signal.aborted) break
        if (!(await this.#runOne(name, probe, signal))) unanswered.push(name)
      }
    } finally {
      this.#isRunning = false
    }
    return unanswered
  }

  async #runOne(name: string, probe: Probe, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#parts
    const ending = new AbortController()
    // Limits the wait for a probe that ignores its signal.
    const late = pause(clock, PROBE_MS_MAX, signal).then(() => {
      ending.abort()
      return false
    })
    try {
      return await Promise.race([probe(ending.signal).then(() => true), late])
    } catch (error) {
      if (!signal.aborted) log.debug({ probe: name, err: error }, 'probe failed')
      return false
    }
  }
}
