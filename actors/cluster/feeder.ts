// Writes the leading engine's changes into the log that gateways and standbys read.

import { marketShards, type ShardName } from '../../engine/cluster/cluster-log.ts'
import type { ItemPosition } from '../../engine/cluster/writer.ts'
import { countedChannelOf, perChannel, type Trade, type Update } from '../../engine/events.ts'
import { bookLevelsMax } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { Publisher, Watcher } from '../../engine/publisher.ts'
import type { TeamListing } from '../../engine/team-listing.ts'
import type { StoredMatch } from '../../storage/contract/matches.ts'
import type { EventSummary, MarketSummary, MatchTable } from '../../storage/contract/storage.ts'
import type {
  EngineFigures,
  LogItem,
  MarketState,
  Quoted,
} from '../../storage/records/log-items.ts'
import type { CatalogView, CatalogWatcher, MarketView, VenueView } from '../views.ts'
import { completeText, DescriptionWriter } from './description-writer.ts'
import { CachedBlocks } from './packed.ts'
import { Teams } from './teams.ts'

interface FeederParts {
  readonly put: (shard: ShardName, item: LogItem, position: ItemPosition | null) => void
  readonly publisher: Publisher
  readonly catalog: Pick<CatalogView, 'byNumber' | 'event'>
  readonly venues: () => readonly VenueView[]
  readonly figures: () => EngineFigures
}

/** Updates of the `books` shard, which the log retains for minutes. */
const BOOKS: ReadonlySet<Update['kind']> = new Set([
  'book',
  'bookReplaced',
  'bookStale',
  'bookConfirmed',
  'price',
])
const PAST_MARKETS_MAX = 10_000

export class Feeder implements Watcher, CatalogWatcher {
  readonly name = 'log'
  readonly #parts: FeederParts
  readonly #writtenSummaries = new Map<MarketNumber, MarketSummary>()
  readonly #past = new Set<MarketNumber>()
  readonly #moved = new Set<MarketView>()
  readonly #writtenEvents = new WeakSet<EventSummary>()
  readonly #texts = new DescriptionWriter()
  readonly packedTexts: CachedBlocks<MarketView>
  readonly packedRows: CachedBlocks<MarketView>
  readonly teams = new Teams()
  version = 0
  /** False until the first checkpoint. Nothing is written before, because the checkpoint contains the changes. */
  isOpen = false

  constructor(parts: FeederParts) {
    this.#parts = parts
    const market = (number: MarketNumber) => parts.catalog.byNumber(number)
    this.packedTexts = new CachedBlocks(market, completeText, true)
    this.packedRows = new CachedBlocks(market, (view) => [
      listedItem(view, parts.publisher, this.version),
    ])
  }

  onUpdate(update: Update): void {
    if (!this.isOpen) return
    const item: LogItem = { kind: 'update', update, book: this.#bookOf(update) }
    const channel = countedChannelOf(update.kind)
    const position =
      channel !== null && 'offset' in update ? { channel, offset: update.offset } : null
    this.#put(BOOKS.has(update.kind) ? 'books' : 'trades', item, position)
  }

  /** Past trades arrive in pages, so `beat` writes their markets once. */
  onPastTrade({ number }: MarketRef, { isBlock }: Trade): void {
    if (this.isOpen && !isBlock) this.#past.add(number)
  }

  #bookOf(update: Update) {
    if (update.kind !== 'bookReplaced') return null
    return this.#parts.catalog.byNumber(update.market.number)?.levels(bookLevelsMax) ?? null
  }

  onListed(market: MarketView): void {
    this.packedTexts.touch(market)
    this.packedRows.touch(market)
    if (!this.isOpen) return
    for (const part of this.#texts.changedParts(market)) this.#writeToAllShards(part)
    this.onChanged(market)
  }

  onChanged(market: MarketView): void {
    const { ref, summary } = market
    this.packedRows.touch(market)
    if (!this.isOpen || this.#writtenSummaries.get(ref.number) === summary) return
    this.#writtenSummaries.set(ref.number, summary)
    this.#writeEventOf(market)
    this.version += 1
    this.#writeToAllShards(listedItem(market, this.#parts.publisher, this.version))
  }

  onMoved(market: MarketView): void {
    if (this.isOpen) this.#moved.add(market)
  }

  /** An event is read before its markets, so it is written with its first market. */
  #writeEventOf({ ref, summary }: MarketView): void {
    if (summary.event === null) return
    const event = this.#parts.catalog.event(ref.venue, summary.event)
    if (event === null || this.#writtenEvents.has(event)) return
    this.#writtenEvents.add(event)
    this.version += 1
    this.#writeToAllShards({ kind: 'event', version: this.version, event })
  }

  onRemoved(market: MarketView): void {
    const { ref } = market
    this.#moved.delete(market)
    this.#writtenSummaries.delete(ref.number)
    this.#texts.remove(market)
    this.packedTexts.touch(market)
    this.packedRows.touch(market)
    if (!this.isOpen) return
    this.version += 1
    this.#writeToAllShards({ kind: 'forgotten', version: this.version, market: ref.number })
  }

  onEvent(markets: readonly MarketView[]): void {
    const [first] = markets
    if (this.isOpen && first !== undefined) this.#writeEventOf(first)
  }

  tap(table: MatchTable): MatchTable {
    return {
      all: () => table.all(),
      put: (match: StoredMatch) => {
        table.put(match)
        this.#writePair(match.a, { kind: 'matched', match })
      },
      remove: (market: MarketNumber) => {
        table.remove(market)
        this.#writePair(market, { kind: 'unmatched', market })
      },
    }
  }

  /**
   * Writes the status of the venues and the database every second. Readers notice from missing items that no engine
   * writes.
   */
  beat(): void {
    for (const feed of this.#parts.venues()) this.#put('trades', { kind: 'feed', feed })
    this.#put('trades', { kind: 'figures', figures: this.#parts.figures() })
    for (const market of this.#moved) {
      const quoted = quotedOf(market, this.#parts.publisher)
      this.#put('trades', { kind: 'quoted', market: market.ref.number, quoted })
    }
    this.#moved.clear()
    const past = [...this.#past]
    this.#past.clear()
    for (let from = 0; from < past.length; from += PAST_MARKETS_MAX) {
      this.#put('trades', { kind: 'past', markets: past.slice(from, from + PAST_MARKETS_MAX) })
    }
  }

  learnTeams(listings: readonly TeamListing[]): void {
    for (const item of this.teams.take(listings)) if (this.isOpen) this.#put('trades', item)
  }

  *otherState(): Iterable<LogItem> {
    yield* this.teams.items()
    for (const feed of this.#parts.venues()) yield { kind: 'feed', feed }
    yield { kind: 'figures', figures: this.#parts.figures() }
  }

  #writePair(market: MarketNumber, item: LogItem): void {
    const isListed = this.#parts.catalog.byNumber(market) !== null
    if (this.isOpen && isListed) this.#put('trades', item)
  }

  #writeToAllShards(item: LogItem): void {
    for (const shard of marketShards) this.#put(shard, item)
  }

  #put(shard: ShardName, item: LogItem, position: ItemPosition | null = null): void {
    this.#parts.put(shard, item, position)
  }
}

export function listedItem(market: MarketView, publisher: Publisher, version: number): LogItem {
  const quoted = quotedOf(market, publisher)
  const { summary, ref } = market
  return { kind: 'listed', version, market: ref.number, quoted, summary }
}

function quotedOf(market: MarketView, publisher: Publisher): Quoted {
  const { number } = market.ref
  return {
    price: market.price(),
    figures: market.figures,
    tradesSeq: publisher.latest('trades', number).seq,
    pricesSeq: publisher.latest('prices', number).seq,
  }
}

export function stateOf(market: MarketView, publisher: Publisher): MarketState {
  const { number } = market.ref
  return {
    market: number,
    book: market.levels(bookLevelsMax),
    price: market.price(),
    figures: market.figures,
    seqs: perChannel((channel) => publisher.latest(channel, number).seq),
  }
}
