// Resume position of one channel: the client has received every message up to it.
// `synced`, `resumed` and data messages advance it. It does not change between a reconnect and the end of the
// last `since` command (protocol, section Resume).

import type { Channel, GapEvent, Position } from './messages.ts'
import { ChannelKeys } from './subscription-keys.ts'

/** Gaps remembered while a resume is repeated, so that none is reported twice. When full, the map is cleared. */
const REPORTED_GAPS_MAX = 256

export class ChannelState {
  readonly channel: Channel
  readonly keys = new ChannelKeys()
  /** Pending `since` commands. */
  resuming = 0
  /** A sequence gap caused the current resume. Messages that it does not deliver are lost. */
  isRetry = false
  /** The server reported a loss during the current resume. Its messages may start at any `seq`. */
  hasLost = false
  /** Messages reported as lost during the current resume. */
  lostReported = 0
  #position: Position | null = null
  /** End time (`to_ms`) of each reported gap. */
  readonly #reportedGaps = new Map<string, number>()

  constructor(channel: Channel) {
    this.channel = channel
  }

  get position(): Position | null {
    return this.#position
  }

  /** Advances the position after a data message was processed. */
  move(epoch: string, offset: number): void {
    if (this.resuming > 0) return
    const current = this.#position
    if (current?.epoch === epoch && current.offset >= offset) return
    this.#position = { epoch, offset }
  }

  /** Ends a command at the position that the server reported. */
  finish(position: Position, isSince: boolean): void {
    if (isSince) this.settle()
    this.move(position.epoch, position.offset)
  }

  /** Ends a `since` command, successful or not. */
  settle(): void {
    this.resuming = Math.max(0, this.resuming - 1)
    if (this.resuming > 0) return
    this.isRetry = false
    this.lostReported = 0
    this.hasLost = false
    this.#reportedGaps.clear()
  }

  /** Handles a disconnect. The position does not change. */
  interrupt(): void {
    this.resuming = 0
    this.lostReported = 0
    this.hasLost = false
    for (const key of this.keys.all()) key.phase = 'new'
  }

  /** Moves the position back to before a missing message. The next resume starts there. */
  fallBack(position: Position): void {
    const current = this.#position
    if (current?.epoch !== position.epoch || current.offset <= position.offset) return
    this.#position = { epoch: position.epoch, offset: position.offset }
  }

  /**
   * The part of a gap that has not been reported in this resume or an interrupted one; null if none.
   * A gap with a later end is reported again, since a later resume may have lost more.
   */
  unreported(gap: GapEvent): GapEvent | null {
    // The state tracker or book reports a gap that a new state closes, once.
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

/** Builds a gap event. Omitted fields are null. */
export function gapEvent(
  channel: Channel | null,
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
