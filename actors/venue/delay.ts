// Measures the delay of one venue's messages (`lagMs`) and detects messages that stayed unread in the kernel because
// this process was slow (`isBehind`). Receive times do not show that delay, because they are taken when a message is
// read. `isBehind` therefore requires that the event loop was blocked or reading was paused. Unless the loop was
// blocked for long, messages must also be later than usual for the venue.

import type { VenueEvent } from '../../engine/events.ts'
import { behindMsMax, messageAgeMsMax, reconnectApartMs } from '../../engine/limits.ts'

/** Delay of this process, as measured by `DelayWatch`. */
export interface OwnDelay {
  /** Monotonic time in milliseconds. */
  readonly nowMs: number
  /** Longest waits in the last two seconds: of messages about books, and of all other messages. */
  readonly waitedMs: number
  readonly retainedMs: number
  /** Whether reading of trades is paused because they wait too long. */
  readonly areTradesPaused: boolean
  /** Delay of the event loop at this sample, and its maximum in the last five seconds. */
  readonly loopMs: number
  readonly loopMsMax: number
  /** Duration of the current pause of all streams. 0 if books are read. */
  readonly pausedMs: number
  /** Change of the calendar time relative to the monotonic time since the last sample. */
  readonly wallClockShiftMs: number
}

/** The usual difference between receive time and venue time is the minimum over this interval and the previous one. */
const FLOOR_EVERY_MS = 300_000
/** A larger shift means that the clock was set. NTP slewing shifts the clock by only 0.5 ms a second. */
const WALL_CLOCK_SHIFT_MS = 250
/** If this process was not slow for this long, late messages are due to the venue or its clock. */
const HEALTHY_MS = 60_000
/** From this delay the event loop counts as slow. On an idle machine the delay is a few milliseconds. */
const LOOP_MS_SLOW = 100
/**
 * `isBehind` ends after CALM_SAMPLES samples in a row whose messages are at most EXCESS_MS_CALM later than usual. If
 * a message was late, samples without messages do not count as calm. `isBehind` then also ends after EMPTY_SAMPLES such
 * samples in a row in which this process is not slow.
 */
const EXCESS_MS_CALM = 500
const CALM_SAMPLES = 3
const EMPTY_SAMPLES = 20

export class VenueDelay {
  #lagMs: number | null = null
  /** Maximum of receive time minus venue time since the last sample. The maximum detects a single late connection. */
  #latestMs: number | null = null
  #excessMs = 0
  #floorMs = Number.POSITIVE_INFINITY
  #olderFloorMs = Number.POSITIVE_INFINITY
  #floorSinceMs = Number.NEGATIVE_INFINITY
  #isBehind = false
  /** While `isBehind`: whether a message was late. False if only the event loop was blocked. */
  #hasLateMessage = false
  #behindSinceMs = 0
  #sampledAtMs = 0
  #isSlow = false
  #calmSamples = 0
  #emptySamples = 0
  #reconnectedAtMs = Number.NEGATIVE_INFINITY
  #changeCount = 0
  #healthySinceMs: number | null = null

  /** Smoothed delay from the venue's time to the receive time, in ms. Null before the first book change. */
  get lagMs(): number | null {
    return this.#lagMs === null ? null : Math.round(this.#lagMs)
  }

  /** True if messages that are read now may have stayed unread for longer than `messageAgeMsMax`. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  get changeCount(): number {
    return this.#changeCount
  }

  /** How much later than usual the latest book change of the last sample arrived, in ms. 0: there was none. */
  get excessMs(): number {
    return this.#excessMs
  }

  /** Must be called with every event of the venue. Only book changes are measured. */
  note(event: VenueEvent): void {
    if (event.kind !== 'bookChange') return
    const differenceMs = event.receivedAtMs - event.venueTimeMs
    const lagMs = differenceMs > 0 ? differenceMs : 0
    this.#lagMs = this.#lagMs === null ? lagMs : this.#lagMs + (lagMs - this.#lagMs) / 64
    if (this.#latestMs === null || differenceMs > this.#latestMs) this.#latestMs = differenceMs
    if (differenceMs < this.#floorMs) this.#floorMs = differenceMs
    if (this.#isSlow && !this.#isBehind) this.#noteLate(differenceMs)
  }

  /** While this process is slow, the first late change sets `isBehind` at once, without waiting for the next sample. */
  #noteLate(differenceMs: number): void {
    if (differenceMs - Math.min(this.#floorMs, this.#olderFloorMs) <= messageAgeMsMax) return
    this.#setBehind(true, this.#sampledAtMs)
    this.#hasLateMessage = true
  }

  /** Updates `isBehind`. Must be called about ten times a second. */
  sample(own: OwnDelay): void {
    const { nowMs, loopMs, loopMsMax, pausedMs, wallClockShiftMs } = own
    if (wallClockShiftMs >= WALL_CLOCK_SHIFT_MS) this.#resetFloor()
    this.#moveFloor(nowMs)
    const floorMs = Math.min(this.#floorMs, this.#olderFloorMs)
    const isEmpty = this.#latestMs === null
    this.#excessMs = this.#latestMs === null ? 0 : Math.max(0, this.#latestMs - floorMs)
    this.#latestMs = null
    const isSlow = loopMsMax >= LOOP_MS_SLOW || pausedMs > 0
    this.#isSlow = isSlow
    this.#sampledAtMs = nowMs
    if (isSlow) this.#healthySinceMs = null
    else this.#healthySinceMs ??= nowMs
    const wasBlocked = loopMs >= messageAgeMsMax || pausedMs >= messageAgeMsMax
    const isLate = wasBlocked || (isSlow && this.#excessMs > messageAgeMsMax)
    if (isLate) {
      this.#calmSamples = 0
      this.#emptySamples = 0
      if (!this.#isBehind) this.#setBehind(true, nowMs)
      this.#hasLateMessage ||= this.#excessMs > messageAgeMsMax
    } else if (this.#isBehind) {
      const isCalm = loopMs < messageAgeMsMax / 4 && pausedMs === 0
      this.#emptySamples = isEmpty && !isSlow ? this.#emptySamples + 1 : 0
      if (!isCalm || this.#excessMs >= EXCESS_MS_CALM) this.#calmSamples = 0
      else if (!isEmpty || !this.#hasLateMessage) this.#calmSamples += 1
      const isHealthy = this.#healthySinceMs !== null && nowMs - this.#healthySinceMs >= HEALTHY_MS
      if (isHealthy) this.#resetFloor()
      const isOver = this.#calmSamples >= CALM_SAMPLES || this.#emptySamples >= EMPTY_SAMPLES
      if (isHealthy || isOver) this.#setBehind(false, nowMs)
    }
  }

  /** Whether the caller must reconnect to drop a backlog. Returns true at most once per `reconnectApartMs`. */
  takeReconnect({ nowMs, pausedMs }: OwnDelay): boolean {
    const isLong = this.#isBehind && nowMs - this.#behindSinceMs >= behindMsMax
    if (!isLong || pausedMs > 0 || nowMs - this.#reconnectedAtMs < reconnectApartMs) return false
    this.#reconnectedAtMs = nowMs
    return true
  }

  #resetFloor(): void {
    this.#floorMs = Number.POSITIVE_INFINITY
    this.#olderFloorMs = Number.POSITIVE_INFINITY
  }

  #setBehind(isBehind: boolean, nowMs: number): void {
    this.#isBehind = isBehind
    this.#hasLateMessage = false
    this.#calmSamples = 0
    this.#emptySamples = 0
    this.#behindSinceMs = nowMs
    this.#changeCount += 1
  }

  #moveFloor(nowMs: number): void {
    if (this.#isBehind) this.#floorSinceMs = nowMs
    if (nowMs - this.#floorSinceMs < FLOOR_EVERY_MS) return
    this.#floorSinceMs = nowMs
    this.#olderFloorMs = this.#floorMs
    this.#floorMs = this.#latestMs ?? Number.POSITIVE_INFINITY
  }
}
