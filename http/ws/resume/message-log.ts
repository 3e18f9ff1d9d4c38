// Log of a channel that replays every message (trades, whales, lifecycle). Messages of this run are in a ring buffer;
// older ones are in a table, if the channel has one, by run. A connection that needs an overwritten one reads the table or
// gets a gap.
//
//   run 1  1 ……… 812 │ run 2  1 ……… 97 │ this run  1 …… table …… │ ring …… newest

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

/** An update of a market that has an offset in a channel. */
export type LoggedUpdate = Exclude<Update, StatusUpdate | GapUpdate>

export function isLogged(update: Update): update is LoggedUpdate {
  return update.kind !== 'status' && update.kind !== 'gap'
}

export interface LostRange {
  readonly fromMs: TimeMs | null
  readonly toMs: TimeMs
  /** Number of lost messages of the channel; null: unknown. */
  readonly count: number | null
}

/** Unrecoverable messages of a market, or of any market of a venue. */
export interface Loss extends LostRange {
  readonly venue: VenueKey
  readonly market: MarketNumber | null
}

export interface ChannelLog {
  readonly messages: MessageLog
  /** Null: the update does not concern the channel. `epoch`: of the run that first sent it. */
  write(encoder: Encoder, update: LoggedUpdate, epoch?: string): Frame | null
  /** Whether a message of this run is for clients of an earlier run, whose messages are gone. */
  isOfEarlier?(update: LoggedUpdate): boolean
  /** Whether a message belongs to a variant. Absent: the channel has one variant, which gets all. */
  isIn?(variant: ChannelVariant, update: LoggedUpdate): boolean
}

/**
 * A message at its offset. 'lost': it was sent but can no longer be read. 'unread': it was skipped, because its market
 * was not requested.
 */
export interface LogEntry {
  readonly offset: number
  readonly update: LoggedUpdate | 'lost' | 'unread'
}

/** Requested messages. With `markets`, messages of other markets may be skipped. */
interface LogQuery {
  readonly offset: number
  readonly markets: ReadonlySet<MarketNumber> | null
}

export interface MessageTable {
  readonly present: RunView
  /** Oldest first; the current run is last. */
  runs(): readonly RunView[]
  /** The next messages of a run after an offset, in order; as many as can be read in about 0.5 ms. */
  range(query: LogQuery & { run: number }): readonly LogEntry[]
  /** The losses that a run announced at or after an offset. */
  losses(query: { run: number; offset: number }): readonly Loss[]
  /**
   * Resolves when messages after an offset have arrived in the table or will not arrive. Null or absent: they are
   * there.
   */
  arrival?(position: { run: number; offset: number }): Promise<void> | null
}

/** Start of a reader: after an offset of the first of these runs. The last one is the current run. */
export interface LogPosition {
  readonly runs: readonly RunView[]
  readonly offset: number
}

export class MessageLog {
  readonly channel: ChannelName
  readonly #present: RunView
  readonly #ring: MessageRing<LoggedUpdate>
  readonly #table: MessageTable | null

  /** `offset`: messages that this run has sent so far. `table` null: older messages are not available. */
  constructor(parts: {
    channel: ChannelName
    present: RunView
    offset: number
    capacity: number
    table: MessageTable | null
  }) {
    this.channel = parts.channel
    this.#present = parts.present
    this.#ring = new MessageRing(parts.offset, parts)
    this.#table = parts.table
  }

  get newest(): number {
    return this.#ring.newest
  }

  /** The start of the current run, as far as it is retained. */
  get present(): LogPosition {
    return { runs: [this.#present], offset: this.#ring.oldest - 1 }
  }

  push(update: LoggedUpdate): void {
    this.#ring.push(update)
  }

  /** The position where a client left off; null if unknown: another epoch, or an offset ahead. */
  find(since: Since): LogPosition | null {
    const { epoch, offset } = since
    if (epoch === this.#present.epoch) return this.behind(offset)
    const runs = this.#table?.runs() ?? []
    const index = runs.findIndex((run) => run.epoch === epoch)
    const run = runs[index]
    if (run === undefined) return null
    // A killed run has sent more than it stored, but never by more than this. A client that received the rest has
    // missed nothing.
    const isAhead = run.endOffset !== null && offset > run.endOffset + outstandingWritesMax
    return isAhead ? null : { runs: runs.slice(index), offset }
  }

  /** The position after an offset of the current run; null if it is ahead or no longer retained. */
  behind(offset: number): LogPosition | null {
    if (offset > this.newest) return null
    if (this.#table === null && offset < this.#ring.oldest - 1) return null
    return { runs: [this.#present], offset }
  }

  /** The next messages of a run after an offset, in order; empty if there are no more. */
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

  /** Null: `read` can return the next messages of a run after an offset. Otherwise it resolves when `read` can. */
  arrival(run: RunView, offset: number): Promise<void> | null {
    const isPresent = run.number === this.#present.number
    if (isPresent && (offset >= this.newest || offset + 1 >= this.#ring.oldest)) return null
    return this.#table?.arrival?.({ run: run.number, offset }) ?? null
  }

  /** Losses announced at or after a position, oldest first. */
  losses({ runs, offset }: LogPosition): readonly Loss[] {
    const table = this.#table
    if (table === null) return []
    return runs.flatMap((run, index) =>
      table.losses({ run: run.number, offset: index === 0 ? offset : 0 }),
    )
  }
}
