// Items of the cluster log: published updates with their stamps, catalogue rows, pairs, venue status, and complete
// market states, which make up checkpoints. An item is a MessagePack list that begins with its code; rows are encoded
// as in the tables. Another process wrote the items, so one that is not exactly well-formed is rejected.

import {
  type BookStale,
  type FeedStatus,
  type Level,
  LIFECYCLE_EVENTS,
  type MarketPrice,
  STALE_REASONS,
  type Stamp,
  TRADES_SOURCES,
  type Trade,
  type Update,
  type Whale,
} from '../../engine/events.ts'
import { outcomeId, VENUE_KEYS } from '../../engine/ids.ts'
import {
  MARKET_STATUSES,
  type MarketFacts,
  type MarketNumber,
  type MarketRef,
  RESOLUTION_STATUSES,
} from '../../engine/market/market.ts'
import type { FiguresState } from '../../engine/market/trading-figures.ts'
import { type MsgpackWriter, writeValue } from '../../engine/msgpack-writer.ts'
import { CLOSE_REASONS } from '../../engine/opportunity.ts'
import type { TeamListing } from '../../engine/team-listing.ts'
import { priceMicros, sizeMicros, type TimeMs, timeMs, usdMicros } from '../../engine/units.ts'
import type { StoredMatch } from '../contract/matches.ts'
import type { EventSummary, MarketSummary } from '../contract/storage.ts'
import { feeFields, readFees } from './fees.ts'
import {
  type FrequentUpdate,
  isFrequent,
  readChanges,
  readTrade,
  writeFrequent,
} from './frequent-updates.ts'
import {
  EVENT_SCHEMA,
  eventFields,
  eventSchemas,
  MARKET_SCHEMA,
  marketFields,
  marketSchemas,
} from './listings.ts'
import { type DeliveryItem, deliveryItemFields, readPosted, readPosting } from './log-deliveries.ts'
import {
  type EngineFigures,
  figureFields,
  readFigures,
  readTeams,
  teamFields,
} from './log-figures.ts'
import {
  type MarketLookup,
  opportunityFields,
  reachFields,
  readOpportunity,
  readReach,
} from './log-opportunity.ts'
import { FieldReader } from './records.ts'

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
  | DeliveryItem

/** Never change a number: logs and checkpoints of an older engine may still exist. */
const CODES = {
  book: 0,
  bookReplaced: 1,
  bookStale: 2,
  trade: 3,
  price: 4,
  whale: 5,
  lifecycle: 6,
  arbitrage: 7,
  status: 8,
  gap: 9,
  listed: 10,
  forgotten: 11,
  event: 12,
  matched: 13,
  unmatched: 14,
  feed: 15,
  state: 16,
  missing: 17,
  text: 18,
  packed: 19,
  posting: 24,
  posted: 25,
  teams: 20,
  figures: 21,
  past: 22,
  bookConfirmed: 26,
  quoted: 27,
} as const

const FEED_STATES = ['live', 'stale', 'down'] as const
const REPLACED_REASONS = ['venue_gap', 'first', 'restart', 'delayed'] as const
const OPPORTUNITY_EVENTS = ['opened', 'changed', 'closed'] as const
const PRICE_SOURCES = [
  'midpoint',
  'last_trade',
  'venue',
  'one_side',
  'none',
  'history',
  'settlement',
] as const

/** Appends an item to the writer's buffer. */
export function writeItem(to: MsgpackWriter, item: LogItem): void {
  if (item.kind !== 'update') return writeValue(to, fieldsOf(item))
  const { update, book } = item
  if (isFrequent(update)) writeFrequent(to, CODES[update.kind], update)
  else writeValue(to, updateFields(update, book))
}

function fieldsOf(item: Exclude<LogItem, { kind: 'update' }>): readonly unknown[] {
  switch (item.kind) {
    case 'listed':
      return [
        CODES.listed,
        item.version,
        item.market,
        ...quotedFields(item.quoted),
        ...marketFields(item.summary),
        ...figureFieldsOf(item.quoted.figures),
      ]
    case 'quoted': {
      const { market, quoted } = item
      const figures = figureFieldsOf(quoted.figures)
      return [CODES.quoted, market, ...quotedFields(quoted), ...figures]
    }
    case 'forgotten':
      return [CODES.forgotten, item.version, item.market]
    case 'text':
      return [CODES.text, item.market, item.from, item.text]
    case 'packed':
      return item.texts === null
        ? [CODES.packed, item.packed]
        : [CODES.packed, item.packed, item.texts.from, item.texts.to]
    case 'event':
      return [CODES.event, item.version, ...eventFields(item.event)]
    case 'matched':
      return [CODES.matched, ...matchFields(item.match)]
    case 'teams':
      return [CODES.teams, teamFields(item.listings)]
    case 'figures':
      return [CODES.figures, ...figureFields(item.figures)]
    case 'unmatched':
      return [CODES.unmatched, item.market]
    case 'past':
      return [CODES.past, item.markets]
    case 'feed':
      return [
        CODES.feed,
        ...statusFields(item.feed),
        item.feed.connectionsOpen,
        item.feed.connectionsWanted,
        ...outageFields(item.feed),
      ]
    case 'state':
      return [CODES.state, ...stateFields(item.state)]
    case 'missing':
      return [CODES.missing, item.fromBatch]
    case 'posting':
    case 'posted':
      return [CODES[item.kind], ...deliveryItemFields(item)]
  }
}

function updateFields(
  update: Exclude<Update, FrequentUpdate>,
  book: BookState | null,
): readonly unknown[] {
  if (update.kind === 'status') {
    return [CODES.status, ...statusFields(update), ...outageFields(update)]
  }
  if (update.kind === 'gap') {
    const { market, venue, platform, fromMs, toMs, count } = update
    return [CODES.gap, market?.number ?? null, venue, platform, fromMs, toMs, count]
  }
  const { market, venueTimeMs, receivedAtMs, offset, seq } = update
  const head = [CODES[update.kind], market.number, venueTimeMs, receivedAtMs, offset, seq]
  switch (update.kind) {
    case 'bookReplaced':
      return [...head, update.reason, ...bookFields(book)]
    case 'bookStale':
      return [...head, update.reason, update.sinceMs, update.isOfVenue]
    case 'bookConfirmed':
      return [...head, update.wasStale]
    case 'whale':
      return [...head, ...tradeFields(update.whale), ...whaleFields(update.whale)]
    case 'lifecycle':
      return [
        ...head,
        update.event,
        update.matchedMarket?.number ?? null,
        ...factFields(update.facts),
      ]
    case 'arbitrage': {
      const { event, reason, peak, previousPeak, opportunity } = update
      const reaches = [reachFields(peak), previousPeak && reachFields(previousPeak)]
      return [...head, event, reason, ...reaches, ...opportunityFields(opportunity)]
    }
  }
}

/** Whether an item is a complete market state. Readers without books may skip it. */
export const isState = ([code]: readonly unknown[]): boolean => code === CODES.state

/** An item of kind `packed`; null for any other. Older engines do not state whether a block has only texts. */
export function packedIn([code, packed, from, to]: readonly unknown[]): PackedItem | null {
  if (code !== CODES.packed || !(packed instanceof Uint8Array)) return null
  const texts = typeof from === 'number' && typeof to === 'number' ? { from, to } : null
  return { kind: 'packed', packed, texts }
}

/** Looks up a listed market; null if it is unknown. */
export type FindMarket = (number: MarketNumber) => MarketRef | null

/** A decoded item, or the reason for failure. `unknown_market`: it refers to a market that no row has listed. */
export type ReadItem = LogItem | 'damaged' | 'unknown_market'

class UnknownMarket extends Error {}

/** Decodes the fields of an item. `marketOf` looks up the markets of updates. */
export function readItem(fields: readonly unknown[], marketOf: FindMarket): ReadItem {
  try {
    const reader = new FieldReader(fields)
    const item = readBy(reader.number(), reader, (number) => {
      const market = marketOf(number)
      if (market === null) throw new UnknownMarket()
      return market
    })
    return item !== null && reader.isAtEnd() ? item : 'damaged'
  } catch (error) {
    return error instanceof UnknownMarket ? 'unknown_market' : 'damaged'
  }
}

function readBy(code: number, fields: FieldReader, marketOf: MarketLookup): LogItem | null {
  switch (code) {
    case CODES.listed: {
      const [version, market] = [fields.number(), fields.number()]
      const begun = readQuoted(fields)
      const summary = marketSchemas[MARKET_SCHEMA]?.(fields)
      if (summary === undefined) return null
      const { lastPrice, openInterest } = summary
      const figures = readFiguresOf(fields, { ...begun.figures, lastPrice, openInterest })
      const quoted = { ...begun, figures }
      return { kind: 'listed', version, market, quoted, summary }
    }
    case CODES.quoted: {
      const [market, begun] = [fields.number(), readQuoted(fields)]
      const quoted = { ...begun, figures: readFiguresOf(fields, begun.figures) }
      return { kind: 'quoted', market, quoted }
    }
    case CODES.forgotten:
      return { kind: 'forgotten', version: fields.number(), market: fields.number() }
    case CODES.text: {
      const [market, from] = [fields.number(), fields.number()]
      return { kind: 'text', market, from, text: fields.text() }
    }
    case CODES.packed: {
      const packed = fields.bytes()
      const texts = fields.isAtEnd() ? null : { from: fields.number(), to: fields.number() }
      return { kind: 'packed', packed, texts }
    }
    case CODES.event: {
      const version = fields.number()
      const event = eventSchemas[EVENT_SCHEMA]?.(fields)
      return event === undefined ? null : { kind: 'event', version, event }
    }
    case CODES.teams: {
      const listings = readTeams(fields)
      return listings && { kind: 'teams', listings }
    }
    case CODES.figures:
      return { kind: 'figures', figures: readFigures(fields) }
    case CODES.matched:
      return { kind: 'matched', match: readMatch(fields) }
    case CODES.unmatched:
      return { kind: 'unmatched', market: fields.number() }
    case CODES.past:
      return { kind: 'past', markets: fields.numbers() }
    case CODES.feed: {
      const status = readStatus(fields)
      const [connectionsOpen, connectionsWanted] = [fields.number(), fields.number()]
      const feed = { ...status, connectionsOpen, connectionsWanted, ...readOutage(fields) }
      return { kind: 'feed', feed }
    }
    case CODES.state:
      return { kind: 'state', state: readState(fields) }
    case CODES.missing:
      return { kind: 'missing', fromBatch: fields.number() }
    case CODES.posting:
      return readPosting(fields)
    case CODES.posted:
      return readPosted(fields)
    default:
      return readUpdate(code, fields, marketOf)
  }
}

function readUpdate(code: number, fields: FieldReader, marketOf: MarketLookup): LogItem | null {
  const updated = (update: Update, book: BookState | null = null): LogItem => ({
    kind: 'update',
    update,
    book,
  })
  if (code === CODES.status) {
    return updated({ kind: 'status', ...readStatus(fields), ...readOutage(fields) })
  }
  if (code === CODES.gap) {
    const number = fields.numberOrNull()
    const market = number === null ? null : marketOf(number)
    const scope = { market, venue: fields.choice(VENUE_KEYS), platform: fields.text() }
    const [fromMs, toMs] = [timeMs(fields.number()), timeMs(fields.number())]
    const count = fields.numberOrNull()
    return updated({ kind: 'gap', channel: 'trades', ...scope, fromMs, toMs, count })
  }
  const market = marketOf(fields.number())
  const times = { venueTimeMs: timeMs(fields.number()), receivedAtMs: timeMs(fields.number()) }
  const head = { market, ...times, offset: fields.number(), seq: fields.number() }
  switch (code) {
    case CODES.book: {
      const checksum = fields.numberOrNull()
      return updated({ kind: 'book', ...head, checksum, changes: readChanges(fields.numbers()) })
    }
    case CODES.bookReplaced: {
      const reason = fields.choice(REPLACED_REASONS)
      return updated({ kind: 'bookReplaced', ...head, reason }, readBook(fields))
    }
    case CODES.bookStale:
      return updated({ kind: 'bookStale', ...head, ...readStale(fields, head.receivedAtMs) })
    case CODES.bookConfirmed:
      return updated({ kind: 'bookConfirmed', ...head, wasStale: fields.boolean() })
    case CODES.trade:
      return updated({ kind: 'trade', ...head, trade: readTrade(fields) })
    case CODES.price:
      return updated({ kind: 'price', ...head, price: readPrice(fields) })
    case CODES.whale:
      return updated({ kind: 'whale', ...head, whale: readWhale(fields) })
    case CODES.lifecycle: {
      const event = fields.choice(LIFECYCLE_EVENTS)
      const number = fields.numberOrNull()
      const matchedMarket = number === null ? null : marketOf(number)
      return updated({ kind: 'lifecycle', ...head, event, matchedMarket, facts: readFacts(fields) })
    }
    case CODES.arbitrage: {
      const event = fields.choice(OPPORTUNITY_EVENTS)
      const reason = fields.choiceOrNull(CLOSE_REASONS)
      const peak = readReach(fields.numbers())
      const before = fields.numbersOrNull()
      const previousPeak = before === null ? null : readReach(before)
      const opportunity = readOpportunity(fields, marketOf)
      const what = { event, opportunity, reason, peak, previousPeak }
      return updated({ kind: 'arbitrage', ...head, ...what })
    }
    default:
      return null
  }
}

// Books and prices

const levelFields = (levels: readonly Level[]) => levels.flatMap(({ price, size }) => [price, size])

function readLevels(numbers: readonly number[]): readonly Level[] {
  const levels: Level[] = []
  for (let index = 0; index < numbers.length; index += 2) {
    const [price, size] = [numbers[index], numbers[index + 1]]
    levels.push({ price: priceMicros(price ?? -1), size: sizeMicros(size ?? Number.NaN) })
  }
  return levels
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

function bookFields(book: BookState | null): readonly unknown[] {
  const { bids, asks, isStale, venueTimeMs, receivedAtMs, offset, seq } = book ?? NO_BOOK
  const times = [isStale, venueTimeMs, receivedAtMs, offset, seq]
  return [levelFields(bids), levelFields(asks), ...times]
}

function readBook(fields: FieldReader): BookState {
  return {
    bids: readLevels(fields.numbers()),
    asks: readLevels(fields.numbers()),
    isStale: fields.boolean(),
    venueTimeMs: fields.orNull(timeMs),
    receivedAtMs: fields.orNull(timeMs),
    offset: fields.number(),
    seq: fields.number(),
  }
}

function priceFields({ price, source, bid, ask, observedAtMs }: MarketPrice): readonly unknown[] {
  return [price, source, bid, ask, observedAtMs]
}

function readPrice(fields: FieldReader): MarketPrice {
  return {
    price: priceMicros(fields.number()),
    source: fields.choice(PRICE_SOURCES),
    bid: fields.orNull(priceMicros),
    ask: fields.orNull(priceMicros),
    observedAtMs: timeMs(fields.number()),
  }
}

function quotedFields(quoted: Quoted): readonly unknown[] {
  const { price, figures, tradesSeq, pricesSeq } = quoted
  const { volume24h, volumeTotal } = figures
  return [...priceFields(price), volume24h, volumeTotal, tradesSeq, pricesSeq]
}

function readQuoted(fields: FieldReader): Quoted {
  return {
    price: readPrice(fields),
    figures: readVolumes(fields),
    tradesSeq: fields.number(),
    pricesSeq: fields.number(),
  }
}

/** All figures except the volumes, placed after the fields of older engines. */
function figureFieldsOf(figures: FiguresState): readonly unknown[] {
  const { lastPrice, lastPriceAtMs, previousPrice, openInterest, figuresAtMs } = figures
  const prices = [lastPrice, lastPriceAtMs, previousPrice]
  return [...prices, openInterest, figuresAtMs, figures.dayFiguresAtMs, figures.excess]
}

function readVolumes(fields: FieldReader): FiguresState {
  return {
    volume24h: usdMicros(fields.number()),
    volumeTotal: fields.orNull(usdMicros),
    lastPrice: null,
    lastPriceAtMs: null,
    previousPrice: null,
    openInterest: null,
    figuresAtMs: null,
    dayFiguresAtMs: null,
    excess: 0,
  }
}

function readFiguresOf(fields: FieldReader, volumes: FiguresState): FiguresState {
  if (fields.isAtEnd()) return volumes
  return {
    ...volumes,
    lastPrice: fields.orNull(priceMicros),
    lastPriceAtMs: fields.orNull(timeMs),
    previousPrice: fields.orNull(priceMicros),
    openInterest: fields.orNull(sizeMicros),
    figuresAtMs: fields.orNull(timeMs),
    dayFiguresAtMs: fields.orNull(timeMs),
    excess: fields.number(),
  }
}

function stateFields(state: MarketState): readonly unknown[] {
  const { market, book, price, figures, seqs } = state
  const { volume24h, volumeTotal } = figures
  const counts = SEQ_CHANNELS.map((channel) => seqs[channel])
  const fields = [...bookFields(book), ...priceFields(price), volume24h, volumeTotal]
  return [market, ...fields, counts, ...figureFieldsOf(figures)]
}

function readState(fields: FieldReader): MarketState {
  const market = fields.number()
  const [book, price] = [readBook(fields), readPrice(fields)]
  const volumes = readVolumes(fields)
  const [trades = 0, prices = 0, whales = 0, lifecycle = 0, arbitrage = 0] = fields.numbers()
  const seqs = { trades, prices, whales, lifecycle, arbitrage }
  return { market, book, price, figures: readFiguresOf(fields, volumes), seqs }
}

// Trades

function tradeFields(trade: Trade): readonly unknown[] {
  const { nativeId, timeMs: at, ordinal, price, size, side, outcomeIndex, usd } = trade
  const { maker, taker, txHash, isBlock } = trade
  const traded = [nativeId, at, ordinal, price, size, side, outcomeIndex, usd]
  return [...traded, maker, taker, txHash, isBlock]
}

function whaleFields(whale: Whale): readonly unknown[] {
  const { outcome, question, slug, eventSlug, category, wallet, fills } = whale
  return [outcome, question, slug, eventSlug, category, wallet, fills]
}

function readWhale(fields: FieldReader): Whale {
  return {
    ...readTrade(fields),
    outcome: fields.textOrNull(),
    question: fields.text(),
    slug: fields.text(),
    eventSlug: fields.textOrNull(),
    category: fields.textOrNull(),
    wallet: fields.textOrNull(),
    fills: fields.number(),
  }
}

// Markets, pairs, venues

function factFields(facts: MarketFacts): readonly unknown[] {
  const { status, question, slug, eventSlug, outcomes, closeAtMs, settlementPrice } = facts
  const labels = outcomes.flatMap(({ label, id }) => [label, id])
  const fields = [status, question, slug, eventSlug, labels, closeAtMs, settlementPrice]
  return [...fields, ...feeFields(facts.fees), facts.resolutionStatus]
}

function readFacts(fields: FieldReader): MarketFacts {
  const status = fields.choice(MARKET_STATUSES)
  const [question, slug, eventSlug] = [fields.text(), fields.text(), fields.textOrNull()]
  const labels = fields.texts()
  const outcomes: { label: string; id: ReturnType<typeof outcomeId> }[] = []
  for (let index = 0; index + 1 < labels.length; index += 2) {
    outcomes.push({ label: labels[index] ?? '', id: outcomeId(labels[index + 1] ?? '') })
  }
  const [closeAtMs, settlementPrice] = [fields.orNull(timeMs), fields.orNull(priceMicros)]
  const fees = readFees(fields)
  const resolutionStatus = fields.choiceOrNull(RESOLUTION_STATUSES)
  const named = { status, question, slug, eventSlug, outcomes, closeAtMs }
  return { ...named, settlementPrice, fees, resolutionStatus }
}

function matchFields(match: StoredMatch): readonly unknown[] {
  const { a, b, matchedAtMs, score, relation, inverted, outcomeMap } = match
  const scoreFields = [score, relation, inverted, outcomeMap]
  return [a, b, matchedAtMs, ...scoreFields, match.vetoes, match.reasons, match.explanation]
}

function readMatch(fields: FieldReader): StoredMatch {
  const [a, b, matchedAtMs] = [fields.number(), fields.number(), timeMs(fields.number())]
  const [score, relation] = [fields.number(), fields.text()]
  const inverted = fields.booleanOrNull()
  const [first, second] = fields.numbersOrNull() ?? []
  const outcomeMap: [number, number] | null =
    first === undefined || second === undefined ? null : [first, second]
  const [vetoes, reasons, explanation] = [fields.texts(), fields.texts(), fields.text()]
  const pairScore = { score, relation, inverted, outcomeMap, vetoes, reasons, explanation }
  return { a, b, matchedAtMs, ...pairScore }
}

function statusFields(status: FeedStatus): readonly unknown[] {
  const { venue, platform, state, lagMs, delayMs, completeToMs, tradesSource } = status
  return [venue, platform, state, lagMs, delayMs, completeToMs, tradesSource]
}

function outageFields({ reason, staleBooks }: FeedStatus): readonly unknown[] {
  return [reason, staleBooks]
}

/** Older engines did not write these. */
function readOutage(fields: FieldReader): Pick<FeedStatus, 'reason' | 'staleBooks'> {
  if (fields.isAtEnd()) return { reason: null, staleBooks: 0 }
  return { reason: fields.choiceOrNull(STALE_REASONS), staleBooks: fields.number() }
}

/** Older engines announced only late books, without these fields. */
function readStale(
  fields: FieldReader,
  atMs: TimeMs,
): Pick<BookStale, 'reason' | 'sinceMs' | 'isOfVenue'> {
  if (fields.isAtEnd()) return { reason: 'delayed', sinceMs: atMs, isOfVenue: false }
  const reason = fields.choice(STALE_REASONS)
  return { reason, sinceMs: timeMs(fields.number()), isOfVenue: fields.boolean() }
}

function readStatus(fields: FieldReader): Omit<FeedStatus, 'reason' | 'staleBooks'> {
  return {
    venue: fields.choice(VENUE_KEYS),
    platform: fields.text(),
    state: fields.choice(FEED_STATES),
    lagMs: fields.numberOrNull(),
    delayMs: fields.number(),
    completeToMs: fields.orNull(timeMs),
    tradesSource: fields.choiceOrNull(TRADES_SOURCES),
  }
}
