// A channel whose every message counts (trades, whales, lifecycle) as one long log: the newest of this
// run in memory, what is older in a table if the channel has one, run after run.
//
//   run 1  1 ……… 812 │ run 2  1 ……… 97 │ this run  1 …… table …… │ ring …… newest
//
// The ring holds references, each at its offset modulo the capacity: when it is full the oldest is overwritten, and a
// connection that needed it reads the table, or gets a gap.

import type { RunView } from '../../../actors/views.ts'
import type { GapUpdate, StatusUpdate, Update } from '../../../engine/events.ts'
import type { VenueKey } from '../../../engine/ids.ts'
import { outstandingWritesMax, replayReadRows } from '../../../engine/limits.ts'
import type { MarketNumber } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { Since } from '../command.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import type { ChannelName, ChannelVariant } from '../fan-out/channel-variants.ts'

/** An update of a market, at its place in a channel. */
export type LoggedUpdate = Exclude<Update, StatusUpdate | GapUpdate>

/** Whether an update is of a market. */
export function isLogged(update: Update): update is LoggedUpdate {
  return update.kind !== 'status' && update.kind !== 'gap'
}

/** When messages were lost; `fromMs` null: it is not known since when. */
export interface LostRange {
  readonly fromMs: TimeMs | null
  readonly toMs: TimeMs
  /** How many messages of the channel; null: not known. */
  readonly count: number | null
}

/** Messages of a market, or of any market of a venue, that could not be brought back. */
export interface Loss extends LostRange {
  readonly venue: VenueKey
  readonly market: MarketNumber | null
}

/** A channel's log, and how its messages are written again. */
export interface ChannelLog {
  readonly messages: MessageLog
  /** Null: the update is none of the channel's. `epoch`: of the run that sent it first. */
  write(encoder: Encoder, update: LoggedUpdate, epoch?: string): Frame | null
  /** Whether a message of this run is for clients of an earlier one, whose messages are gone. */
  isOfEarlier?(update: LoggedUpdate): boolean
  /** Whether a message goes into a lane; without it all go into the channel's only one. */
  isIn?(variant: ChannelVariant, update: LoggedUpdate): boolean
}

/**
 * A message at its place. 'lost': it was sent, but can no longer be read; 'unread': it was not looked
 * at, as its market is not among those asked for.
 */
export interface LogEntry {
  readonly offset: number
  readonly update: LoggedUpdate | 'lost' | 'unread'
}

/** Which messages are asked for; with `markets` the others need not be read. */
interface LogQuery {
  readonly offset: number
  readonly markets: ReadonlySet<MarketNumber> | null
}

/** The messages of a channel on disk. */
export interface MessageTable {
  readonly present: RunView
  /** Oldest first, the present one last. */
  runs(): readonly RunView[]
  /** The next messages of a run behind an offset, in order, as many as half a millisecond reads. */
  range(query: LogQuery & { run: number }): readonly LogEntry[]
  /** What a run announced as lost, at or behind an offset. */
  losses(query: { run: number; offset: number }): readonly Loss[]
  /** Resolves when the messages behind an offset have come to the table or will not; null, and without this: they are there. */
  arrival?(position: { run: number; offset: number }): Promise<void> | null
}

/** Where a reader begins: behind an offset of the first of these runs; the last is the present one. */
export interface LogPosition {
  readonly runs: readonly RunView[]
  readonly offset: number
}

export class MessageLog {
  readonly channel: ChannelName
  readonly #present: RunView
  readonly #ring: MessageRing<LoggedUpdate>
  readonly #table: MessageTable | null

  /** `offset`: how many messages this run has sent already; `table` null: what is older is gone. */
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

  /** The newest offset of the present run. */
  get newest(): number {
    return this.#ring.newest
  }

  /** The beginning of the present run, as far as it is kept. */
  get present(): LogPosition {
    return { runs: [this.#present], offset: this.#ring.oldest - 1 }
  }

  push(update: LoggedUpdate): void {
    this.#ring.push(update)
  }

  /** Where this client left off; null when we cannot know: another epoch, or an offset ahead. */
  find(since: Since): LogPosition | null {
    const { epoch, offset } = since
    if (epoch === this.#present.epoch) return this.behind(offset)
    const runs = this.#table?.runs() ?? []
    const index = runs.findIndex((run) => run.epoch === epoch)
    const run = runs[index]
    if (run === undefined) return null
    // A killed run has sent more than it wrote, though never by more than this. A client that received
    // the rest has missed nothing of it.
    const isAhead = run.endOffset !== null && offset > run.endOffset + outstandingWritesMax
    return isAhead ? null : { runs: runs.slice(index), offset }
  }

  /** The place behind an offset of the present run; null when it lies ahead or is no longer kept. */
  behind(offset: number): LogPosition | null {
    if (offset > this.newest) return null
    if (this.#table === null && offset < this.#ring.oldest - 1) return null
    return { runs: [this.#present], offset }
  }

  /** The next messages of a run behind an offset, in order; none: there are no more. */
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

  /** Null: `read` has the next messages of a run behind an offset. Else it resolves when to read them. */
  arrival(run: RunView, offset: number): Promise<void> | null {
    const isPresent = run.number === this.#present.number
    if (isPresent && (offset >= this.newest || offset + 1 >= this.#ring.oldest)) return null
    return this.#table?.arrival?.({ run: run.number, offset }) ?? null
  }

  /** Losses announced at or behind a place, oldest first. */
  losses({ runs, offset }: LogPosition): readonly Loss[] {
    const table = this.#table
    if (table === null) return []
    return runs.flatMap((run, index) =>
      table.losses({ run: run.number, offset: index === 0 ? offset : 0 }),
    )
  }
}

/** What stands in a ring: anything that has an offset. */
interface HasOffset {
  readonly offset: number
}

/** A bounded memory of messages. */
export class MessageRing<Message extends HasOffset> {
  readonly #ring: (Message | undefined)[] = []
  readonly #capacity: number
  #newest: number
  #oldest: number

  /** `offset`: how many messages this run has published already. */
  constructor(offset: number, capacity: number) {
    this.#newest = offset
    this.#oldest = offset + 1
    this.#capacity = capacity
  }

  /** The offset of the newest message. */
  get newest(): number {
    return this.#newest
  }

  /** The offset of the oldest message kept; newest + 1 when none is. */
  get oldest(): number {
    return this.#oldest
  }

  push(message: Message): void {
    const { offset } = message
    // A hole means that a message was never sent; what lies before it cannot be replayed whole.
    if (offset !== this.#newest + 1) {
      this.#ring.fill(undefined)
      this.#oldest = offset
    }
    this.#newest = offset
    this.#oldest = Math.max(this.#oldest, offset - this.#capacity + 1)
    this.#ring[offset % this.#capacity] = message
  }

  /** Null when it is not kept. */
  get(offset: number): Message | null {
    if (offset < this.#oldest || offset > this.#newest) return null
    return this.#ring[offset % this.#capacity] ?? null
  }
}
