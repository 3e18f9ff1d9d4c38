// Resumes books from an offset. A market whose book was replaced since gets `resync` and a snapshot; the others get the
// missed updates in order. All become live in the tick in which nothing is missing. If the retained updates do not
// reach back, every market gets `resync` and a snapshot (fill.ts).

import type { MarketView } from '../../../actors/views.ts'
import type { BookUpdate } from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { CommandId, Since } from '../command.ts'
import {
  type Encoder,
  type Frame,
  type ResyncReason,
  resyncMessage,
  staleMessage,
} from '../encode/encoder.ts'
import type { ChannelName, WideKey } from '../fan-out/channel-variants.ts'
import { type Connection, skipsPerTick } from '../session/connection.ts'
import { subscribeSingles, subscribeWide } from '../session/fill.ts'
import type { HubAccess } from '../session/hub-access.ts'
import type { Resolved } from '../session/resolve.ts'
import { contains } from '../session/subscriptions.ts'
import type { RecentBookUpdates, Replacement } from './recent-book-updates.ts'

/** The markets of a command that use topics of its own. */
interface Target {
  readonly channel: ChannelName
  readonly key: WideKey | null
  readonly refs: ReadonlyMap<MarketNumber, MarketRef>
}

/** The channel of books: its name, its recent updates, and their writer. */
interface Books {
  readonly channel: ChannelName
  readonly recent: RecentBookUpdates
  write(encoder: Encoder, update: BookUpdate): Frame
}

/** Subscribes to books from an offset. False: `resumed` was the answer; true: `synced` must follow. */
export function* resumeBooks(
  connection: Connection,
  hub: HubAccess,
  wanted: { id: CommandId; since: Since; resolved: Resolved; books: Books },
): Generator<void, boolean> {
  const { id, since, resolved, books } = wanted
  const { channel, recent } = books
  const isOurs = since.epoch === hub.publisher.epoch
  const subscriptions = connection.subscriptions.of(channel)
  const isWithin =
    resolved.kind === 'wide'
      ? subscriptions.covers(resolved.key) && !subscriptions.wide.has(resolved.key)
      : resolved.refs.some((ref) => subscriptions.covers(ref.venue))
  const target: Target = {
    channel,
    key: resolved.kind === 'wide' ? resolved.key : null,
    refs: new Map(resolved.kind === 'wide' ? [] : resolved.refs.map((ref) => [ref.number, ref])),
  }
  // A wider live subscription would overtake the missed updates, so send new states instead.
  if (isWithin || !isOurs || !recent.reachesBack(since.offset)) {
    yield* startAgain(connection, hub, target, isOurs ? 'slow_consumer' : 'restart')
    return true
  }
  unsubscribeTarget(connection, target)
  const resume = new BookResume(connection, hub, { target, books, since: since.offset })
  if (!(yield* resume.run())) {
    yield* startAgain(connection, hub, target, 'slow_consumer')
    return true
  }
  resume.nameStale()
  subscribeTarget(connection, target)
  const { epoch } = hub.publisher
  const replayed = resume.count
  const { newest: offset } = recent
  connection.reply({ type: 'resumed', id, channel, replayed, epoch, offset })
  return false
}

/** Sends `resync` and a snapshot for every market; each is live from its own snapshot on. */
function* startAgain(
  connection: Connection,
  hub: HubAccess,
  { channel, key, refs }: Target,
  reason: ResyncReason,
): Generator<void, void> {
  const before = ({ ref }: MarketView) => connection.reply(resyncMessage(channel, ref, reason))
  if (key !== null) yield* subscribeWide(connection, hub, { variant: channel, key, before })
  else {
    const list = [...refs.values()]
    yield* subscribeSingles(connection, hub, { variant: channel, refs: list, before })
  }
}

/** Leaves the topics, so that live updates cannot overtake the missed ones. */
function unsubscribeTarget(connection: Connection, { channel, key, refs }: Target): void {
  const subscriptions = connection.subscriptions.of(channel)
  const taken = key === null ? [] : subscriptions.takeContained(key)
  for (const { variant, key: topic } of taken) connection.unsubscribe(variant, topic)
  for (const number of refs.keys()) {
    if (subscriptions.singles.delete(number)) connection.unsubscribe(channel, number)
  }
}

function subscribeTarget(connection: Connection, { channel, key, refs }: Target): void {
  const { singles, wide } = connection.subscriptions.of(channel)
  if (key !== null) {
    wide.set(key, channel)
    connection.subscribe(channel, key)
  }
  for (const ref of refs.values()) {
    singles.set(ref.number, { ref, variant: channel })
    connection.subscribe(channel, ref.number)
  }
}

class BookResume {
  /** Number of updates sent. */
  count = 0
  readonly #connection: Connection
  readonly #hub: HubAccess
  readonly #target: Target
  readonly #books: Books
  readonly #since: number
  /** Markets that got a snapshot: its offset, and the replacement that it includes. */
  readonly #snapshots = new Map<
    MarketNumber,
    { readonly offset: number; readonly serial: number }
  >()
  /** Replacements up to this serial have been processed. */
  #serial = 0

  constructor(
    connection: Connection,
    hub: HubAccess,
    wanted: { target: Target; books: Books; since: number },
  ) {
    this.#connection = connection
    this.#hub = hub
    this.#target = wanted.target
    this.#books = wanted.books
    this.#since = wanted.since
  }

  /** Ends in the tick in which nothing is missing. False: some updates were overwritten meanwhile. */
  *run(): Generator<void, boolean> {
    const books = this.#books.recent
    let offset = this.#since
    for (;;) {
      // Ends in the tick in which no replacement remains, so that only updates may be missing.
      yield* this.#replaced()
      if (offset === books.newest) return true
      for (let skipped = 0; offset < books.newest; ) {
        // Most updates concern markets that this client does not follow: do not decode those.
        const market = books.marketAt(offset + 1)
        if (market === null) return false
        offset += 1
        skipped += 1
        const isTaken = this.#isWanted(market) && this.#take(market, offset)
        const update = isTaken ? books.get(offset) : null
        const isSent = update !== null
        if (isSent) {
          this.#connection.send(this.#books.write(this.#connection.encoder, update))
          this.count += 1
        }
        if (isSent || skipped % skipsPerTick === 0) yield
      }
    }
  }

  /**
   * Sends `stale` for books that are stale now and whose snapshot did not report it. Call it in the tick in which
   * nothing is missing.
   */
  nameStale(): void {
    for (const stale of this.#books.recent.staleBooks()) {
      const { market } = stale
      if (!this.#isWanted(market) || this.#snapshots.has(market.number)) continue
      this.#connection.reply(staleMessage(this.#target.channel, stale))
    }
  }

  /** Whether to send the update at an offset. Sends a snapshot instead if necessary. */
  #take(market: MarketRef, offset: number): boolean {
    const replacement = this.#books.recent.replacement(market.number)
    if (replacement !== null && this.#isMissing(replacement)) this.#replace(replacement)
    const snapshot = this.#snapshots.get(market.number)
    return snapshot === undefined || offset > snapshot.offset
  }

  /** Processes every book replaced since, including those without later updates. */
  *#replaced(): Generator<void, void> {
    const books = this.#books.recent
    const { key, refs } = this.#target
    while (this.#serial < books.serial) {
      const { serial } = books
      const candidates =
        key === null
          ? Array.from(refs.keys(), (number) => books.replacement(number))
          : [...books.replacements()]
      let checked = 0
      for (const replacement of candidates) {
        checked += 1
        const isMissing = replacement !== null && this.#isMissing(replacement)
        if (isMissing && this.#isWanted(replacement.market)) this.#replace(replacement)
        if (isMissing || checked % skipsPerTick === 0) yield
      }
      this.#serial = serial
    }
  }

  #isWanted({ number, venue }: MarketRef): boolean {
    const { key, refs } = this.#target
    return key === null ? refs.has(number) : contains(key, venue)
  }

  /** Whether the client cannot have this replacement's book, even at an equal offset. */
  #isMissing({ market, offset, serial }: Replacement): boolean {
    const snapshot = this.#snapshots.get(market.number)
    return snapshot === undefined ? offset >= this.#since : serial > snapshot.serial
  }

  #replace({ market, reason }: Replacement): void {
    const books = this.#books.recent
    const { engine } = this.#hub
    const view = engine.catalog.find(market.id)
    const serial = books.replacement(market.number)?.serial ?? 0
    this.#snapshots.set(market.number, { offset: books.newest, serial })
    if (view === null) return
    const { channel } = this.#target
    this.#connection.reply(resyncMessage(channel, market, reason))
    this.#connection.sendState(channel, view)
  }
}
