// Venue a's public CLOB REST (engine/venues/polymarket/README.md, CLOB): books, prices, ticks, market lists.

import type { Clock } from '../../../clock.ts'
import {
  complement,
  formatTime,
  midPrice,
  type PriceMicros,
  priceMicros,
  toNumber,
} from '../../../units.ts'
import type { Faults } from '../faults.ts'
import type { SimMarket, World } from '../model.ts'
import {
  json,
  jsonText,
  plainText,
  type RestAnswer,
  type RestRequest,
  type RestServer,
} from '../rest.ts'
import { feeScheduleOf } from '../world/fees.ts'
import { bookText, priceText } from './frames.ts'
import { feeBps, isActive, isOver, ORDER_SIZE_MIN } from './market-facts.ts'
import { pastPrices } from './past-prices.ts'
import { clobMarket, REWARDS_SIZE_MIN, REWARDS_SPREAD_MAX, simplifiedMarket } from './render.ts'

export function addClobRoutes(
  server: RestServer,
  parts: { world: World; clock: Clock; faults: Faults },
): void {
  const { world, clock, faults } = parts
  server.get('/', () => plainText('OK'))
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
  server.get('/markets/{condition_id}', (request) => {
    const market = world.market('a', request.params.condition_id ?? '')
    return market === null ? json({ error: 'market not found' }, 404) : json(clobMarket(market))
  })
  server.get('/markets-by-token/{token_id}', (request) => {
    const found = world.marketOfToken(request.params.token_id ?? '')
    if (found === null) return json({ error: 'market not found' }, 404)
    const [primary_token_id, secondary_token_id] = found.market.listing.tokens
    return json({
      condition_id: found.market.listing.nativeId,
      primary_token_id,
      secondary_token_id,
    })
  })
  server.get('/clob-markets/{condition_id}', (request) => {
    const market = world.market('a', request.params.condition_id ?? '')
    return market === null ? json({ error: 'market not found' }, 404) : json(shortMarket(market))
  })
}

type Found = { readonly market: SimMarket; readonly outcomeIndex: 0 | 1 }

/** Quotes of one token. Null: its side, or the whole book, does not exist. */
interface Quote {
  readonly bid: PriceMicros | null
  readonly ask: PriceMicros | null
}

const NO_BOOK = { error: 'No orderbook exists for the requested token id' }
const BATCH_MAX = 500

function addTokenRoutes(server: RestServer, world: World): void {
  const withToken = (
    answer: (found: Found, request: RestRequest) => RestAnswer,
    isBookNeeded = true,
  ) => {
    return (request: RestRequest): RestAnswer => {
      const token = request.query.get('token_id') ?? ''
      if (token === '') return json({ error: 'Invalid token id' }, 400)
      const found = world.marketOfToken(token)
      if (found === null || (isBookNeeded && !hasBook(found))) return json(NO_BOOK, 404)
      return answer(found, request)
    }
  }
  server.get(
    '/book',
    withToken((found) => jsonText(bookText(found.market, found.outcomeIndex))),
  )
  server.get(
    '/midpoint',
    withToken((found) => oneOf('mid', midOf(quoteOf(found)))),
  )
  server.get(
    '/spread',
    withToken((found) => oneOf('spread', spreadOf(quoteOf(found)))),
  )
  server.get(
    '/price',
    withToken((found, request) => {
      const side = (request.query.get('side') ?? '').toUpperCase()
      if (side !== 'BUY' && side !== 'SELL') return json({ error: 'Invalid side' }, 400)
      return oneOf('price', sideOf(quoteOf(found), side))
    }),
  )
  server.get(
    '/last-trade-price',
    withToken((found) => json(lastTrade(found)), false),
  )
  server.get(
    '/tick-size',
    withToken((found) => json({ minimum_tick_size: toNumber(found.market.tickMicros) }), false),
  )
  server.get(
    '/neg-risk',
    withToken((found) => json({ neg_risk: found.market.event.isMutuallyExclusive }), false),
  )
  server.get(
    '/fee-rate',
    withToken((found) => json({ base_fee: String(feeBps(found.market)) }), false),
  )
}

const GHOST = {
  bids: [{ price: '0.01', size: '1000' }],
  asks: [{ price: '0.99', size: '1000' }],
}

/** Placeholder book for the fault `ghost_books`. */
function ghostText({ market, outcomeIndex }: Found): string {
  return JSON.stringify({ ...JSON.parse(bookText(market, outcomeIndex)), ...GHOST })
}

function addBatchRoutes(server: RestServer, world: World, faults: Faults): void {
  // Every batch omits tokens without a book.
  const batch = (path: string, answer: (items: readonly BatchItem[]) => RestAnswer) => {
    server.post(path, (request) => {
      const items = parseBatch(request.body, world)
      return items === null ? json({ error: 'Invalid payload' }, 400) : answer(items)
    })
  }
  batch('/books', (items) => {
    const books = items.map(({ found }) =>
      faults.strikes('ghost_books') ? ghostText(found) : bookText(found.market, found.outcomeIndex),
    )
    return jsonText(`[${books.join(',')}]`)
  })
  batch('/midpoints', (items) => mapOf(items, ({ found }) => textOrNull(midOf(quoteOf(found)))))
  batch('/spreads', (items) => mapOf(items, ({ found }) => textOrNull(spreadOf(quoteOf(found)))))
  batch('/prices', (items) => {
    const prices: Record<string, Record<string, string>> = {}
    for (const { token, found, side } of items) {
      for (const wanted of side === null ? (['BUY', 'SELL'] as const) : [side]) {
        const price = sideOf(quoteOf(found), wanted)
        if (price === null) continue
        const row = prices[token] ?? {}
        row[wanted] = priceText(price)
        prices[token] = row
      }
    }
    return json(prices)
  })
  // The batch omits tokens that never traded; the single answer has a placeholder.
  batch('/last-trades-prices', (items) => {
    const traded = items.filter(({ found }) => found.market.lastTrade !== null)
    return json(traded.map(({ token, found }) => ({ token_id: token, ...lastTrade(found) })))
  })
}

interface BatchItem {
  readonly token: string
  readonly found: Found
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
    if (typeof item !== 'object' || item === null) return null
    const fields = new Map<string, unknown>(Object.entries(item))
    const token = fields.get('token_id')
    if (typeof token !== 'string') return null
    const found = world.marketOfToken(token)
    if (found === null || !hasBook(found)) continue
    const side = fields.get('side')
    items.push({ token, found, side: side === 'BUY' || side === 'SELL' ? side : null })
  }
  return items
}

function mapOf(items: readonly BatchItem[], value: (item: BatchItem) => string | null): RestAnswer {
  const map: Record<string, string> = {}
  for (const each of items) {
    const text = value(each)
    if (text !== null) map[each.token] = text
  }
  return json(map)
}

function hasBook(found: Found): boolean {
  return found.market.status === 'open'
}

function quoteOf(found: Found): Quote {
  const { bestBid, bestAsk } = found.market.book
  if (found.outcomeIndex === 0) return { bid: bestBid, ask: bestAsk }
  return {
    bid: bestAsk === null ? null : complement(bestAsk),
    ask: bestBid === null ? null : complement(bestBid),
  }
}

// BUY is the best bid, the lower of the two (engine/venues/polymarket/README.md, CLOB).
function sideOf(quote: Quote, side: 'BUY' | 'SELL'): PriceMicros | null {
  return side === 'BUY' ? quote.bid : quote.ask
}

function midOf(quote: Quote): PriceMicros | null {
  return quote.bid === null || quote.ask === null ? null : midPrice(quote.bid, quote.ask)
}

function spreadOf(quote: Quote): PriceMicros | null {
  if (quote.bid === null || quote.ask === null || quote.ask < quote.bid) return null
  return priceMicros(quote.ask - quote.bid)
}

function textOrNull(price: PriceMicros | null): string | null {
  return price === null ? null : priceText(price)
}

function oneOf(key: string, price: PriceMicros | null): RestAnswer {
  return price === null ? json(NO_BOOK, 404) : json({ [key]: priceText(price) })
}

// Market-level: quoted in the token that traded last. A market that never traded has no side and a price of one half,
// as live (Polymarket/ts-sdk#253).
function lastTrade(found: Found): { price: string; side: string } {
  const trade = found.market.lastTrade
  if (trade === null) return { price: '0.5', side: '' }
  return { price: priceText(trade.price), side: trade.side === 'buy' ? 'BUY' : 'SELL' }
}

function isSampled(market: SimMarket): boolean {
  return isActive(market) && !isOver(market)
}

const PAGE_ROWS = 1_000
const LAST_CURSOR = 'LTE='

// Cursors are the offset in base64: "MA==" is 0. "LTE=" (−1) marks the last page.
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

/** A market of `/clob-markets`, with the venue's abbreviated keys. */
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
