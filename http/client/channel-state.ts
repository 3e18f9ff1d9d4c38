// One channel's position: up to where the client has everything. It stands still from a reconnect
// until the last `since` command has ended, exactly as the protocol's section Resume says, and is
// moved by `synced`, `resumed` and data messages.

import type { Channel, GapEvent, Position } from './messages.ts'
import { ChannelKeys } from './subscription-keys.ts'

/** Gaps remembered while a resume is repeated, so that none is reported twice. When full, all are forgotten. */
const REPORTED_GAPS_MAX = 256

/** A channel. */
export class ChannelState {
  readonly channel: Channel
  readonly keys = new ChannelKeys()
  /** `since` commands without their end. */
  resuming = 0
  /** The present resume was caused by a hole: what it does not bring is lost. */
  isRetry = false
  /** The server reported a loss during the present resume: what it brings may begin anywhere. */
  hasLost = false
  /** Messages reported as lost during the present resume. */
  lostReported = 0
  #position: Position | null = null
  /** Up to when. */
  readonly #reportedGaps = new Map<string, number>()

  constructor(channel: Channel) {
    this.channel = channel
  }

  get position(): Position | null {
    return this.#position
  }

  /** A data message of the channel has been taken. */
  move(epoch: string, offset: number): void {
    if (this.resuming > 0) return
    const current = this.#position
    if (current?.epoch === epoch && current.offset >= offset) return
    this.#position = { epoch, offset }
  }

  /** A command ended at this position. */
  finish(position: Position, isSince: boolean): void {
    if (isSince) this.settle()
    this.move(position.epoch, position.offset)
  }

  /** A `since` command has ended, in whatever way. */
  settle(): void {
    this.resuming = Math.max(0, this.resuming - 1)
    if (this.resuming > 0) return
    this.isRetry = false
    this.lostReported = 0
    this.hasLost = false
    this.#reportedGaps.clear()
  }

  /** The connection is over: the position stands as it is. */
  interrupt(): void {
    this.resuming = 0
    this.lostReported = 0
    this.hasLost = false
    for (const key of this.keys.all()) key.phase = 'new'
  }

  /** Something behind this place is missing: the next resume begins there. */
  fallBack(position: Position): void {
    const current = this.#position
    if (current?.epoch !== position.epoch || current.offset <= position.offset) return
    this.#position = { epoch: position.epoch, offset: position.offset }
  }

  /**
   * What of a loss is not reported yet: null when all of it was, during this resume or one that was cut
   * off. A later end is reported again: a resume that begins again after a while may have lost more.
   */
  unreported(gap: GapEvent): GapEvent | null {
    // A loss that a state makes good is reported by that state's owner, once.
    if (gap.state_follows) return gap
    if (this.resuming === 0 && this.#reportedGaps.size === 0) return gap
    const name = JSON.stringify([gap.cause, gap.market_id, gap.platform, gap.from_ms, gap.from_seq])
    const reportedToMs = this.#reportedGaps.get(name)
    const isLonger = reportedToMs !== undefined && (gap.to_ms ?? 0) > reportedToMs
    if (reportedToMs !== undefined && !isLonger) return null
    if (this.#reportedGaps.size >= REPORTED_GAPS_MAX) this.#reportedGaps.clear()
    this.#reportedGaps.set(name, gap.to_ms ?? 0)
    return isLonger ? { ...gap, from_ms: reportedToMs } : gap
  }
}

/** A gap event, of which only what is known need be said. */
export function gapEvent(
  channel: Channel,
  fields: Pick<GapEvent, 'cause' | 'state_follows'> & Partial<GapEvent>,
): GapEvent {
  return {
    type: 'gap',
    channel,
    market_id: null,
    platform: null,
    from_ms: null,
    to_ms: null,
    from_seq: null,
    to_seq: null,
    lost: null,
    ...fields,
  }
}
