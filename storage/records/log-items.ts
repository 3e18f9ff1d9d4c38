// Items of the cluster log: updates with their stamps, catalogue rows, pairs, venue status, webhook deliveries and
// market states. An item is a MessagePack list that begins with the code of its kind. Readers reject malformed items,
// because items come from another process.

import {
  boolean,
  bytes,
  choice,
  constant,
  type Field,
  type Fields,
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
  UnknownMarket,
  usd,
} from '../../engine/codec.ts'
import { DATA_SOURCES, type DataSource } from '../../engine/data-source.ts'
import { assert } from '../../engine/errors.ts'
import {
  type ArbitrageUpdate,
  type BookConfirmed,
  type BookReplaced,
  type BookStale,
  type BookUpdate,
  type CountedChannel,
  type FeedStatus,
  type GapUpdate,
  type Level,
  type LevelChange,
  LIFECYCLE_EVENTS,
  type LifecycleUpdate,
  type MarketPrice,
  type PriceUpdate,
  perChannel,
  STALE_REASONS,
  type StaleReason,
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
import type { EventSummary, MarketSummary } from '../contract/rows.ts'
import { fees } from './fees.ts'
import { event, market as marketSummary, outcomes, venue } from './listings.ts'
import { matchOf } from './matches.ts'
import { closeReason, opportunity, peak } from './opportunities.ts'
import { trade, whale } from './trade-fields.ts'

export interface BookState extends Stamp {
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  readonly isStale: boolean
  readonly staleReason: StaleReason | null
  readonly venueTimeMs: TimeMs | null
  readonly receivedAtMs: TimeMs | null
}

/** The complete public state of a market, except its listing and its history. */
export interface MarketState {
  readonly market: MarketNumber
  readonly book: BookState
  readonly price: MarketPrice
  readonly figures: FiguresState
  /** The newest seq of each channel. 0 before the channel's first message. */
  readonly seqs: Readonly<Record<SeqChannel, number>>
}
type SeqChannel = Exclude<CountedChannel, 'orderbook'>

/** Price, figures and seqs of a market when its row was written. The row does not contain them. */
export interface Quoted {
  readonly price: MarketPrice
  readonly figures: FiguresState
  readonly tradesSeq: number
  readonly pricesSeq: number
}

/** Status of a venue's feed, including facts that the stream does not publish. */
export interface FeedState extends FeedStatus {
  readonly connectionsOpen: number
  readonly connectionsWanted: number
}

/** Part of a market's description, sent before the market's row. It replaces the text from offset `from` on. */
export interface TextItem {
  readonly kind: 'text'
  readonly market: MarketNumber
  readonly from: number
  readonly text: string
}

/** Items of a checkpoint, compressed with deflate. Readers decompress one block at a time. */
export interface PackedItem {
  readonly kind: 'packed'
  readonly packed: Uint8Array
  /**
   * If not null, the block contains only descriptions of these markets, and readers may load it on demand. The end is
   * exclusive.
   */
  readonly texts: NumberRange | null
}

interface NumberRange {
  readonly from: MarketNumber
  readonly to: MarketNumber
}

/**
 * A row's `version` increases with each row that an epoch writes. A market's rows are in both shards of its venue.
 * Readers ignore an older version that arrives later.
 */
export type LogItem =
  /** `book`: the book after a `bookReplaced` update. Null for all other updates. */
  | { readonly kind: 'update'; readonly update: Update; readonly book: BookState | null }
  | {
      readonly kind: 'listed'
      readonly version: number
      readonly market: MarketNumber
      readonly quoted: Quoted
      readonly summary: MarketSummary
    }
  /** Sent when figures of a market changed without an update. */
  | { readonly kind: 'quoted'; readonly market: MarketNumber; readonly quoted: Quoted }
  | { readonly kind: 'forgotten'; readonly version: number; readonly market: MarketNumber }
  | TextItem
  | PackedItem
  | { readonly kind: 'event'; readonly version: number; readonly event: EventSummary }
  | { readonly kind: 'teams'; readonly listings: readonly TeamListing[] }
  | { readonly kind: 'figures'; readonly figures: EngineFigures }
  | { readonly kind: 'matched'; readonly match: StoredMatch }
  /** `market`: the first market of the pair. */
  | { readonly kind: 'unmatched'; readonly market: MarketNumber }
  /** Past trades of these markets were stored without updates, so their bars changed. */
  | { readonly kind: 'past'; readonly markets: readonly MarketNumber[] }
  | { readonly kind: 'feed'; readonly feed: FeedState }
  | { readonly kind: 'state'; readonly state: MarketState }
  /**
   * Batches of this shard from `fromBatch` up to this item's batch are lost. Readers must reload the state of the
   * shard's markets.
   */
  | { readonly kind: 'missing'; readonly fromBatch: number }
  | Posting
  | Posted

export interface EngineFigures {
  readonly trades: number
  readonly snapshots: number
  readonly databaseBytes: number
  readonly wallets: number
  /** Times of the oldest and newest trade. Null: no trades. */
  readonly coverage: Readonly<
    Partial<Record<VenueKey, { readonly oldestMs: TimeMs; readonly newestMs: TimeMs } | null>>
  >
  readonly books: Readonly<Partial<Record<VenueKey, BookFigures>>>
  readonly data: DataSource
}

/** Coverage of a venue's books: the number of covered markets, the number of open markets and the policy's text. */
export interface BookFigures {
  readonly covered: number
  readonly open: number
  readonly policy: string
}

/** Identifies a delivery by the webhook's id and the event's id, because each engine assigns its own numbers. */
interface DeliveryRef {
  readonly webhook: string
  readonly eventId: string
}

export interface Posting
  extends DeliveryRef,
    Pick<StoredDelivery, 'eventType' | 'createdAtMs' | 'body'> {
  readonly kind: 'posting'
  readonly dueAtMs: TimeMs
}

export interface Posted
  extends DeliveryRef,
    Pick<StoredDelivery, 'status' | 'dueAtMs' | 'attempts'> {
  readonly kind: 'posted'
}

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
  staleReason: orNull(choice(STALE_REASONS)),
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

/** Never change a code and never reuse code 23, because logs and checkpoints of older engines contain the codes. */
interface Coded<Value> {
  readonly code: number
  readonly field: Field<Value>
}

const coded = <Value extends object>(code: number, fields: Fields<Value>): Coded<Value> => ({
  code,
  field: record(fields),
})

const UPDATES: Readonly<Record<Update['kind'], Coded<Update>>> = {
  book: coded<BookUpdate>(0, {
    kind: constant('book'),
    ...head,
    checksum: orNull(number),
    changes: flat(record<LevelChange>({ side: bookSide, price, size })),
  }),
  bookReplaced: coded<BookReplaced>(1, {
    kind: constant('bookReplaced'),
    ...head,
    reason: choice(['venue_gap', 'first', 'restart', 'delayed']),
  }),
  bookStale: coded<BookStale>(2, {
    kind: constant('bookStale'),
    ...head,
    reason: choice(STALE_REASONS),
    sinceMs: time,
    isOfVenue: boolean,
  }),
  bookConfirmed: coded<BookConfirmed>(26, {
    kind: constant('bookConfirmed'),
    ...head,
    wasStale: boolean,
  }),
  trade: coded<TradeUpdate>(3, { kind: constant('trade'), ...head, trade }),
  price: coded<PriceUpdate>(4, { kind: constant('price'), ...head, price: marketPrice }),
  whale: coded<WhaleUpdate>(5, { kind: constant('whale'), ...head, whale }),
  lifecycle: coded<LifecycleUpdate>(6, {
    kind: constant('lifecycle'),
    ...head,
    event: choice(LIFECYCLE_EVENTS),
    matchedMarket: orNull(marketRef),
    facts,
  }),
  arbitrage: coded<ArbitrageUpdate>(7, {
    kind: constant('arbitrage'),
    ...head,
    event: choice(['opened', 'changed', 'closed']),
    reason: orNull(closeReason),
    peak,
    previousPeak: orNull(peak),
    opportunity,
  }),
  status: coded<StatusUpdate>(8, { kind: constant('status'), ...status, ...outage }),
  gap: coded<GapUpdate>(9, {
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
  staleReason: 'not_covered',
  venueTimeMs: null,
  receivedAtMs: null,
  offset: 0,
  seq: 0,
}

const bookAfter = mapped<BookState, BookState | null>(
  book,
  (after) => after ?? NO_BOOK,
  (after) => after,
)

const updateItem = (kind: Update['kind'], field: Field<Update>): Field<LogItem> =>
  record<Item<'update'>>({
    kind: constant('update'),
    update: field,
    book: kind === 'bookReplaced' ? bookAfter : constant(null),
  })

const { orderbook: _, ...seqFields } = perChannel(() => number)
const seqs = nested(record<MarketState['seqs']>(seqFields))

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

type VenueBooks = BookFigures & { readonly venue: VenueKey }

const books = mapped<readonly VenueBooks[], EngineFigures['books']>(
  list(nested(record<VenueBooks>({ venue, covered: number, open: number, policy: text }))),
  (of) =>
    VENUE_KEYS.flatMap((key) => {
      const figures = of[key]
      return figures === undefined ? [] : [{ venue: key, ...figures }]
    }),
  (rows) => Object.fromEntries(rows.map(({ venue: key, ...figures }) => [key, figures])),
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

const ITEMS: Readonly<Record<Exclude<LogItem['kind'], 'update'>, Coded<LogItem>>> = {
  listed: coded<Item<'listed'>>(10, {
    kind: constant('listed'),
    version: number,
    market: number,
    quoted,
    summary: marketSummary,
  }),
  quoted: coded<Item<'quoted'>>(27, { kind: constant('quoted'), market: number, quoted }),
  forgotten: coded<Item<'forgotten'>>(11, {
    kind: constant('forgotten'),
    version: number,
    market: number,
  }),
  text: coded<TextItem>(18, { kind: constant('text'), market: number, from: number, text }),
  packed: coded<PackedItem>(19, {
    kind: constant('packed'),
    packed: bytes,
    texts: lastOrNull(record<NumberRange>({ from: number, to: number })),
  }),
  event: coded<Item<'event'>>(12, { kind: constant('event'), version: number, event }),
  teams: coded<Item<'teams'>>(20, { kind: constant('teams'), listings: flat(team) }),
  figures: coded<Item<'figures'>>(21, {
    kind: constant('figures'),
    figures: record<EngineFigures>({
      trades: number,
      snapshots: number,
      databaseBytes: number,
      wallets: number,
      coverage,
      books,
      data: choice(DATA_SOURCES),
    }),
  }),
  matched: coded<Item<'matched'>>(13, {
    kind: constant('matched'),
    match: matchOf(number, orNull(boolean)),
  }),
  unmatched: coded<Item<'unmatched'>>(14, { kind: constant('unmatched'), market: number }),
  past: coded<Item<'past'>>(22, { kind: constant('past'), markets: list(number) }),
  feed: coded<Item<'feed'>>(15, {
    kind: constant('feed'),
    feed: record<FeedState>({
      ...status,
      connectionsOpen: number,
      connectionsWanted: number,
      ...outage,
    }),
  }),
  state: coded<Item<'state'>>(16, { kind: constant('state'), state }),
  missing: coded<Item<'missing'>>(17, { kind: constant('missing'), fromBatch: number }),
  posting: coded<Posting>(24, {
    kind: constant('posting'),
    webhook: text,
    eventId: text,
    eventType: text,
    createdAtMs: time,
    dueAtMs: time,
    body: utf8,
  }),
  posted: coded<Posted>(25, {
    kind: constant('posted'),
    webhook: text,
    eventId: text,
    status: choice(DELIVERY_STATUSES),
    dueAtMs: orNull(time),
    attempts: number,
  }),
}

const isUpdateKind = (kind: string): kind is Update['kind'] => kind in UPDATES

const FIELDS = new Map<string, Coded<LogItem>>(Object.entries(ITEMS))
for (const kind of Object.keys(UPDATES).filter(isUpdateKind)) {
  const { code, field } = UPDATES[kind]
  assert(!FIELDS.has(kind), `kind ${kind} is unique`)
  FIELDS.set(kind, { code, field: updateItem(kind, field) })
}
const FIELDS_BY_CODE = new Map<unknown, Field<LogItem>>()
for (const { code, field } of FIELDS.values()) {
  assert(!FIELDS_BY_CODE.has(code), `code ${code} is unique`)
  FIELDS_BY_CODE.set(code, field)
}

/** Names of the kinds of items and updates by code. */
export const itemNames: ReadonlyMap<number, string> = new Map(
  [...FIELDS].map(([kind, { code }]) => [code, kind]),
)

export function writeItem(to: MsgpackWriter, item: LogItem): void {
  const kind = item.kind === 'update' ? item.update.kind : item.kind
  const coded = FIELDS.get(kind)
  assert(coded !== undefined, 'each kind of item has a code')
  const fields: unknown[] = [coded.code]
  coded.field.put(fields, item)
  writeValue(to, fields)
}

/** Whether an item is a complete market state. Readers that serve no books may skip market states. */
export const isState = ([code]: readonly unknown[]): boolean => code === ITEMS.state.code

/** Null if the item's kind is not `packed`. */
export function packedIn(raw: readonly unknown[]): PackedItem | null {
  const item = raw[0] === ITEMS.packed.code ? readItem(raw, () => null) : null
  return item !== null && typeof item === 'object' && item.kind === 'packed' ? item : null
}

/** Null if no listed market has the number. */
export type FindMarket = (number: MarketNumber) => MarketRef | null

/** A decoded item, or the reason why decoding failed. `unknown_market`: no earlier row listed the item's market. */
export type ReadItem = LogItem | 'damaged' | 'unknown_market'

/** `find` looks up the markets to which updates refer. */
export function readItem(raw: readonly unknown[], find: FindMarket): ReadItem {
  const field = FIELDS_BY_CODE.get(raw[0])
  if (field === undefined) return 'damaged'
  const { schema, key } = NEWEST
  try {
    return readExactly(field, raw, { schema, key, marketOf: find }, 1)
  } catch (error) {
    return error instanceof UnknownMarket ? 'unknown_market' : 'damaged'
  }
}
