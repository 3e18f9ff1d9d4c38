// How late one venue's messages come, and whether through our own fault: from the venue to us (`lagMs`), and whether what
// we read had lain unread (`isBehind`). Arrival stamps do not show it: bytes that wait in the kernel's buffer are stamped
// when they are read. The evidence is our own slowness (the loop stood still, or reading was paused) together with
// venue times that are later than this venue's usually are.

import type { VenueEvent } from '../../engine/events.ts'
import { behindMsMax, messageAgeMsMax, reconnectApartMs } from '../../engine/limits.ts'

/** What the delay watch knows of this process. */
export interface OwnDelay {
  /** The monotonic clock, in milliseconds. */
  readonly nowMs: number
  /** The longest wait for a turn during the last two seconds: of perishable messages, and of kept ones. */
  readonly waitedMs: number
  readonly retainedMs: number
  /** Whether trades are not being read, since they wait for too long. */
  readonly areTradesPaused: boolean
  /** How late the loop was at this look, and at most during the last five seconds. */
  readonly loopMs: number
  readonly loopMsMax: number
  /** For how long the venues have not been read at all; 0 while books are. */
  readonly pausedMs: number
  /** By how much the calendar has moved against the monotonic clock since the last look. */
  readonly wallClockShiftMs: number
}

/** The usual difference between our time and the venue's is the smallest of the last five to ten minutes in which
 * nothing lay unread: otherwise a long delay would become the usual one. */
const FLOOR_EVERY_MS = 300_000
/** A calendar that is set moves by at least so much; one that is slewed, by half a millisecond a second. */
const WALL_CLOCK_SHIFT_MS = 250
/** After so long without any slowness of ours, late messages are late at the venue, or by its clock. */
const HEALTHY_MS = 60_000
/** The loop is slow when it was late by so much; on an idle machine it is late by some milliseconds. */
const LOOP_MS_SLOW = 100
/** The venue is behind no more when its messages come at most so much later than usual at so many looks in a row. After
 * a late message a look without any message is no evidence; so many of them while we are not slow are. */
const EXCESS_MS_CALM = 500
const CALM_SAMPLES = 3
const EMPTY_SAMPLES = 20

/** The delay of one venue. */
export class VenueDelay {
  #lagMs: number | null = null
  /** Our time less the venue's, with the clocks' difference in it: the greatest of the changes since the last look, since
   * one connection of a venue may be late alone, and below it the smallest of all changes. */
  #latestMs: number | null = null
  #excessMs = 0
  #floorMs = Number.POSITIVE_INFINITY
  #olderFloorMs = Number.POSITIVE_INFINITY
  #floorSinceMs = Number.NEGATIVE_INFINITY
  #isBehind = false
  /** While behind: whether a message came late, and not only this process stood still. */
  #hasLateMessage = false
  #behindSinceMs = 0
  /** The time of the last look, and whether this process was slow then. */
  #sampledAtMs = 0
  #isSlow = false
  #calmSamples = 0
  #emptySamples = 0
  #reconnectedAtMs = Number.NEGATIVE_INFINITY
  #changeCount = 0
  #healthySinceMs: number | null = null

  /** Milliseconds from the venue to us, of late; null before the first change of a book. */
  get lagMs(): number | null {
    return this.#lagMs === null ? null : Math.round(this.#lagMs)
  }

  /** Whether messages that are read now may have lain unread for longer than a message may wait. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  /** How often `isBehind` has changed. */
  get changeCount(): number {
    return this.#changeCount
  }

  /** By how much the latest change since the look before came later than usual, in milliseconds; 0 when none came. */
  get excessMs(): number {
    return this.#excessMs
  }

  /** Takes every event of the venue; changes of books show how late they are. */
  note(event: VenueEvent): void {
    if (event.kind !== 'bookChange') return
    const differenceMs = event.receivedAtMs - event.venueTimeMs
    const lagMs = differenceMs > 0 ? differenceMs : 0
    this.#lagMs = this.#lagMs === null ? lagMs : this.#lagMs + (lagMs - this.#lagMs) / 64
    if (this.#latestMs === null || differenceMs > this.#latestMs) this.#latestMs = differenceMs
    if (differenceMs < this.#floorMs) this.#floorMs = differenceMs
    if (this.#isSlow && !this.#isBehind) this.#noteLate(differenceMs)
  }

  /** A slow loop looks late as well: while this process is slow, the first late change decides, not the next look. */
  #noteLate(differenceMs: number): void {
    if (differenceMs - Math.min(this.#floorMs, this.#olderFloorMs) <= messageAgeMsMax) return
    this.#setBehind(true, this.#sampledAtMs)
    this.#hasLateMessage = true
  }

  /** Weighs the evidence; called about ten times a second. */
  sample(own: OwnDelay): void {
    const { nowMs, loopMs, loopMsMax, pausedMs, wallClockShiftMs } = own
    if (wallClockShiftMs >= WALL_CLOCK_SHIFT_MS) this.#resetFloor()
    this.#moveFloor(nowMs)
    // Each look judges what came since the one before.
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

  /** True when the backlog should be dropped by connecting anew; the caller must do so. */
  takeReconnect({ nowMs, pausedMs }: OwnDelay): boolean {
    const isLong = this.#isBehind && nowMs - this.#behindSinceMs >= behindMsMax
    if (!isLong || pausedMs > 0 || nowMs - this.#reconnectedAtMs < reconnectApartMs) return false
    this.#reconnectedAtMs = nowMs
    return true
  }

  /** The usual difference is learnt again. */
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
