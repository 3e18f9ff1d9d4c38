// Measures the delay of one venue's messages (`lagMs`), and whether they stayed unread because of this process
// (`isBehind`). Receive stamps do not show it: bytes in the kernel's buffer are stamped when they are read. The
// evidence is slowness of this process (a blocked event loop or paused reading), together with venue times that are
// later than usual for this venue.

import type { VenueEvent } from '../../engine/events.ts'
import { behindMsMax, messageAgeMsMax, reconnectApartMs } from '../../engine/limits.ts'

/** The delay of this process, as the delay watch measures it. */
export interface OwnDelay {
  /** Monotonic time in milliseconds. */
  readonly nowMs: number
  /** Longest waits of perishable and of retained messages in the last two seconds. */
  readonly waitedMs: number
  readonly retainedMs: number
  /** Whether reading of trades is paused because they wait too long. */
  readonly areTradesPaused: boolean
  /** Delay of the event loop at this sample, and its maximum in the last five seconds. */
  readonly loopMs: number
  readonly loopMsMax: number
  /** How long the venues have not been read at all; 0 while books are. */
  readonly pausedMs: number
  /** Shift of the calendar against the monotonic clock since the last sample. */
  readonly wallClockShiftMs: number
}

/**
 * The usual difference between our time and the venue's is the minimum of the last five to ten minutes in which nothing
 * stayed unread. Otherwise a long delay would become the usual one.
 */
const FLOOR_EVERY_MS = 300_000
/** Setting the clock moves it by at least this much; slewing moves it by 0.5 ms a second. */
const WALL_CLOCK_SHIFT_MS = 250
/** After this long without slowness of this process, late messages are late at the venue or by its clock. */
const HEALTHY_MS = 60_000
/** The loop is slow with this delay; on an idle machine it is a few milliseconds. */
const LOOP_MS_SLOW = 100
/**
 * The venue is no longer behind when its messages are at most this much later than usual in CALM_SAMPLES samples in a
 * row. After a late message, samples without messages count only when there are EMPTY_SAMPLES of them while this
 * process is not slow.
 */
const EXCESS_MS_CALM = 500
const CALM_SAMPLES = 3
const EMPTY_SAMPLES = 20

export class VenueDelay {
  #lagMs: number | null = null
  /**
   * Our time minus the venue's, including the difference of the clocks: the maximum of the changes since the last
   * sample, because a single connection may be late. Below it, the minimum of all changes.
   */
  #latestMs: number | null = null
  #excessMs = 0
  #floorMs = Number.POSITIVE_INFINITY
  #olderFloorMs = Number.POSITIVE_INFINITY
  #floorSinceMs = Number.NEGATIVE_INFINITY
  #isBehind = false
  /** While behind: whether a message was late, rather than only this process blocked. */
  #hasLateMessage = false
  #behindSinceMs = 0
  /** Time of the last sample, and whether this process was slow then. */
  #sampledAtMs = 0
  #isSlow = false
  #calmSamples = 0
  #emptySamples = 0
  #reconnectedAtMs = Number.NEGATIVE_INFINITY
  #changeCount = 0
  #healthySinceMs: number | null = null

  /** Recent delay from the venue to us, in ms; null before the first change of a book. */
  get lagMs(): number | null {
    return this.#lagMs === null ? null : Math.round(this.#lagMs)
  }

  /** Whether messages that are read now may have stayed unread for longer than a message may wait. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  /** Number of changes of `isBehind`. */
  get changeCount(): number {
    return this.#changeCount
  }

  /** How much later than usual the latest change before the last sample was, in ms; 0 if there was none. */
  get excessMs(): number {
    return this.#excessMs
  }

  /** Takes every event of the venue; changes of books show their delay. */
  note(event: VenueEvent): void {
    if (event.kind !== 'bookChange') return
    const differenceMs = event.receivedAtMs - event.venueTimeMs
    const lagMs = differenceMs > 0 ? differenceMs : 0
    this.#lagMs = this.#lagMs === null ? lagMs : this.#lagMs + (lagMs - this.#lagMs) / 64
    if (this.#latestMs === null || differenceMs > this.#latestMs) this.#latestMs = differenceMs
    if (differenceMs < this.#floorMs) this.#floorMs = differenceMs
    if (this.#isSlow && !this.#isBehind) this.#noteLate(differenceMs)
  }

  /** A slow loop looks late too: while this process is slow, the first late change decides, not the next sample. */
  #noteLate(differenceMs: number): void {
    if (differenceMs - Math.min(this.#floorMs, this.#olderFloorMs) <= messageAgeMsMax) return
    this.#setBehind(true, this.#sampledAtMs)
    this.#hasLateMessage = true
  }

  /** Evaluates the evidence; called about ten times a second. */
  sample(own: OwnDelay): void {
    const { nowMs, loopMs, loopMsMax, pausedMs, wallClockShiftMs } = own
    if (wallClockShiftMs >= WALL_CLOCK_SHIFT_MS) this.#resetFloor()
    this.#moveFloor(nowMs)
    // Each sample evaluates what arrived since the previous one.
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

  /** True if the backlog should be dropped by reconnecting; the caller must do so. */
  takeReconnect({ nowMs, pausedMs }: OwnDelay): boolean {
    const isLong = this.#isBehind && nowMs - this.#behindSinceMs >= behindMsMax
    if (!isLong || pausedMs > 0 || nowMs - this.#reconnectedAtMs < reconnectApartMs) return false
    this.#reconnectedAtMs = nowMs
    return true
  }

  /** Learns the usual difference again. */
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
