// Items of the cluster log: published updates with their stamps, catalogue rows, pairs, venue status, webhook deliveries,
// and complete market states, which make up checkpoints. An item is a MessagePack list that begins with its code.
// Another process wrote the items, so one that is not exactly well-formed is rejected.

import {
  boolean,
  bytes,
  choice,
  constant,
  type Field,
  flat,
  lastOrNull,
  list,
  mapped,
  marketRef,
  NEWEST,
  nested,
  number,
  orNull,
  price,
  readExactly,
  record,
  single,
  size,
  text,
  time,
  usd,
} from '../../engine/codec.ts'
import {
  type ArbitrageUpdate,
  type BookConfirmed,
  type BookReplaced,
  type BookStale,
  type BookUpdate,
  type FeedStatus,
  type GapUpdate,
  type Level,
  type LevelChange,
  LIFECYCLE_EVENTS,
  type LifecycleUpdate,
  type MarketPrice,
  type PriceUpdate,
  STALE_REASONS,
  type Stamp,
  type StatusUpdate,
  TRADES_SOURCES,
  type TradeUpdate,
  type Update,
  type WhaleUpdate,
} from '../../engine/events.ts'
import { VENUE_KEYS, type VenueKey } from '../../engine/ids.ts'
import {
  MARKET_STATUSES,
  type MarketFacts,
  type MarketNumber,
  type MarketRef,
  RESOLUTION_STATUSES,
} from '../../engine/market/market.ts'
import type { FiguresState } from '../../engine/market/trading-figures.ts'
import { type MsgpackWriter, writeValue } from '../../engine/msgpack-writer.ts'
import type { TeamListing } from '../../engine/team-listing.ts'
import type { TimeMs } from '../../engine/units.ts'
import { DELIVERY_STATUSES, type StoredDelivery } from '../../engine/webhooks/webhook.ts'
import type { StoredMatch } from '../contract/matches.ts'
import type { EventSummary, MarketSummary } from '../contract/storage.ts'
import { fees } from './fees.ts'
import { event, market as marketSummary, outcomes, venue } from './listings.ts'
import { matchOf } from './matches.ts'
import { closeReason, opportunity, peak } from './opportunities.ts'
import { trade, whale } from './trade-fields.ts'

/** A complete book with its position in the stream of books. */
export interface BookState extends Stamp {
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  readonly isStale: boolean
  readonly venueTimeMs: TimeMs | null
  readonly receivedAtMs: TimeMs | null
}

/** All served facts of a market, except its listing and its history. */
export interface MarketState {
  readonly market: MarketNumber
  readonly book: BookState
  readonly price: MarketPrice
  readonly figures: FiguresState
  /** The newest seq of each channel; 0 without a message. */
  readonly seqs: Readonly<Record<SeqChannel, number>>
}
export const SEQ_CHANNELS = ['trades', 'prices', 'whales', 'lifecycle', 'arbitrage'] as const
export type SeqChannel = (typeof SEQ_CHANNELS)[number]

/** A market's state when its row was written, which the row itself does not contain. */
export interface Quoted {
  readonly price: MarketPrice
  readonly figures: FiguresState
  readonly tradesSeq: number
  readonly pricesSeq: number
}

/** A venue feed's status, with facts that the stream does not publish. */
export interface FeedState extends FeedStatus {
  readonly connectionsOpen: number
  readonly connectionsWanted: number
}

/** Part of a market's description, sent before its row. It replaces the text from `from` on. */
export interface TextItem {
  readonly kind: 'text'
  readonly market: MarketNumber
  /** Offset in characters. */
  readonly from: number
  readonly text: string
}

/** Further items of a checkpoint, compressed with deflate into blocks that are read one at a time. */
export interface PackedItem {
  readonly kind: 'packed'
  readonly packed: Uint8Array
  /** Non-null: the block has only texts of the markets in this range, end exclusive, which may be read on demand. */
  readonly texts: NumberRange | null
}

interface NumberRange {
  readonly from: MarketNumber
  readonly to: MarketNumber
}

/**
 * `version` of a row increases with each row that an epoch writes. A market's rows are in both shards of its venue;
 * readers ignore an older version that arrives later.
 */
export type LogItem =
  /** `book`: the levels after it, for `bookReplaced`. */
  | { readonly kind: 'update'; readonly update: Update; readonly book: BookState | null }
  | {
      readonly kind: 'listed'
      readonly version: number
      readonly market: MarketNumber
      readonly quoted: Quoted
      readonly summary: MarketSummary
    }
  /** State of a market whose figures changed without an update. */
  | { readonly kind: 'quoted'; readonly market: MarketNumber; readonly quoted: Quoted }
  | { readonly kind: 'forgotten'; readonly version: number; readonly market: MarketNumber }
  | TextItem
  | PackedItem
  | { readonly kind: 'event'; readonly version: number; readonly event: EventSummary }
  | { readonly kind: 'teams'; readonly listings: readonly TeamListing[] }
  | { readonly kind: 'figures'; readonly figures: EngineFigures }
  | { readonly kind: 'matched'; readonly match: StoredMatch }
  /** Identified by the pair's first market. */
  | { readonly kind: 'unmatched'; readonly market: MarketNumber }
  /** Past trades of these markets were loaded, which no update carries: their bars changed. */
  | { readonly kind: 'past'; readonly markets: readonly MarketNumber[] }
  | { readonly kind: 'feed'; readonly feed: FeedState }
  | { readonly kind: 'state'; readonly state: MarketState }
  /** Batches of this shard from `fromBatch` up to the one before this are lost; reload the state of its markets. */
  | { readonly kind: 'missing'; readonly fromBatch: number }
  | Posting
  | Posted

/** Figures of the engine's database. */
export interface EngineFigures {
  readonly trades: number
  readonly snapshots: number
  readonly databaseBytes: number
  /** Wallets that were ever requested. */
  readonly wallets: number
  /** Times of the oldest and newest trade; null: there is none. */
  readonly coverage: Readonly<
    Partial<Record<VenueKey, { readonly oldestMs: TimeMs; readonly newestMs: TimeMs } | null>>
  >
}

/** A delivery by the webhook's id and the event's `webhook-id`, since each engine assigns its own numbers. */
interface DeliveryRef {
  readonly webhook: string
  readonly eventId: string
}

/** A delivery that was accepted. */
export interface Posting
  extends DeliveryRef,
    Pick<StoredDelivery, 'eventType' | 'createdAtMs' | 'body'> {
  readonly kind: 'posting'
  readonly dueAtMs: TimeMs
}

/** The outcome of an attempt, or the delivery's end. */
export interface Posted
  extends DeliveryRef,
    Pick<StoredDelivery, 'status' | 'dueAtMs' | 'attempts'> {
  readonly kind: 'posted'
}

// Books and prices

const levels = flat(record<Level>({ price, size }))

const BOOK_SIDES: readonly LevelChange['side'][] = ['bid', 'ask']
const bookSide = single<LevelChange['side']>(
  (value) => {
    const side = typeof value === 'number' ? BOOK_SIDES[value] : undefined
    if (side === undefined) throw new RangeError('no side of a book')
    return side
  },
  (side) => BOOK_SIDES.indexOf(side),
)

const book = record<BookState>({
  bids: levels,
  asks: levels,
  isStale: boolean,
  venueTimeMs: orNull(time),
  receivedAtMs: orNull(time),
  offset: number,
  seq: number,
})

const marketPrice = record<MarketPrice>({
  price,
  source: choice([
    ...(['midpoint', 'last_trade', 'venue', 'one_side', 'none', 'history', 'settlement'] as const),
  ]),
  bid: orNull(price),
  ask: orNull(price),
  observedAtMs: time,
})

const figures = record<FiguresState>({
  volume24h: usd,
  volumeTotal: orNull(usd),
  lastPrice: orNull(price),
  lastPriceAtMs: orNull(time),
  previousPrice: orNull(price),
  openInterest: orNull(size),
  figuresAtMs: orNull(time),
  dayFiguresAtMs: orNull(time),
  excess: number,
})

const quoted = record<Quoted>({
  price: marketPrice,
  figures,
  tradesSeq: number,
  pricesSeq: number,
})

// Updates

const status = {
  venue,
  platform: text,
  state: choice(['live', 'stale', 'down']),
  lagMs: orNull(number),
  delayMs: number,
  completeToMs: orNull(time),
  tradesSource: orNull(choice(TRADES_SOURCES)),
}
const outage = { reason: orNull(choice(STALE_REASONS)), staleBooks: number }

const head = {
  market: marketRef,
  venueTimeMs: time,
  receivedAtMs: time,
  offset: number,
  seq: number,
}

const resolution = orNull(choice(RESOLUTION_STATUSES))

const facts = record<MarketFacts>({
  status: choice(MARKET_STATUSES),
  question: text,
  slug: text,
  eventSlug: orNull(text),
  outcomes,
  closeAtMs: orNull(time),
  settlementPrice: orNull(price),
  fees,
  resolutionStatus: resolution,
})

type Item<Kind extends LogItem['kind']> = Extract<LogItem, { readonly kind: Kind }>

const UPDATES: Readonly<Record<Update['kind'], Field<Update>>> = {
  book: record<BookUpdate>({
    kind: constant('book'),
    ...head,
    checksum: orNull(number),
    changes: flat(record<LevelChange>({ side: bookSide, price, size })),
  }),
  bookReplaced: record<BookReplaced>({
    kind: constant('bookReplaced'),
    ...head,
    reason: choice(['venue_gap', 'first', 'restart', 'delayed']),
  }),
  bookStale: record<BookStale>({
    kind: constant('bookStale'),
    ...head,
    reason: choice(STALE_REASONS),
    sinceMs: time,
    isOfVenue: boolean,
  }),
  bookConfirmed: record<BookConfirmed>({
    kind: constant('bookConfirmed'),
    ...head,
    wasStale: boolean,
  }),
  trade: record<TradeUpdate>({ kind: constant('trade'), ...head, trade }),
  price: record<PriceUpdate>({ kind: constant('price'), ...head, price: marketPrice }),
  whale: record<WhaleUpdate>({ kind: constant('whale'), ...head, whale }),
  lifecycle: record<LifecycleUpdate>({
    kind: constant('lifecycle'),
    ...head,
    event: choice(LIFECYCLE_EVENTS),
    matchedMarket: orNull(marketRef),
    facts,
  }),
  arbitrage: record<ArbitrageUpdate>({
    kind: constant('arbitrage'),
    ...head,
    event: choice(['opened', 'changed', 'closed']),
    reason: orNull(closeReason),
    peak,
    previousPeak: orNull(peak),
    opportunity,
  }),
  status: record<StatusUpdate>({ kind: constant('status'), ...status, ...outage }),
  gap: record<GapUpdate>({
    kind: constant('gap'),
    channel: constant('trades'),
    market: orNull(marketRef),
    venue,
    platform: text,
    fromMs: time,
    toMs: time,
    count: orNull(number),
  }),
}

const NO_BOOK: BookState = {
  bids: [],
  asks: [],
  isStale: true,
  venueTimeMs: null,
  receivedAtMs: null,
  offset: 0,
  seq: 0,
}

/** The book after an update. */
const bookAfter = mapped<BookState, BookState | null>(
  book,
  (after) => after ?? NO_BOOK,
  (after) => after,
)

const updateItem = (kind: Update['kind']): Field<LogItem> =>
  record<Item<'update'>>({
    kind: constant('update'),
    update: UPDATES[kind],
    book: kind === 'bookReplaced' ? bookAfter : constant(null),
  })

// Other items

const seqs = nested(
  record<MarketState['seqs']>({
    trades: number,
    prices: number,
    whales: number,
    lifecycle: number,
    arbitrage: number,
  }),
)

const state = record<MarketState>({ market: number, book, price: marketPrice, figures, seqs })

type Covered = {
  readonly venue: VenueKey
  readonly from: TimeMs | null
  readonly to: TimeMs | null
}

const coverage = mapped<readonly Covered[], EngineFigures['coverage']>(
  list(nested(record<Covered>({ venue, from: orNull(time), to: orNull(time) }))),
  (of) =>
    VENUE_KEYS.flatMap((key) => {
      const extent = of[key]
      if (extent === undefined) return []
      return [{ venue: key, from: extent?.oldestMs ?? null, to: extent?.newestMs ?? null }]
    }),
  (rows) =>
    Object.fromEntries(
      rows.map(({ venue: key, from, to }) => [
        key,
        from === null || to === null ? null : { oldestMs: from, newestMs: to },
      ]),
    ),
)

const team = record<TeamListing>({
  venue,
  league: text,
  code: text,
  name: text,
  location: text,
  nickname: text,
})

const utf8 = single<Uint8Array>(
  (value, context) => Buffer.from(text.decode(value, context), 'utf8'),
  (body) => Buffer.from(body).toString('utf8'),
)

const ITEMS: Readonly<Record<Exclude<LogItem['kind'], 'update'>, Field<LogItem>>> = {
  listed: record<Item<'listed'>>({
    kind: constant('listed'),
    version: number,
    market: number,
    quoted,
    summary: marketSummary,
  }),
  quoted: record<Item<'quoted'>>({ kind: constant('quoted'), market: number, quoted }),
  forgotten: record<Item<'forgotten'>>({
    kind: constant('forgotten'),
    version: number,
    market: number,
  }),
  text: record<TextItem>({ kind: constant('text'), market: number, from: number, text }),
  packed: record<PackedItem>({
    kind: constant('packed'),
    packed: bytes,
    texts: lastOrNull(record<NumberRange>({ from: number, to: number })),
  }),
  event: record<Item<'event'>>({ kind: constant('event'), version: number, event }),
  teams: record<Item<'teams'>>({ kind: constant('teams'), listings: flat(team) }),
  figures: record<Item<'figures'>>({
    kind: constant('figures'),
    figures: record<EngineFigures>({
      trades: number,
      snapshots: number,
      databaseBytes: number,
      wallets: number,
      coverage,
    }),
  }),
  matched: record<Item<'matched'>>({
    kind: constant('matched'),
    match: matchOf(number, orNull(boolean)),
  }),
  unmatched: record<Item<'unmatched'>>({ kind: constant('unmatched'), market: number }),
  past: record<Item<'past'>>({ kind: constant('past'), markets: list(number) }),
  feed: record<Item<'feed'>>({
    kind: constant('feed'),
    feed: record<FeedState>({
      ...status,
      connectionsOpen: number,
      connectionsWanted: number,
      ...outage,
    }),
  }),
  state: record<Item<'state'>>({ kind: constant('state'), state }),
  missing: record<Item<'missing'>>({ kind: constant('missing'), fromBatch: number }),
  posting: record<Posting>({
    kind: constant('posting'),
    webhook: text,
    eventId: text,
    eventType: text,
    createdAtMs: time,
    dueAtMs: time,
    body: utf8,
  }),
  posted: record<Posted>({
    kind: constant('posted'),
    webhook: text,
    eventId: text,
    status: choice(DELIVERY_STATUSES),
    dueAtMs: orNull(time),
    attempts: number,
  }),
}

const FIELDS: Readonly<Record<Update['kind'] | keyof typeof ITEMS, Field<LogItem>>> = {
  ...ITEMS,
  book: updateItem('book'),
  bookReplaced: updateItem('bookReplaced'),
  bookStale: updateItem('bookStale'),
  bookConfirmed: updateItem('bookConfirmed'),
  trade: updateItem('trade'),
  price: updateItem('price'),
  whale: updateItem('whale'),
  lifecycle: updateItem('lifecycle'),
  arbitrage: updateItem('arbitrage'),
  status: updateItem('status'),
  gap: updateItem('gap'),
}

type Kind = keyof typeof FIELDS

/** The index of a kind is its code. Never change one: logs and checkpoints of an older engine may still exist. */
const KINDS: readonly (Kind | null)[] = [
  ...(['book', 'bookReplaced', 'bookStale', 'trade', 'price', 'whale', 'lifecycle'] as const),
  ...(['arbitrage', 'status', 'gap', 'listed', 'forgotten', 'event', 'matched'] as const),
  ...(['unmatched', 'feed', 'state', 'missing', 'text', 'packed', 'teams'] as const),
  ...(['figures', 'past', null, 'posting', 'posted', 'bookConfirmed', 'quoted'] as const),
]
const CODES = new Map(KINDS.map((kind, code) => [kind, code]))

/** Appends an item to the writer's buffer. */
export function writeItem(to: MsgpackWriter, item: LogItem): void {
  const kind = item.kind === 'update' ? item.update.kind : item.kind
  const fields: unknown[] = [CODES.get(kind)]
  FIELDS[kind].put(fields, item)
  writeValue(to, fields)
}

/** Whether an item is a complete market state. Readers without books may skip it. */
export const isState = ([code]: readonly unknown[]): boolean => code === CODES.get('state')

/** An item of kind `packed`; null for any other. */
export function packedIn(raw: readonly unknown[]): PackedItem | null {
  const item = raw[0] === CODES.get('packed') ? readItem(raw, () => null) : null
  return item !== null && typeof item === 'object' && item.kind === 'packed' ? item : null
}

/** Looks up a listed market; null if it is unknown. */
export type FindMarket = (number: MarketNumber) => MarketRef | null

/** A decoded item, or the reason for failure. `unknown_market`: it refers to a market that no row has listed. */
export type ReadItem = LogItem | 'damaged' | 'unknown_market'

class UnknownMarket extends Error {}

/** Decodes the fields of an item. `find` looks up the markets of updates. */
export function readItem([code, ...fields]: readonly unknown[], find: FindMarket): ReadItem {
  const kind = typeof code === 'number' ? KINDS[code] : undefined
  if (kind === undefined || kind === null) return 'damaged'
  const marketOf = (wanted: MarketNumber) => {
    const found = find(wanted)
    if (found === null) throw new UnknownMarket()
    return found
  }
  try {
    return readExactly(FIELDS[kind], fields, { ...NEWEST, marketOf })
  } catch (error) {
    return error instanceof UnknownMarket ? 'unknown_market' : 'damaged'
  }
}
