// The resume position of a channel: the client has every message up to the position. `synced`, `resumed` and data
// messages advance it. During a resume, it changes only when the last `since` command ends (see Resuming in
// http/ws/README.md).

import type { Channel, GapEvent, Position } from './messages.ts'
import { ChannelKeys } from './subscription-keys.ts'

/** Gaps that are stored to prevent a second report. The map is cleared when it is full. */
const REPORTED_GAPS_MAX = 256

export class ChannelState {
  readonly channel: Channel
  readonly keys = new ChannelKeys()
  resuming = 0
  /** A gap in `seq` caused the current resume. Messages that the resume does not deliver are lost. */
  isRetry = false
  /** The server reported a loss during the current resume, so the next messages may have any `seq`. */
  hasLost = false
  /** Messages that the server reported as lost during the current resume. */
  lostReported = 0
  #position: Position | null = null
  /** End time (`to_ms`) of each reported gap, by its other fields. */
  readonly #reportedGaps = new Map<string, number>()

  constructor(channel: Channel) {
    this.channel = channel
  }

  get position(): Position | null {
    return this.#position
  }

  move(epoch: string, offset: number): void {
    if (this.resuming > 0) return
    const current = this.#position
    if (current?.epoch === epoch && current.offset >= offset) return
    this.#position = { epoch, offset }
  }

  finish(position: Position, isSince: boolean): void {
    if (isSince) this.settle()
    this.move(position.epoch, position.offset)
  }

  settle(): void {
    this.resuming = Math.max(0, this.resuming - 1)
    if (this.resuming > 0) return
    this.isRetry = false
    this.lostReported = 0
    this.hasLost = false
    this.#reportedGaps.clear()
  }

  interrupt(): void {
    this.resuming = 0
    this.lostReported = 0
    this.hasLost = false
    for (const key of this.keys.all()) key.phase = 'new'
  }

  /** Moves the position back before a missing message, so that the next resume fetches it. */
  fallBack(position: Position): void {
    const current = this.#position
    if (current?.epoch !== position.epoch || current.offset <= position.offset) return
    this.#position = { epoch: position.epoch, offset: position.offset }
  }

  /**
   * The part of a gap that was not reported before, in this resume or an interrupted one. Null if all of it was
   * reported. A gap whose end is later is reported again, since the later resume may have lost more.
   */
  unreported(gap: GapEvent): GapEvent | null {
    // The state tracker and the book report such a gap only once.
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

/** Omitted fields become null. */
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
