// Resumes books from an offset. A market whose book was replaced after the offset gets `resync` and a snapshot. The
// remaining markets get the missed updates in order, and all become live in the same tick. If the missed updates are no
// longer stored, every market gets `resync` and a snapshot (fill.ts).

import type { MarketView } from '../../../actors/views.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { bookUpdate, ORDERBOOK } from '../channels/orderbook.ts'
import type { CommandId, Since } from '../command.ts'
import { resyncMessage, staleMessage } from '../encode/encoder.ts'
import { type Connection, type HubAccess, skipsPerTick } from '../session/connection.ts'
import { subscribeSingles, subscribeWide } from '../session/fill.ts'
import { contains, type Subscribed } from '../session/subscriptions.ts'
import type { RecentBookUpdates, Replacement } from './recent-book-updates.ts'

/** Returns false if it has sent `resumed`, or true if the caller must send `synced`. */
export function* resumeBooks(
  connection: Connection,
  hub: HubAccess,
  wanted: { id: CommandId; since: Since; subscribed: Subscribed; books: RecentBookUpdates },
): Generator<void, boolean> {
  const { id, since, subscribed, books } = wanted
  const { epoch } = hub.publisher
  const isOurs = since.epoch === epoch
  // Live messages of the wider subscription would overtake the missed updates, so new states are sent instead.
  const isPart = connection.subscriptions.of(ORDERBOOK).isPart(subscribed)
  if (!isPart && isOurs && books.reachesBack(since.offset)) {
    // Unsubscribe first, so that live updates cannot overtake the missed updates.
    connection.leave(ORDERBOOK, subscribed)
    const resume = new BookResume(connection, hub, { subscribed, books, since: since.offset })
    if (yield* resume.run()) {
      resume.sendStale()
      connection.join(ORDERBOOK, subscribed)
      const { count: replayed } = resume
      const { newest: offset } = books
      connection.reply({ type: 'resumed', id, channel: ORDERBOOK, replayed, epoch, offset })
      return false
    }
  }
  const reason = isOurs ? 'slow_consumer' : 'restart'
  const before = ({ ref }: MarketView) => connection.reply(resyncMessage(ORDERBOOK, ref, reason))
  const { key, refs } = subscribed
  if (key !== null) yield* subscribeWide(connection, hub, { variant: ORDERBOOK, key, before })
  else yield* subscribeSingles(connection, hub, { variant: ORDERBOOK, refs, before })
  return true
}

class BookResume {
  count = 0
  readonly #connection: Connection
  readonly #hub: HubAccess
  readonly #key: Subscribed['key']
  readonly #numbers: ReadonlySet<MarketNumber>
  readonly #books: RecentBookUpdates
  readonly #since: number
  /** Markets that got a snapshot, with the snapshot's offset and the serial of the newest replacement that it includes. */
  readonly #snapshots = new Map<MarketNumber, Pick<Replacement, 'offset' | 'serial'>>()
  /** Replacements up to this serial have been processed. */
  #serial = 0

  constructor(
    connection: Connection,
    hub: HubAccess,
    wanted: { subscribed: Subscribed; books: RecentBookUpdates; since: number },
  ) {
    this.#connection = connection
    this.#hub = hub
    this.#key = wanted.subscribed.key
    this.#numbers = new Set(wanted.subscribed.refs.map(({ number }) => number))
    this.#books = wanted.books
    this.#since = wanted.since
  }

  /** Returns true in the tick in which nothing is missing, or false if some updates were overwritten meanwhile. */
  *run(): Generator<void, boolean> {
    const books = this.#books
    let offset = this.#since
    for (;;) {
      // Returns in the tick in which no replacement is left, so that only updates can be missing.
      yield* this.#sendReplaced()
      if (offset === books.newest) return true
      for (let skipped = 0; offset < books.newest; ) {
        const market = books.marketAt(offset + 1)
        if (market === null) return false
        offset += 1
        skipped += 1
        const isSent = this.#isWanted(market) && this.#take(market, offset)
        const update = isSent ? books.get(offset) : null
        if (update !== null) {
          this.#connection.send(bookUpdate(this.#connection.encoder, update))
          this.count += 1
        }
        if (isSent || skipped % skipsPerTick === 0) yield
      }
    }
  }

  /**
   * Sends `stale` for stale books, except those that got a snapshot, which contains the flag. Call it in the tick in
   * which nothing is missing.
   */
  sendStale(): void {
    for (const stale of this.#books.staleBooks()) {
      const { market } = stale
      if (!this.#isWanted(market) || this.#snapshots.has(market.number)) continue
      this.#connection.reply(staleMessage(ORDERBOOK, stale))
    }
  }

  /** Returns true if the update must be sent. Sends a snapshot first if the book was replaced. */
  #take(market: MarketRef, offset: number): boolean {
    const replacement = this.#books.replacement(market.number)
    if (replacement !== null && this.#isMissing(replacement)) this.#replace(replacement)
    const snapshot = this.#snapshots.get(market.number)
    return snapshot === undefined || offset > snapshot.offset
  }

  /** Sends a snapshot for each book that was replaced after the offset, even if no update follows. */
  *#sendReplaced(): Generator<void, void> {
    const books = this.#books
    while (this.#serial < books.serial) {
      const { serial } = books
      const replacements =
        this.#key === null
          ? Array.from(this.#numbers, (number) => books.replacement(number) ?? [])
          : [...books.replacements()]
      let checked = 0
      for (const replacement of replacements.flat()) {
        checked += 1
        const isMissing = this.#isWanted(replacement.market) && this.#isMissing(replacement)
        if (isMissing) this.#replace(replacement)
        if (isMissing || checked % skipsPerTick === 0) yield
      }
      this.#serial = serial
    }
  }

  #isWanted({ number, venue }: MarketRef): boolean {
    return this.#key === null ? this.#numbers.has(number) : contains(this.#key, venue)
  }

  /** True if the client lacks the replaced book. At an equal offset the client may lack it, so it is sent again. */
  #isMissing({ market, offset, serial }: Replacement): boolean {
    const snapshot = this.#snapshots.get(market.number)
    return snapshot === undefined ? offset >= this.#since : serial > snapshot.serial
  }

  #replace({ market, reason }: Replacement): void {
    const serial = this.#books.replacement(market.number)?.serial ?? 0
    this.#snapshots.set(market.number, { offset: this.#books.newest, serial })
    const view = this.#hub.engine.catalog.find(market.id)
    if (view === null) return
    this.#connection.reply(resyncMessage(ORDERBOOK, market, reason))
    this.#connection.sendState(ORDERBOOK, view)
  }
}
