// Venue a's public CLOB REST API (engine/venues/polymarket/README.md, CLOB): books, prices, ticks, market lists.

import type { Clock } from '../../../clock.ts'
import { isRecord } from '../../../json-record.ts'
import { formatTime, midPrice, type PriceMicros, toNumber } from '../../../units.ts'
import type { Faults } from '../faults.ts'
import type { SimMarket, World } from '../model.ts'
import { json, jsonText, Refusal, type RestAnswer, type RestServer } from '../rest.ts'
import { feeScheduleOf } from '../world/fees.ts'
import { bookText, priceText } from './frames.ts'
import {
  feeBps,
  isActive,
  isOver,
  ORDER_SIZE_MIN,
  type Quote,
  quoteOf,
  spreadOf,
} from './market-facts.ts'
import { pastPrices } from './past-prices.ts'
import { clobMarket, REWARDS_SIZE_MIN, REWARDS_SPREAD_MAX, simplifiedMarket } from './render.ts'

export function addClobRoutes(
  server: RestServer,
  parts: { world: World; clock: Clock; faults: Faults },
): void {
  const { world, clock, faults } = parts
  server.get('/ok', () => json('OK'))
  server.get('/time', () => json(Math.floor(clock.nowMs() / 1000)))
  server.get('/prices-history', (request) => pastPrices(world, clock, request.query))
  addTokenRoutes(server, world)
  addBatchRoutes(server, world, faults)
  const lists = [
    ['/markets', () => true, clobMarket],
    ['/simplified-markets', () => true, simplifiedMarket],
    ['/sampling-markets', isSampled, clobMarket],
    ['/sampling-simplified-markets', isSampled, simplifiedMarket],
  ] as const
  for (const [path, isListed, render] of lists) {
    server.get(path, (request) => listMarkets(world, request.query, { isListed, render }))
  }
  for (const [path, render] of [
    ['/markets/{id}', clobMarket],
    ['/clob-markets/{id}', shortMarket],
  ] as const) {
    server.get(path, ({ params }) => json(render(found(world.market('a', params.id ?? '')))))
  }
  server.get('/markets-by-token/{token}', ({ params }) => {
    const { listing } = found(world.marketOfToken(params.token ?? '')).market
    const [primary_token_id, secondary_token_id] = listing.tokens
    return json({ condition_id: listing.nativeId, primary_token_id, secondary_token_id })
  })
}

function found<Row>(row: Row | null): Row {
  if (row === null) throw new Refusal(json({ error: 'market not found' }, 404))
  return row
}

type Token = { readonly market: SimMarket; readonly outcomeIndex: 0 | 1 }

const NO_BOOK = { error: 'No orderbook exists for the requested token id' }
const BATCH_MAX = 500

function addTokenRoutes(server: RestServer, world: World): void {
  const add = (
    path: string,
    isBookNeeded: boolean,
    answer: (token: Token, query: URLSearchParams) => RestAnswer,
  ): void => {
    server.get(path, ({ query }) => {
      const id = query.get('token_id') ?? ''
      if (id === '') return json({ error: 'Invalid token id' }, 400)
      const token = world.marketOfToken(id)
      if (token === null || (isBookNeeded && !hasBook(token))) return json(NO_BOOK, 404)
      return answer(token, query)
    })
  }
  add('/book', true, (token) => jsonText(bookText(token.market, token.outcomeIndex)))
  add('/midpoint', true, (token) => oneOf('mid', midOf(quoteOfToken(token))))
  add('/spread', true, (token) => oneOf('spread', spreadOf(quoteOfToken(token))))
  add('/price', true, (token, query) => {
    const side = (query.get('side') ?? '').toUpperCase()
    if (side !== 'BUY' && side !== 'SELL') return json({ error: 'Invalid side' }, 400)
    return oneOf('price', sideOf(quoteOfToken(token), side))
  })
  add('/last-trade-price', false, (token) => json(lastTrade(token)))
  add('/tick-size', false, ({ market }) => json({ minimum_tick_size: toNumber(market.tickMicros) }))
  add('/neg-risk', false, ({ market }) => json({ neg_risk: market.event.isMutuallyExclusive }))
  add('/fee-rate', false, ({ market }) => json({ base_fee: String(feeBps(market)) }))
}

const GHOST = {
  bids: [{ price: '0.01', size: '1000' }],
  asks: [{ price: '0.99', size: '1000' }],
}

function ghostText({ market, outcomeIndex }: Token): string {
  return JSON.stringify({ ...JSON.parse(bookText(market, outcomeIndex)), ...GHOST })
}

function addBatchRoutes(server: RestServer, world: World, faults: Faults): void {
  const batch = (path: string, answer: (items: readonly BatchItem[]) => RestAnswer) => {
    server.post(path, (request) => {
      const items = parseBatch(request.body, world)
      return items === null ? json({ error: 'Invalid payload' }, 400) : answer(items)
    })
  }
  batch('/books', (items) => {
    const books = items.map((item) =>
      faults.strikes('ghost_books') ? ghostText(item) : bookText(item.market, item.outcomeIndex),
    )
    return jsonText(`[${books.join(',')}]`)
  })
  batch('/midpoints', (items) => mapOf(items, (item) => midOf(quoteOfToken(item))))
  batch('/spreads', (items) => mapOf(items, (item) => spreadOf(quoteOfToken(item))))
  batch('/prices', (items) => {
    const prices: Record<string, Record<string, string>> = {}
    for (const item of items) {
      for (const wanted of item.side === null ? (['BUY', 'SELL'] as const) : [item.side]) {
        const price = sideOf(quoteOfToken(item), wanted)
        if (price === null) continue
        const row = prices[item.id] ?? {}
        row[wanted] = priceText(price)
        prices[item.id] = row
      }
    }
    return json(prices)
  })
  // Omits markets without trades. `/last-trade-price` returns a placeholder for them.
  batch('/last-trades-prices', (items) => {
    const traded = items.filter(({ market }) => market.lastTrade !== null)
    return json(traded.map((item) => ({ token_id: item.id, ...lastTrade(item) })))
  })
}

interface BatchItem extends Token {
  readonly id: string
  readonly side: 'BUY' | 'SELL' | null
}

function parseBatch(body: string, world: World): readonly BatchItem[] | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return null
  }
  if (!Array.isArray(parsed) || parsed.length > BATCH_MAX) return null
  const items: BatchItem[] = []
  for (const item of parsed) {
    if (!isRecord(item) || typeof item.token_id !== 'string') return null
    const { token_id: id, side } = item
    const token = world.marketOfToken(id)
    if (token === null || !hasBook(token)) continue
    items.push({ ...token, id, side: side === 'BUY' || side === 'SELL' ? side : null })
  }
  return items
}

function mapOf(
  items: readonly BatchItem[],
  value: (item: BatchItem) => PriceMicros | null,
): RestAnswer {
  const map: Record<string, string> = {}
  for (const item of items) {
    const price = value(item)
    if (price !== null) map[item.id] = priceText(price)
  }
  return json(map)
}

const hasBook = ({ market }: Token): boolean => market.status === 'open'

const quoteOfToken = ({ market, outcomeIndex }: Token): Quote => quoteOf(market, outcomeIndex)

// BUY is the best bid, which is the lower price (engine/venues/polymarket/README.md, CLOB).
function sideOf(quote: Quote, side: 'BUY' | 'SELL'): PriceMicros | null {
  return side === 'BUY' ? quote.bid : quote.ask
}

function midOf({ bid, ask }: Quote): PriceMicros | null {
  return bid === null || ask === null ? null : midPrice(bid, ask)
}

function oneOf(key: string, price: PriceMicros | null): RestAnswer {
  return price === null ? json(NO_BOOK, 404) : json({ [key]: priceText(price) })
}

// The price of a market is that of the token that traded last. Without trades, the price is 0.5 and the side is empty
// (Polymarket/ts-sdk#253).
function lastTrade({ market }: Token): { price: string; side: string } {
  const trade = market.lastTrade
  if (trade === null) return { price: '0.5', side: '' }
  return { price: priceText(trade.price), side: trade.side === 'buy' ? 'BUY' : 'SELL' }
}

function isSampled(market: SimMarket): boolean {
  return isActive(market) && !isOver(market)
}

const PAGE_ROWS = 1_000
const LAST_CURSOR = 'LTE='

// A cursor is the offset in base64: "MA==" is 0. "LTE=" (−1) means that there are no more pages.
function listMarkets(
  world: World,
  query: URLSearchParams,
  list: {
    readonly isListed: (market: SimMarket) => boolean
    readonly render: (market: SimMarket) => Record<string, unknown>
  },
): RestAnswer {
  const cursor = query.get('next_cursor') ?? ''
  const text = cursor === '' ? '0' : Buffer.from(cursor, 'base64').toString('latin1')
  if (!/^(?:\d{1,9}|-1)$/.test(text)) return json({ error: 'invalid next_cursor' }, 400)
  const offset = Number(text)
  const all = world.markets('a').filter(list.isListed)
  const rows = offset < 0 ? [] : all.slice(offset, offset + PAGE_ROWS)
  const next = offset < 0 || offset + PAGE_ROWS >= all.length ? null : String(offset + PAGE_ROWS)
  return json({
    limit: PAGE_ROWS,
    count: rows.length,
    next_cursor: next === null ? LAST_CURSOR : Buffer.from(next).toString('base64'),
    data: rows.map(list.render),
  })
}

function shortMarket(market: SimMarket): Record<string, unknown> {
  const { listing, event } = market
  const schedule = feeScheduleOf(market)
  const baseFee = feeBps(market)
  return {
    r: { mi: REWARDS_SIZE_MIN, ma: REWARDS_SPREAD_MAX },
    t: listing.tokens.map((t, outcome) => ({ t, o: listing.outcomes[outcome] ?? '' })),
    c: listing.nativeId,
    mos: ORDER_SIZE_MIN,
    mts: toNumber(market.tickMicros),
    mbf: baseFee,
    tbf: baseFee,
    ao: market.status === 'open',
    aot: formatTime(listing.openMs),
    ...(event.isMutuallyExclusive ? { nr: true } : {}),
    ...(event.game === null ? {} : { gst: formatTime(event.game.startMs) }),
    fd: schedule === null ? null : { r: schedule.rate, e: schedule.exponent, to: true },
    v: listing.isV2 ? 'v2' : 'v1',
  }
}
