// Parses recorded and invented venue rows with the connectors' parsers.

import assert from 'node:assert/strict'
import type { VenueEvent } from '../../../engine/events.ts'
import type { JsonReader } from '../../../engine/fetch.ts'
import { walletAddress } from '../../../engine/ids.ts'
import { isRecord } from '../../../engine/json-record.ts'
import type { FeeModel } from '../../../engine/market/fees.ts'
import type { EventListing } from '../../../engine/market/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { timeMs } from '../../../engine/units.ts'
import { SuspectAnswerError } from '../../../engine/venues/answer-checks.ts'
import type { Drift } from '../../../engine/venues/drift/drift.ts'
import {
  parseEvent,
  parseMarket,
  parseSeries,
} from '../../../engine/venues/kalshi/catalog/listing.ts'
import {
  parseOrderbookRow,
  parseTradeRow,
} from '../../../engine/venues/kalshi/catalog/rest-rows.ts'
import { mapMessage, mapTrade } from '../../../engine/venues/kalshi/map.ts'
import { parsePriceGrid } from '../../../engine/venues/kalshi/price-grid.ts'
import { KalshiStream } from '../../../engine/venues/kalshi/stream.ts'
import { readClobFees } from '../../../engine/venues/polymarket/catalog/fees.ts'
import {
  nestedEvent,
  readEvent,
  readMarket,
} from '../../../engine/venues/polymarket/catalog/listing.ts'
import { DataApi } from '../../../engine/venues/polymarket/data-api.ts'
import { polymarketProbes } from '../../../engine/venues/polymarket/drift-checks.ts'
import { isTrade, readDataTrade } from '../../../engine/venues/polymarket/messages.ts'
import { parseActivity } from '../../../engine/venues/polymarket/parse.ts'
import { readTrade } from '../../../engine/venues/polymarket/trades/trade-ledger.ts'
import {
  readActivity,
  readTimedRow,
} from '../../../engine/venues/polymarket/wallets/activity-rows.ts'
import { readPositions } from '../../../engine/venues/polymarket/wallets/positions.ts'
import { hasDone } from '../../../engine/venues/polymarket/wallets/profile.ts'
import type { VenueCounters } from '../../../engine/venues/venue-counters.ts'
import { venueCounters } from '../fakes/venue-counters.ts'
import { casesOf, INVENTED } from '../worlds/recordings.ts'
import { countFate, type Fates, PolymarketPath } from './book-paths.ts'

/** Outcome of a row or of a part of it. `value` is null if the row was rejected. */
interface ReadResult {
  readonly fate: string
  readonly value: unknown
}
type Rows = readonly unknown[]
/** Parses the rows of one file. A row that is a text is a frame that is not JSON. */
export type Reader = (rows: Rows) => readonly ReadResult[] | Promise<readonly ReadResult[]>

export function fatesOf(became: readonly ReadResult[]): Fates {
  const fates: Fates = new Map()
  for (const { fate } of became) countFate(fates, fate)
  return fates
}

const NOW = timeMs(1_786_000_000_000)

type Fields = { readonly [name: string]: unknown }

const each =
  (read: (row: unknown) => readonly ReadResult[]) =>
  (rows: Rows): readonly ReadResult[] =>
    rows.flatMap(read)
const became = (fate: string, value: unknown): ReadResult[] => [{ fate, value }]
const refused = (reason: string): ReadResult[] => became(`rejected ${reason}`, null)
const textOf = (row: unknown): string => (typeof row === 'string' ? row : JSON.stringify(row))

/** Parses frames of the market channel, and books from REST, which use the same parser. */
export const polymarketFrames = each((row) => {
  const text = textOf(row)
  const named = [...text.matchAll(/"(\d{20,})"/g)].map((match) => match[1] ?? '')
  const [token = '1', other = `${token}0`] = new Set(named)
  const path = new PolymarketPath('fixture', [token, other])
  path.take(text, NOW)
  const stated = [...path.fees.values()].map(({ now }) => now).filter(isStated)
  const fates = [
    ...[...path.fates].flatMap(([fate, count]) => Array<string>(count).fill(fate)),
    ...stated.map(({ kind }) => `fees ${kind}`),
  ]
  return fates.map((fate) => ({ fate, value: [...path.events, ...stated] }))
})
const isStated = ({ source }: FeeModel): boolean => source !== null

export const polymarketSession: Reader = (rows) =>
  polymarketFrames(rows.filter(isRecord).flatMap(({ dir, data }) => (dir === 'recv' ? [data] : [])))

export const polymarketExamples: Reader = (rows) =>
  polymarketFrames(
    rows.flatMap((row) => {
      const examples: unknown[] = isRecord(row) && Array.isArray(row.examples) ? row.examples : []
      return examples.filter(isRecord).map(({ payload }) => payload)
    }),
  )

const polymarketActivity = each((row) => {
  const parsed = parseActivity(textOf(row))
  if (parsed.kind === 'rejected') return refused(parsed.reason)
  if (parsed.kind !== 'activity') return became(parsed.kind, null)
  const trade = readTrade(parsed.message.row)
  if (typeof trade === 'string') return refused(trade)
  return became(`activity ${parsed.message.kind}`, trade)
})

export const gammaMarkets = each((row) =>
  listed(readMarket(row, isRecord(row) ? nestedEvent(row) : null)),
)

/** Parses rows of Gamma's `/events` or of its search, with their markets. */
export const gammaEvents = each((row) => {
  const events = isRecord(row) && Array.isArray(row.events) ? row.events : [row]
  return events.flatMap((event: unknown) => {
    const listing = readEvent(event)
    const markets: unknown[] = isRecord(event) && Array.isArray(event.markets) ? event.markets : []
    return [
      ...(typeof listing === 'string' ? refused(listing) : became('event', listing)),
      ...markets.flatMap((market) => listed(readMarket(market, isRecord(event) ? event : null))),
    ]
  })
})

/** Also accepts the field names of version 1, which the activity stream uses. */
export const dataTrades = each((row) => {
  const wire = isTrade(row) ? row : readDataTrade(row)
  const trade = typeof wire === 'string' ? wire : readTrade(wire)
  return typeof trade === 'string' ? refused(trade) : became('trade', trade)
})

/** Parses the rows for the wallet in the first row. */
const dataActivity = (rows: Rows): readonly ReadResult[] => {
  const [first] = rows
  const wallet = isRecord(first) ? String(first.proxy_wallet).toLowerCase() : ''
  return rows.flatMap((row) => {
    const positioned = readTimedRow(row, wallet)
    if (positioned === null) return became('unplaced', null)
    const read = readActivity(positioned)
    if (read.kind !== 'event') return became(`${read.kind} ${read.reason}`, null)
    return became(`event ${read.event.kind}`, read.event)
  })
}

/** Rows of unsupported kinds: no parser may return a market or a trade. */
export const polymarketOther = each((row) =>
  isTrade(row) ? became('taken for a trade', row) : listed(readMarket(row, null)),
)

/**
 * Parses complete responses to one path of the Data API v2 or the CLOB. The rows of a path that the product does not
 * use count as unsupported.
 */
export const answersTo =
  (path: string): Reader =>
  async (answers) => {
    const all: ReadResult[] = []
    for (const answer of answers) all.push(...(await readAnswer(path, answer)))
    return all
  }

/** Parses responses that contain their path. */
const answersByPath: Reader = async (rows) => {
  const all: ReadResult[] = []
  for (const row of rows.filter(isRecord)) {
    all.push(...(await readAnswer(String(row.path), row.answer)))
  }
  return all
}

interface Asking {
  readonly data: DataApi
  readonly drift: Drift
  readonly counters: VenueCounters
  readonly client: JsonReader
  readonly answer: unknown
}

const SIGNAL = new AbortController().signal

async function readAnswer(path: string, answer: unknown): Promise<readonly ReadResult[]> {
  const { counters, drift } = venueCounters('a')
  const client = { getJson: async () => answer }
  const read = ANSWER_READERS[path] ?? ((requesting) => otherAnswer(path, requesting))
  let all: readonly ReadResult[]
  try {
    all = await read({ data: new DataApi({ client, drift }), drift, counters, client, answer })
  } catch (error) {
    if (!(error instanceof SuspectAnswerError)) throw error
    all = became(`doubt ${error.reason}`, null)
  }
  const found = drift.entries().map(({ kind, name }) => `drift ${kind} ${name}`)
  return [...all, ...found.flatMap((fate) => became(fate, null))]
}

const ANSWER_READERS: Readonly<
  Record<string, (requesting: Asking) => Promise<readonly ReadResult[]>>
> = {
  '/v2/trades': (requesting) => pageOf('/v2/trades', dataTrades, requesting),
  '/v2/activity': (requesting) => pageOf('/v2/activity', dataActivity, requesting),
  '/v2/positions': positionsOf,
  // The product requests the newest activity of an unknown wallet too.
  '/v2/user-stats': async ({ answer, drift }) => {
    const client: JsonReader = {
      getJson: async (path) => (path === '/v2/user-stats' ? answer : NO_ROWS),
    }
    const isKnown = await hasDone(new DataApi({ client, drift }), WALLET, SIGNAL)
    return became(isKnown ? 'known wallet' : 'unknown wallet', null)
  },
  '/v2/status': async ({ client, drift }) => {
    await polymarketProbes({ gamma: client, data: client, drift, log: silentLog }).status(SIGNAL)
    return became('status', null)
  },
  '/clob-markets': async ({ answer }) => {
    if (!isRecord(answer) || typeof answer.c !== 'string') return became('doubt shape', null)
    const { now } = readClobFees(answer)
    return became(`fees ${now.kind}`, now)
  },
}
const NO_ROWS = { data: [], pagination: { has_more: false } }
const WALLET = walletAddress(`0x${'1'.repeat(40)}`) ?? assert.fail('an address')

async function pageOf(
  path: string,
  read: (rows: Rows) => readonly ReadResult[],
  { data }: Asking,
): Promise<readonly ReadResult[]> {
  const { rows, next } = await data.page({ path, query: {}, kind: 'trades' })
  return [...read(rows), ...became(next === null ? 'page' : 'page, and more', null)]
}

/** Uses the status of the first row. Further pages are empty. */
async function positionsOf({ answer, drift, counters }: Asking): Promise<readonly ReadResult[]> {
  const first = isRecord(answer) && Array.isArray(answer.data) ? answer.data[0] : null
  const status = isRecord(first) ? first.status : 'OPEN'
  const client: JsonReader = {
    getJson: async (_, query = {}) =>
      query.status === status && query.cursor === undefined ? answer : NO_ROWS,
  }
  const data = new DataApi({ client, drift })
  const positions = await readPositions({ data, counters }, WALLET, SIGNAL)
  return positions.flatMap((each) => became(`position${each.isClosed ? ' closed' : ''}`, each))
}

async function otherAnswer(path: string, { data }: Asking): Promise<readonly ReadResult[]> {
  const value = await data.value({ path, query: {}, kind: 'market' })
  return polymarketOther(Array.isArray(value) ? value : [value])
}

function listed(listing: ReturnType<typeof readMarket>): ReadResult[] {
  return typeof listing === 'string'
    ? refused(listing)
    : became(`market ${listing.status}`, listing)
}

/** Parses every supported row at any nesting depth. */
export const kalshiRows = (rows: Rows): readonly ReadResult[] => {
  const events = new Map<string, EventListing>()
  for (const row of fieldsIn(rows)) {
    const read = isEventRow(row) ? parseEvent(row, new Map()) : null
    if (read?.kind === 'event') events.set(read.listing.nativeId, read.listing)
  }
  return [...fieldsIn(rows)].flatMap((row) => {
    const event = typeof row.event_ticker === 'string' ? events.get(row.event_ticker) : undefined
    return kalshiRow(row, event ?? null)
  })
}

function* fieldsIn(value: unknown): Generator<Fields> {
  if (Array.isArray(value)) for (const item of value) yield* fieldsIn(item)
  if (!isRecord(value)) return
  yield value
  for (const item of Object.values(value)) yield* fieldsIn(item)
}

const isEventRow = (row: Fields): boolean =>
  typeof row.event_ticker === 'string' && typeof row.mutually_exclusive === 'boolean'

/** Returns an empty list if the row has no supported form. */
function kalshiRow(row: Fields, event: EventListing | null): ReadResult[] {
  if (typeof row.trade_id === 'string') {
    const trade = parseTradeRow(row)
    if (trade.kind === 'rejected') return refused(trade.reason)
    const mapped = mapTrade(trade, NOW, 'history')
    return mapped.kind === 'trade' ? became('trade', mapped) : refused(mapped.reason)
  }
  if (typeof row.ticker === 'string' && typeof row.market_type === 'string') {
    const market = parseMarket(row, event)
    return market.kind === 'rejected'
      ? refused(market.reason)
      : became(`market ${market.listing.status}`, market.listing)
  }
  if (isEventRow(row)) {
    const read = parseEvent(row, new Map())
    return read.kind === 'rejected' ? refused(read.reason) : became('event', read.listing)
  }
  if (typeof row.ticker === 'string' && typeof row.fee_type === 'string') {
    const series = parseSeries(row)
    return 'kind' in series ? refused(series.reason) : became('series', series)
  }
  return isBookAnswer(row) ? bookOf(row) : []
}

/** True for `{orderbook_fp: {yes_dollars, …}}` or the form of January 2026. */
function isBookAnswer(row: Fields): boolean {
  const book = row.orderbook_fp ?? row.orderbook
  return isRecord(book) && ('yes_dollars' in book || 'no_dollars' in book)
}

function bookOf(row: Fields): ReadResult[] {
  const book = parseOrderbookRow(row, 'TICKER')
  if (book.kind === 'rejected') return refused(book.reason)
  const events: VenueEvent[] = []
  const refusal = mapMessage(book, NOW, (event) => events.push(event))
  return refusal === null ? became('book', events[0]) : refused(refusal.reason)
}

/** Parses price ranges at any nesting depth. */
export const kalshiGrids: Reader = (rows) =>
  [...fieldsIn(rows)].flatMap((row) => {
    if (row.price_ranges === undefined) return []
    const grid = parsePriceGrid(row)
    return grid === null ? refused('price_ranges') : became(`grid ${grid.finest}`, grid)
  })

/** Missing earlier frames count as gaps. Replies to commands are skipped. */
export const kalshiConnection: Reader = (rows) => streamed(rows)

/** Parses single frames of a socket, or a recording `{frames: [{received_ms, frame}]}`. */
export const kalshiFrames = each((row) => {
  if (!isRecord(row) || !Array.isArray(row.frames)) return streamed([row])
  return streamed(row.frames.map((each: unknown) => (isRecord(each) ? each.frame : each)))
})

function streamed(frames: readonly unknown[]): ReadResult[] {
  const all: ReadResult[] = []
  const { counters, metrics } = venueCounters('b')
  const note = (fate: string) => () => all.push({ fate, value: null })
  const stream = new KalshiStream(
    {
      emit: (event) => all.push({ fate: event.kind, value: event }),
      onReply: note('reply'),
      // A single frame has no predecessor, so it cannot show a gap.
      onGap: frames.length > 1 ? note('gap') : () => {},
      onLost: () => {},
    },
    counters,
  )
  for (const frame of frames) {
    stream.take({ connection: 1, receivedAtMs: NOW, text: textOf(frame) })
  }
  for (const term of ['ignored', 'rejected']) {
    for (const [labels, count] of metrics.counts(`venue_${term}_total`)) {
      const { reason }: { reason?: string } = JSON.parse(labels)
      if (reason === 'reply') continue
      for (let at = 0; at < count.value; at += 1) note(`${term} ${reason}`)()
    }
  }
  return all
}

/** The keys are `<venue>/<file>`. */
export const CASE_READERS: Readonly<Record<string, Reader>> = {
  'polymarket/answers.jsonl': answersByPath,
  'polymarket/market-frames.jsonl': polymarketFrames,
  'polymarket/activity-frames.jsonl': polymarketActivity,
  'polymarket/data-activity.jsonl': dataActivity,
  'polymarket/data-trades.jsonl': dataTrades,
  'polymarket/gamma-events.jsonl': gammaEvents,
  'polymarket/gamma-markets.jsonl': gammaMarkets,
  'kalshi/frames.jsonl': kalshiFrames,
  'kalshi/events.jsonl': kalshiRows,
  'kalshi/markets.jsonl': kalshiRows,
  'kalshi/orderbooks.jsonl': kalshiRows,
  'kalshi/series.jsonl': kalshiRows,
  'kalshi/trades.jsonl': kalshiRows,
}

export async function checkCases(venue: 'polymarket' | 'kalshi'): Promise<number> {
  let count = 0
  for (const [path, read] of Object.entries(CASE_READERS)) {
    if (!path.startsWith(venue)) continue
    const cases = casesOf(`${INVENTED}/${path}`)
    const first = cases[0]?.row
    for (const { name, row, becomes, reads } of cases) {
      // The first row contains the wallet of the activity.
      const became = await read(path.includes('activity.') ? [first, row] : [row])
      const own = path.includes('activity.') ? became.slice(1) : became
      const label = `${path}: ${name}`
      assert.deepEqual(own.map(({ fate }) => fate).sort(), [...becomes].sort(), label)
      compareValues(read === polymarketFrames ? eventsOf(own) : own.flatMap(valuesOf), reads, label)
      count += 1
    }
  }
  return count
}

const valuesOf = ({ value }: ReadResult): readonly unknown[] => (value === null ? [] : [value])
/** A frame with several messages has the events of all of them. */
const eventsOf = ([first]: readonly ReadResult[]): readonly unknown[] =>
  Array.isArray(first?.value) ? first.value : []

function compareValues(values: readonly unknown[], reads: readonly unknown[], label: string): void {
  assert.equal(values.length, reads.length, `${label}: ${JSON.stringify(values)}`)
  for (const [at, wanted] of reads.entries()) assertHolds(values[at], wanted, label)
}

/** Objects may have more fields than wanted, but lists may not have more items. */
function assertHolds(value: unknown, wanted: unknown, label: string): void {
  if (Array.isArray(wanted)) {
    assert.ok(Array.isArray(value) && value.length === wanted.length, label)
    for (const [at, item] of wanted.entries()) assertHolds(value[at], item, label)
  } else if (isRecord(wanted)) {
    assert.ok(isRecord(value), label)
    for (const [key, item] of Object.entries(wanted)) {
      assertHolds(value[key], item, `${label}: ${key}`)
    }
  } else assert.equal(value, wanted, label)
}
