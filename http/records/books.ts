// Writes the Orderbook record as JSON text, for one market or for a market consolidated with its match on the other
// venue. The text is split at its live values, so that the rest can be cached (market-answer-cache.ts).

import type { BookView, EngineView, MarketView } from '../../actors/views.ts'
import type { Level } from '../../engine/events.ts'
import { invertedBook, levelsText, levelText, marketTexts, spreadText } from './render.ts'

/** A book's text, split at `timestamp_ms` and `age_ms`. */
export interface BookTemplate {
  readonly head: string
  /** Null before the first snapshot: the current time is shown. */
  readonly venueTimeMs: number | null
  readonly middle: string
  /** Time of the last change or confirmation of the book. Null before the first snapshot: there is no age. */
  readonly confirmedAtMs: number | null
}

interface BookQuery {
  /** 0, or 1 for the second outcome: bids and asks are swapped, prices become complements. */
  readonly outcomeIndex: number
  /** Maximum levels per side; undefined: all. */
  readonly depth: number | undefined
  /** The market of the same question on the other venue, with the same first outcome. Null: this market only. */
  readonly matchedMarket: MarketView | null
  /** In a consolidated book, a book that was last confirmed before this time is stale. */
  readonly confirmedFromMs: number
}

export const PLAIN_BOOK: BookQuery = {
  outcomeIndex: 0,
  depth: undefined,
  matchedMarket: null,
  confirmedFromMs: 0,
}

/** The market's book for a query; `epoch` is the epoch of this run, as quoted text. */
export function bookTemplate(view: MarketView, epoch: string, query: BookQuery): BookTemplate {
  const { outcomeIndex, depth, matchedMarket } = query
  const { id, platform, labels } = marketTexts(view)
  const book = shown(view)
  const outcome = labels[outcomeIndex] ?? '""'
  const parts = { id, outcome, epoch }
  const ours = { book: outcomeIndex === 0 ? book : invertedBook(book), platform }
  if (matchedMarket === null) {
    const { bids, asks } = ours.book
    const sides = `"bids":${levelsText(bids, platform, depth)},"asks":${levelsText(asks, platform, depth)}`
    const spread = spreadText(bids[0]?.price ?? null, asks[0]?.price ?? null)
    return buildTemplate({ ...parts, sides, spread, book: facts(view, book) })
  }
  const other = shown(matchedMarket)
  const isOld = [view, matchedMarket].some(({ bookConfirmedAtMs: atMs }) => {
    return atMs === null || atMs < query.confirmedFromMs
  })
  const theirs = {
    book: outcomeIndex === 0 ? other : invertedBook(other),
    platform: marketTexts(matchedMarket).platform,
  }
  const [bids, asks] = [merged('bids', ours, theirs), merged('asks', ours, theirs)]
  const sides = `"bids":${sideText(bids, depth)},"asks":${sideText(asks, depth)}`
  const spread = spreadText(bids[0]?.price ?? null, asks[0]?.price ?? null)
  const both = together(facts(view, book), facts(matchedMarket, other))
  return buildTemplate({
    ...parts,
    sides,
    spread,
    book: { ...both, isStale: both.isStale || isOld },
  })
}

/** The book, marked stale also while messages of its venue are unread. */
function shown(view: MarketView): BookView {
  const book = view.book()
  return view.isBehind ? { ...book, isStale: true } : book
}

/**
 * Fetches over REST those of the books that were not confirmed recently. Null: all were confirmed, or cannot be
 * fetched.
 */
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

/** The record at `nowMs`. */
export function fillBook(template: BookTemplate, nowMs: number): string {
  const { head, venueTimeMs, middle, confirmedAtMs } = template
  const age = confirmedAtMs === null ? 'null' : String(Math.max(0, nowMs - confirmedAtMs))
  return `${head}${venueTimeMs ?? nowMs}${middle}${age}}`
}

type BookFacts = Pick<BookView, 'isStale' | 'venueTimeMs'> & {
  readonly confirmedAtMs: BookView['receivedAtMs']
  /** Null for a consolidated book: a sequence number belongs to one stream. */
  readonly seq: number | null
}

function facts({ bookConfirmedAtMs }: MarketView, book: BookView): BookFacts {
  const { isStale, venueTimeMs, seq } = book
  return { isStale, venueTimeMs, confirmedAtMs: bookConfirmedAtMs, seq }
}

function buildTemplate(parts: {
  id: string
  outcome: string
  sides: string
  spread: string
  epoch: string
  book: BookFacts
}): BookTemplate {
  const { id, outcome, sides, spread, epoch, book } = parts
  return {
    head: `{"market_id":${id},"outcome":${outcome},${sides},${spread},"timestamp_ms":`,
    venueTimeMs: book.venueTimeMs,
    middle: `,"seq":${book.seq},"epoch":${epoch},"stale":${book.isStale},"age_ms":`,
    confirmedAtMs: book.confirmedAtMs,
  }
}

/**
 * Facts of a consolidated book: no sequence number, the newest change of both, the age of the older, and stale if
 * either is stale.
 */
function together(ours: BookFacts, theirs: BookFacts): BookFacts {
  return {
    seq: null,
    isStale: ours.isStale || theirs.isStale,
    venueTimeMs: pickNonNull(ours.venueTimeMs, theirs.venueTimeMs, (one, two) => one > two),
    confirmedAtMs: pickNonNull(ours.confirmedAtMs, theirs.confirmedAtMs, (one, two) => one < two),
  }
}

function pickNonNull<Time>(
  one: Time | null,
  two: Time | null,
  isWanted: (one: Time, two: Time) => boolean,
): Time | null {
  if (one === null || two === null) return one ?? two
  return isWanted(one, two) ? one : two
}

/** A book and its platform as quoted text. */
interface Source {
  readonly book: BookView
  readonly platform: string
}

interface VenueLevel extends Level {
  readonly platform: string
}

/**
 * One side of a consolidated book, best first. Two levels of equal price stay separate; the requested market's comes
 * first.
 */
function merged(side: 'bids' | 'asks', ours: Source, theirs: Source): VenueLevel[] {
  const sign = side === 'bids' ? -1 : 1
  const levels: VenueLevel[] = []
  const own = ours.book[side]
  const other = theirs.book[side]
  let ownIndex = 0
  let otherIndex = 0
  for (;;) {
    const first = own[ownIndex]
    const second = other[otherIndex]
    if (first !== undefined && (second === undefined || sign * (first.price - second.price) <= 0)) {
      levels.push({ price: first.price, size: first.size, platform: ours.platform })
      ownIndex += 1
    } else if (second !== undefined) {
      levels.push({ price: second.price, size: second.size, platform: theirs.platform })
      otherIndex += 1
    } else return levels
  }
}

function sideText(levels: readonly VenueLevel[], depth = levels.length): string {
  const shown = levels.slice(0, depth)
  return `[${shown.map(({ price, size, platform }) => levelText(price, size, platform)).join(',')}]`
}
