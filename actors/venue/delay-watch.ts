// Measures ten times a second how long messages wait in this process and how late the event loop is. Calls `onLate` of
// actors whose messages wait too long, and notifies the venues. Reads no stream while too many messages wait, and no
// trades while trades wait too long. It is not an actor, because it must also run while no messages are handled.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { delayCheckMs, tradeAgeMsCalm, tradeAgeMsMax } from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { Readable } from '../../engine/venues/venue.ts'
import type { System } from '../system.ts'
import type { OwnDelay } from './delay.ts'

export interface DelayWatcher {
  onDelay(own: OwnDelay): void
  read(what: Readable): void
}

/** There are ten samples a second. Waits cover two seconds, loop delays five. */
const WAIT_SAMPLES = 20
const LOOP_SAMPLES = 50

export class DelayWatch {
  readonly #clock: Clock
  readonly #log: Log
  readonly #system: Pick<System, 'isFull' | 'sampleAges'>
  readonly #watchers: DelayWatcher[] = []
  readonly #waits: number[] = []
  readonly #loops: number[] = []
  readonly #retainedWaits: number[] = []
  #areTradesPaused = false
  #read: Readable = 'all'
  #sampledAtMs: number
  #wallOffsetMs: number
  #fullSinceMs: number | null = null
  #stopTimer: StopTimer = () => undefined

  constructor(parts: {
    clock: Clock
    log: Log
    metrics: Metrics
    system: Pick<System, 'isFull' | 'sampleAges'>
  }) {
    const { clock, metrics, system } = parts
    this.#clock = clock
    this.#log = parts.log
    this.#system = system
    this.#sampledAtMs = clock.monotonicMs()
    this.#wallOffsetMs = clock.nowMs() - this.#sampledAtMs
    const help = 'Longest wait of a message or of the event loop in the last two seconds.'
    metrics.gauge('engine_delay_ms', help, () => this.delayMs)
    const loopHelp = 'Maximum delay of the event loop in the last five seconds.'
    metrics.gauge('loop_delay_ms', loopHelp, () => Math.max(0, ...this.#loops))
  }

  /** The longest wait of a message or of the event loop in the last two seconds. */
  get delayMs(): number {
    return Math.max(0, ...this.#waits, ...this.#retainedWaits, ...this.#loops.slice(-WAIT_SAMPLES))
  }

  watch(watcher: DelayWatcher): void {
    this.#watchers.push(watcher)
  }

  start(): void {
    this.#sampledAtMs = this.#clock.monotonicMs()
    this.#stopTimer = this.#clock.every(delayCheckMs, () => this.#sample())
  }

  stop(): void {
    this.#stopTimer()
  }

  #chooseReadable(): void {
    const what = this.#system.isFull ? 'nothing' : this.#areTradesPaused ? 'books' : 'all'
    if (what === this.#read) return
    this.#read = what
    this.#log.warn({ what }, 'the part of the venue streams that is read has changed')
    for (const watcher of this.#watchers) watcher.read(what)
  }

  #sample(): void {
    const nowMs = this.#clock.monotonicMs()
    const loopMs = Math.max(0, nowMs - this.#sampledAtMs - delayCheckMs)
    this.#sampledAtMs = nowMs
    const wallOffsetMs = this.#clock.nowMs() - nowMs
    const wallClockShiftMs = Math.abs(wallOffsetMs - this.#wallOffsetMs)
    this.#wallOffsetMs = wallOffsetMs
    appendBounded(this.#loops, loopMs, LOOP_SAMPLES)
    const { perishableMs, retainedMs } = this.#system.sampleAges()
    appendBounded(this.#waits, perishableMs, WAIT_SAMPLES)
    appendBounded(this.#retainedWaits, retainedMs, WAIT_SAMPLES)
    if (retainedMs > tradeAgeMsMax) this.#areTradesPaused = true
    else if (retainedMs <= tradeAgeMsCalm) this.#areTradesPaused = false
    this.#chooseReadable()
    if (!this.#system.isFull) this.#fullSinceMs = null
    else this.#fullSinceMs ??= nowMs
    const own: OwnDelay = {
      nowMs,
      waitedMs: Math.max(...this.#waits),
      retainedMs: Math.max(...this.#retainedWaits),
      areTradesPaused: this.#areTradesPaused,
      loopMs,
      loopMsMax: Math.max(...this.#loops),
      pausedMs: this.#fullSinceMs === null ? 0 : Math.max(1, nowMs - this.#fullSinceMs),
      wallClockShiftMs,
    }
    for (const watcher of this.#watchers) watcher.onDelay(own)
  }
}

function appendBounded(values: number[], value: number, countMax: number): void {
  values.push(value)
  if (values.length > countMax) values.shift()
}
