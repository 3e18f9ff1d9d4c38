// Log of a channel that replays every message. A ring buffer holds the newest messages of the current run. A table, if
// the channel has one, holds older messages by run. A connection gets a `gap` for messages that are in neither.

import type { RunView } from '../../../actors/views.ts'
import type { GapUpdate, StatusUpdate, Update } from '../../../engine/events.ts'
import type { VenueKey } from '../../../engine/ids.ts'
import { outstandingWritesMax, replayReadRows } from '../../../engine/limits.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { Since } from '../command.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type { ChannelName, ChannelVariant } from '../fan-out/channel-variants.ts'
import { MessageRing } from './message-ring.ts'

export type LoggedUpdate = Exclude<Update, StatusUpdate | GapUpdate>

export function isLogged(update: Update): update is LoggedUpdate {
  return update.kind !== 'status' && update.kind !== 'gap'
}

export interface LostRange {
  readonly fromMs: TimeMs | null
  readonly toMs: TimeMs
  /** Null if unknown. */
  readonly count: number | null
}

/** Unrecoverable messages of a market. If `market` is null, the market may be any of the venue. */
export interface Loss extends LostRange {
  readonly venue: VenueKey
  readonly market: MarketNumber | null
}

export interface ChannelLog {
  readonly messages: MessageLog
  /** Null if the update is not part of the channel. `epoch`: the epoch of the run that first sent the message. */
  write(encoder: Encoder, update: LoggedUpdate, epoch?: string): Frame | null
  /** True for messages of this run that clients of earlier runs need, because the messages of those runs are lost. */
  isOfEarlier?(update: LoggedUpdate): boolean
  /** True if the variant gets the message. Absent if the channel has a single variant. */
  isIn?(variant: ChannelVariant, update: LoggedUpdate): boolean
}

/**
 * 'lost': the message was sent but cannot be read any more. 'unread': it was skipped, since its market was not
 * requested.
 */
export interface LogEntry {
  readonly offset: number
  readonly update: LoggedUpdate | 'lost' | 'unread'
}

/** If `markets` is not null, messages of other markets may be skipped. */
interface LogQuery {
  readonly offset: number
  readonly markets: ReadonlySet<MarketNumber> | null
}

export interface MessageTable {
  readonly present: RunView
  /** Oldest run first. The current run is last. */
  runs(): readonly RunView[]
  /** The next messages of a run after an offset, in order. Returns as many as can be read in about 0.5 ms. */
  range(query: LogQuery & { run: number }): readonly LogEntry[]
  losses(query: { run: number; offset: number }): readonly Loss[]
  /**
   * Resolves when the messages after an offset have arrived in the table or will not arrive. Null or absent: the table
   * has the messages already.
   */
  arrival?(position: { run: number; offset: number }): Promise<void> | null
}

/** A replay starts after `offset` in the first of these runs. The last run is the current run. */
export interface LogPosition {
  readonly runs: readonly RunView[]
  readonly offset: number
}

export class MessageLog {
  readonly channel: ChannelName
  readonly #present: RunView
  readonly #ring: MessageRing<LoggedUpdate>
  readonly #table: MessageTable | null

  /** `offset`: messages that this run has sent so far. `table` is null if older messages are not stored. */
  constructor(parts: {
    channel: ChannelName
    present: RunView
    offset: number
    capacity: number
    table: MessageTable | null
  }) {
    this.channel = parts.channel
    this.#present = parts.present
    this.#ring = new MessageRing(parts.offset, parts.capacity)
    this.#table = parts.table
  }

  get newest(): number {
    return this.#ring.newest
  }

  /** The start of the current run, or of its retained part. */
  get present(): LogPosition {
    return { runs: [this.#present], offset: this.#ring.oldest - 1 }
  }

  push(update: LoggedUpdate): void {
    this.#ring.push(update)
  }

  /** Null if the epoch is unknown or the offset is ahead of the run. */
  find(since: Since): LogPosition | null {
    const { epoch, offset } = since
    if (epoch === this.#present.epoch) return this.behind(offset)
    const runs = this.#table?.runs() ?? []
    const index = runs.findIndex((run) => run.epoch === epoch)
    const run = runs[index]
    if (run === undefined) return null
    // A killed run may have sent up to `outstandingWritesMax` messages that it did not store. A client with a later
    // offset within this limit has received the unstored messages.
    const isAhead = run.endOffset !== null && offset > run.endOffset + outstandingWritesMax
    return isAhead ? null : { runs: runs.slice(index), offset }
  }

  /** The position after an offset of the current run. Null if the offset is ahead or no longer retained. */
  behind(offset: number): LogPosition | null {
    if (offset > this.newest) return null
    if (this.#table === null && offset < this.#ring.oldest - 1) return null
    return { runs: [this.#present], offset }
  }

  /** The next messages of a run after an offset, in order. Empty if there are no more messages. */
  read(run: RunView, query: LogQuery): readonly LogEntry[] {
    const { offset } = query
    const isPresent = run.number === this.#present.number
    if (isPresent && offset >= this.newest) return []
    if (!isPresent || offset + 1 < this.#ring.oldest) {
      const found = this.#table?.range({ run: run.number, ...query }) ?? []
      if (found.length > 0 || !isPresent) return found
    }
    const entries: LogEntry[] = []
    for (let at = Math.max(offset + 1, this.#ring.oldest); at <= this.newest; at += 1) {
      const update = this.#ring.get(at)
      if (update !== null) entries.push({ offset: at, update })
      if (entries.length === replayReadRows) break
    }
    return entries
  }

  /** Resolves when `read` can return the next messages of a run after an offset. Null: `read` can return them now. */
  arrival(run: RunView, offset: number): Promise<void> | null {
    const isPresent = run.number === this.#present.number
    if (isPresent && (offset >= this.newest || offset + 1 >= this.#ring.oldest)) return null
    return this.#table?.arrival?.({ run: run.number, offset }) ?? null
  }

  /** Losses that were reported at or after a position, oldest first. */
  losses({ runs, offset }: LogPosition): readonly Loss[] {
    const table = this.#table
    if (table === null) return []
    return runs.flatMap((run, index) =>
      table.losses({ run: run.number, offset: index === 0 ? offset : 0 }),
    )
  }
}
