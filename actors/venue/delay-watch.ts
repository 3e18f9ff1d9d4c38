// How long what has come waits in our own hands: ten times a second the ages of all waiting messages, and
// how late the loop itself is. Owners of messages that wait too long are told, and so are the venues, which
// mark what they bring as stale and ask for late books again once there is room. Decides what is read of the venues:
// nothing while too much waits, no trades while trades wait for too long.
// An owner without a mailbox: it must look also while no turns run. Upholds DELAY1, DELAY2.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { delayLookMs, tradeAgeMsCalm, tradeAgeMsMax } from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { Readable } from '../../engine/venues/venue.ts'
import type { System } from '../system.ts'
import type { OwnDelay } from './delay.ts'

/** Whoever must know how late we are. */
export interface DelayWatcher {
  lookAtDelay(own: OwnDelay): void
  /** From now on only this is read. */
  read(what: Readable): void
}

/** Looks that the longest wait, and the loop's, are the longest of: two seconds, and five. */
const WAIT_LOOKS = 20
const LOOP_LOOKS = 50

export class DelayWatch {
  readonly #clock: Clock
  readonly #log: Log
  readonly #system: Pick<System, 'isFull' | 'lookAtAges'>
  readonly #watchers: DelayWatcher[] = []
  readonly #waits: number[] = []
  readonly #loops: number[] = []
  readonly #keptWaits: number[] = []
  #areTradesPaused = false
  #read: Readable = 'all'
  #lookedAtMs: number
  /** The calendar less the monotonic clock, at the last look. */
  #calendarMs: number
  #fullSinceMs: number | null = null
  #stopTimer: StopTimer = () => undefined

  constructor(parts: {
    clock: Clock
    log: Log
    metrics: Metrics
    system: Pick<System, 'isFull' | 'lookAtAges'>
  }) {
    const { clock, metrics, system } = parts
    this.#clock = clock
    this.#log = parts.log
    this.#system = system
    this.#lookedAtMs = clock.monotonicMs()
    this.#calendarMs = clock.nowMs() - this.#lookedAtMs
    const help = 'The longest wait for a turn or for the loop during the last two seconds.'
    metrics.gauge('engine_delay_ms', help, () => this.delayMs)
    const loopHelp = 'How late the loop was at most during the last five seconds.'
    metrics.gauge('loop_delay_ms', loopHelp, () => Math.max(0, ...this.#loops))
  }

  /** The longest that anything waited during the last two seconds: for its turn, or for the loop. */
  get delayMs(): number {
    return Math.max(0, ...this.#waits, ...this.#keptWaits, ...this.#loops.slice(-WAIT_LOOKS))
  }

  /** Tells somebody at every look, after those who are told already. */
  watch(watcher: DelayWatcher): void {
    this.#watchers.push(watcher)
  }

  start(): void {
    this.#lookedAtMs = this.#clock.monotonicMs()
    this.#stopTimer = this.#clock.every(delayLookMs, () => this.#look())
  }

  stop(): void {
    this.#stopTimer()
  }

  /** Tells the venues what is to be read, when that has changed. */
  #chooseReading(): void {
    const what = this.#system.isFull ? 'nothing' : this.#areTradesPaused ? 'books' : 'all'
    if (what === this.#read) return
    this.#read = what
    this.#log.warn({ what }, 'what is read of the venues has changed')
    for (const watcher of this.#watchers) watcher.read(what)
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs()
    const loopMs = Math.max(0, nowMs - this.#lookedAtMs - delayLookMs)
    this.#lookedAtMs = nowMs
    const calendarMs = this.#clock.nowMs() - nowMs
    const calendarMovedMs = Math.abs(calendarMs - this.#calendarMs)
    this.#calendarMs = calendarMs
    keep(this.#loops, loopMs, LOOP_LOOKS)
    const { perishableMs, keptMs } = this.#system.lookAtAges()
    keep(this.#waits, perishableMs, WAIT_LOOKS)
    keep(this.#keptWaits, keptMs, WAIT_LOOKS)
    if (keptMs > tradeAgeMsMax) this.#areTradesPaused = true
    else if (keptMs <= tradeAgeMsCalm) this.#areTradesPaused = false
    this.#chooseReading()
    if (!this.#system.isFull) this.#fullSinceMs = null
    else this.#fullSinceMs ??= nowMs
    const own: OwnDelay = {
      nowMs,
      waitedMs: Math.max(...this.#waits),
      keptMs: Math.max(...this.#keptWaits),
      areTradesPaused: this.#areTradesPaused,
      loopMs,
      loopMsMax: Math.max(...this.#loops),
      pausedMs: this.#fullSinceMs === null ? 0 : Math.max(1, nowMs - this.#fullSinceMs),
      calendarMovedMs,
    }
    for (const watcher of this.#watchers) watcher.lookAtDelay(own)
  }
}

/** Adds the newest and lets the oldest of more than `countMax` go. */
function keep(values: number[], value: number, countMax: number): void {
  values.push(value)
  if (values.length > countMax) values.shift()
}
