// Writes Orderbook records as JSON text, for one market or consolidated with its match on the other venue.

import type { BookLevels, EngineView, MarketView } from '../../actors/views.ts'
import type { Level } from '../../engine/events.ts'
import { complement } from '../../engine/units.ts'
import { type CacheBounds, FactCache } from './fact-cache.ts'
import { levelsText, levelText, marketTexts, spreadText, staleText } from './render.ts'

interface BookQuery {
  /** 0, or 1 for the second outcome. For 1, bids and asks are swapped and prices become complements. */
  readonly outcomeIndex?: number
  /** Maximum levels per side. Default: all. */
  readonly depth?: number | undefined
  /** The matched market on the other venue, with the same first outcome. Null: no consolidation. */
  readonly matchedMarket?: MarketView | null
}

/** The text of a record without the values of `timestamp_ms` and `age_ms`. */
interface Template {
  readonly head: string
  /** Null before the first snapshot. The record then contains the current time. */
  readonly venueTimeMs: number | null
  readonly middle: string
  /** Time of the last change or confirmation of the book. Null before the first snapshot. */
  readonly confirmedAtMs: number | null
}

/** Caches complete books of first outcomes until the market changes, since they are requested most often. */
export class BookRecords {
  readonly #engine: Pick<EngineView, 'epoch' | 'bookAgeMsMax'>
  readonly #cache: FactCache<Template>

  constructor(engine: Pick<EngineView, 'epoch' | 'bookAgeMsMax'>, bounds?: CacheBounds) {
    this.#engine = engine
    this.#cache = new FactCache(({ head }) => 2 * head.length, bounds)
  }

  text(view: MarketView, nowMs: number, query: BookQuery = {}): string {
    const { outcomeIndex = 0, depth, matchedMarket = null } = query
    const isPlain = outcomeIndex === 0 && depth === undefined && matchedMarket === null
    const { head, venueTimeMs, middle, confirmedAtMs } = isPlain
      ? this.#cache.get(view.ref.number, [view.summary, view.version], () =>
          this.#template(view, nowMs, query),
        )
      : this.#template(view, nowMs, query)
    const age = confirmedAtMs === null ? null : Math.max(0, nowMs - confirmedAtMs)
    return `${head}${venueTimeMs ?? nowMs}${middle}${age}}`
  }

  /**
   * A consolidated book has the time of the newer book and the age of the older book. It is stale if one of the books
   * is stale or old.
   */
  #template(view: MarketView, nowMs: number, query: BookQuery): Template {
    const { matchedMarket = null } = query
    const { epoch, bookAgeMsMax } = this.#engine
    const views = matchedMarket === null ? [view] : [view, matchedMarket]
    const books = views.map((one) => one.levels(0))
    const venueTimes = books.flatMap(({ venueTimeMs }) => venueTimeMs ?? [])
    const confirmations = views.flatMap(({ bookConfirmedAtMs }) => bookConfirmedAtMs ?? [])
    const confirmedAtMs = confirmations.length === 0 ? null : Math.min(...confirmations)
    const isOld = confirmations.length < views.length || (confirmedAtMs ?? 0) < nowMs - bookAgeMsMax
    const reasons = books.flatMap((book) => book.staleReason ?? [])
    const isDelayed = views.some(({ isBehind }) => isBehind) || (matchedMarket !== null && isOld)
    const staleReason = reasons[0] ?? (isDelayed ? 'delayed' : null)
    // A consolidated book has no sequence number, since each venue's stream has its own.
    const seq = matchedMarket === null ? books[0]?.seq : null
    return {
      // Converts to a flat string. V8 would otherwise traverse the concatenated pieces at every request.
      head: Buffer.from(headText(view, query)).toString(),
      venueTimeMs: venueTimes.length === 0 ? null : Math.max(...venueTimes),
      middle: `,"seq":${seq},"epoch":${JSON.stringify(epoch)},${staleText(staleReason)},"age_ms":`,
      confirmedAtMs,
    }
  }
}

function headText(view: MarketView, query: BookQuery): string {
  const { outcomeIndex = 0, depth, matchedMarket = null } = query
  const { id, platform, labels } = marketTexts(view)
  const { bids, asks } = bookOf(view, query)
  const outcome = labels[outcomeIndex] ?? '""'
  const start = `{"market_id":${id},"outcome":${outcome}`
  const end = (one: readonly Level[], two: readonly Level[]) =>
    `${spreadText(one[0]?.price ?? null, two[0]?.price ?? null)},"timestamp_ms":`
  if (matchedMarket === null) {
    return `${start},"bids":${levelsText(bids, platform)},"asks":${levelsText(asks, platform)},${end(bids, asks)}`
  }
  const other = bookOf(matchedMarket, query)
  const otherPlatform = marketTexts(matchedMarket).platform
  // Levels of equal price stay separate. Levels of the requested market come first.
  const merged = (own: readonly Level[], others: readonly Level[], sign: number) =>
    [
      ...own.map((level) => ({ ...level, platform })),
      ...others.map((level) => ({ ...level, platform: otherPlatform })),
    ]
      .sort((one, two) => sign * (one.price - two.price))
      .slice(0, depth)
  const text = (levels: ReturnType<typeof merged>) =>
    `[${levels.map((level) => levelText(level.price, level.size, level.platform)).join(',')}]`
  const [allBids, allAsks] = [merged(bids, other.bids, -1), merged(asks, other.asks, 1)]
  return `${start},"bids":${text(allBids)},"asks":${text(allAsks)},${end(allBids, allAsks)}`
}

function bookOf(view: MarketView, { outcomeIndex = 0, depth }: BookQuery) {
  const book: Pick<BookLevels, 'bids' | 'asks'> = view.levels(depth ?? Number.POSITIVE_INFINITY)
  if (outcomeIndex === 0) return book
  const invert = ({ price, size }: Level): Level => ({ price: complement(price), size })
  return { bids: book.asks.map(invert), asks: book.bids.map(invert) }
}

/** Maximum wait for the first snapshot of a newly covered book. */
const FIRST_SNAPSHOT_MS = 2_000

/**
 * Requests coverage for `owner`, an account id or an anonymous caller's address. Resolves when newly covered books are
 * live, or after FIRST_SNAPSHOT_MS. Null if there is no book to wait for.
 */
export function coverBooks(
  engine: Pick<EngineView, 'coverage'>,
  views: readonly MarketView[],
  owner: string,
): Promise<void> | null {
  const snapshots: Promise<void>[] = []
  for (const view of views) {
    const { venue, number } = view.ref
    const demand = view.summary.status === 'open' ? engine.coverage(venue) : null
    if (demand?.request(number, owner) !== true) continue
    if (view.levels(0).staleReason !== 'not_covered') continue
    snapshots.push(demand.live(number, FIRST_SNAPSHOT_MS, owner))
  }
  return snapshots.length === 0 ? null : Promise.all(snapshots).then(() => undefined)
}

/** Requests by REST the books that were not confirmed recently. Null if no book can or must be confirmed. */
export function confirmBooks(
  { bookAgeMsMax, confirmBook }: Pick<EngineView, 'bookAgeMsMax' | 'confirmBook'>,
  views: readonly MarketView[],
  nowMs: number,
): Promise<unknown> | null {
  const confirmations = views.flatMap((view) => {
    const { bookConfirmedAtMs: atMs } = view
    const isOld = atMs !== null && nowMs - atMs > bookAgeMsMax
    return isOld ? (confirmBook(view) ?? []) : []
  })
  return confirmations.length === 0 ? null : Promise.all(confirmations)
}
