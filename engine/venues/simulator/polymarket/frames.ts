// Venue a's books and market-channel frames (engine/venues/polymarket/README.md, Market channel). The functions run for
// every change of a book.

import { createHash } from 'node:crypto'
import type { Level, LevelChange } from '../../../events.ts'
import {
  complement,
  MICROS,
  type PriceMicros,
  priceMicros,
  type SizeMicros,
  type TimeMs,
  toDecimal,
} from '../../../units.ts'
import type { SimMarket, SimTrade } from '../model.ts'
import { feeScheduleOf } from '../world/fees.ts'
import { tagSlug } from './events.ts'
import { feeBps, ORDER_SIZE_MIN, quoteOf, spreadOf, winnerIndex } from './market-facts.ts'

export function priceText(price: PriceMicros): string {
  return price % TABLE_STEP === 0 ? (PRICE_TEXTS[price / TABLE_STEP] ?? '') : toDecimal(price)
}

function textOf(price: PriceMicros | null): string {
  return price === null ? '' : priceText(price)
}

/** The shortest decimal. Exact below a billion contracts. */
function sizeText(size: SizeMicros): string {
  return String(size / MICROS)
}

/**
 * One outcome's book in REST format, with levels from worst to best. The hash is the SHA-1 of the same text with an
 * empty hash.
 */
export function bookText(market: SimMarket, outcomeIndex: 0 | 1): string {
  const { listing, book, lastTrade } = market
  const isFirst = outcomeIndex === 0
  const bids = levelTexts(isFirst ? book.bids : book.asks, isFirst)
  const asks = levelTexts(isFirst ? book.asks : book.bids, isFirst)
  const head =
    `{"market":"${listing.nativeId}","asset_id":"${listing.tokens[outcomeIndex]}",` +
    `"timestamp":"${market.updatedMs}","hash":"`
  const tail =
    `","bids":[${bids}],"asks":[${asks}],"min_order_size":"${ORDER_SIZE_MIN}",` +
    `"tick_size":"${priceText(market.tickMicros)}","neg_risk":${market.event.isMutuallyExclusive},` +
    `"last_trade_price":"${lastTrade === null ? '' : priceText(lastTrade.price)}"` +
    `${listing.isV2 ? ',"version":"v2"' : ''}}`
  return `${head}${sha1(head + tail)}${tail}`
}

export function bookFrame(market: SimMarket, outcomeIndex: 0 | 1): string {
  return `{"event_type":"book",${bookText(market, outcomeIndex).slice(1)}`
}

export class MarketFrames {
  readonly #market: SimMarket
  readonly #id: string
  readonly #entryHeads: readonly [string, string]
  readonly #hashHeads: readonly [string, string]
  // Two 32-bit halves of a hash of the book: the XOR over all levels of a hash of side, price and size. A SHA-1 of the
  // book for each change would be too slow.
  #hashA = 0
  #hashB = 0

  constructor(market: SimMarket) {
    this.#market = market
    const { nativeId, tokens } = market.listing
    this.#id = `"market":"${nativeId}"`
    this.#entryHeads = [
      `{"asset_id":"${tokens[0]}","price":"`,
      `{"asset_id":"${tokens[1]}","price":"`,
    ]
    this.#hashHeads = [sha1(tokens[0]).slice(0, 24), sha1(tokens[1]).slice(0, 24)]
    for (const level of market.book.bids) this.#mix('bid', level.price, level.size)
    for (const level of market.book.asks) this.#mix('ask', level.price, level.size)
  }

  /** Updates the running hash. The caller must pass every change of the book. */
  note(changes: readonly LevelChange[], previousSizes: readonly SizeMicros[]): void {
    for (let position = 0; position < changes.length; position += 1) {
      const change = changes[position]
      const previous = previousSizes[position]
      if (change === undefined || previous === undefined) continue
      this.#mix(change.side, change.price, previous)
      this.#mix(change.side, change.price, change.size)
    }
  }

  /** One `price_change` with entries for both tokens. The best prices are those after the change. */
  priceChange(changes: readonly LevelChange[], atMs: TimeMs): string {
    const bookHash = hexText(this.#hashA) + hexText(this.#hashB)
    const end = ([0, 1] as const).map((outcome) => {
      const { bid, ask } = quoteOf(this.#market, outcome)
      const best = `"best_bid":"${textOf(bid)}","best_ask":"${textOf(ask)}"`
      return `","hash":"${this.#hashHeads[outcome]}${bookHash}",${best}}`
    })
    let entries = ''
    for (const change of changes) {
      const isBid = change.side === 'bid'
      const size = sizeText(change.size)
      const first = `${priceText(change.price)}","size":"${size}","side":"${isBid ? 'BUY' : 'SELL'}`
      const other = `${priceText(complement(change.price))}","size":"${size}","side":"${isBid ? 'SELL' : 'BUY'}`
      const both = `${this.#entryHeads[0]}${first}${end[0]},${this.#entryHeads[1]}${other}${end[1]}`
      entries = entries === '' ? both : `${entries},${both}`
    }
    return `{"event_type":"price_change",${this.#id},"price_changes":[${entries}],"timestamp":"${atMs}"}`
  }

  lastTradePrice(trade: SimTrade): string {
    return (
      `{"event_type":"last_trade_price",${this.#id},` +
      `"asset_id":"${this.#market.listing.tokens[trade.outcomeIndex]}",` +
      `"price":"${priceText(trade.price)}","size":"${sizeText(trade.size)}",` +
      `"side":"${trade.side === 'buy' ? 'BUY' : 'SELL'}","fee_rate_bps":"${feeBps(this.#market)}",` +
      `"timestamp":"${trade.atMs}","transaction_hash":"${trade.txHash}"}`
    )
  }

  tickSizeChange(
    outcomeIndex: 0 | 1,
    change: { oldTick: PriceMicros; newTick: PriceMicros; atMs: TimeMs },
  ): string {
    return (
      `{"event_type":"tick_size_change",${this.#id},` +
      `"asset_id":"${this.#market.listing.tokens[outcomeIndex]}",` +
      `"old_tick_size":"${priceText(change.oldTick)}","new_tick_size":"${priceText(change.newTick)}",` +
      `"timestamp":"${change.atMs}"}`
    )
  }

  /** A side without orders is an empty text. */
  bestBidAsk(outcomeIndex: 0 | 1, atMs: TimeMs): string {
    const quote = quoteOf(this.#market, outcomeIndex)
    return (
      `{"event_type":"best_bid_ask",${this.#id},` +
      `"asset_id":"${this.#market.listing.tokens[outcomeIndex]}",` +
      `"best_bid":"${textOf(quote.bid)}","best_ask":"${textOf(quote.ask)}",` +
      `"spread":"${textOf(spreadOf(quote))}","timestamp":"${atMs}"}`
    )
  }

  #mix(side: 'bid' | 'ask', price: PriceMicros, size: SizeMicros): void {
    if (size === 0) return
    let mixed = Math.imul(price ^ (side === 'bid' ? 0x9e3779b9 : 0x3c6ef372), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 15) ^ (size % 4_294_967_291), 0xc2b2ae35)
    mixed ^= mixed >>> 13
    this.#hashA ^= mixed
    this.#hashB ^= Math.imul(mixed ^ 0x165667b1, 0x27d4eb2f) ^ (mixed >>> 16)
  }
}

export function newMarketFrame(market: SimMarket, atMs: TimeMs): string {
  const { listing, event } = market
  return JSON.stringify({
    event_type: 'new_market',
    id: String(listing.number),
    question: listing.question,
    market: listing.nativeId,
    slug: listing.slug,
    description: listing.rules,
    assets_ids: listing.tokens,
    outcomes: listing.outcomes,
    event_message: eventMessage(market),
    timestamp: String(atMs),
    tags: event.tags.map(tagSlug),
    condition_id: listing.nativeId,
    active: true,
    clob_token_ids: listing.tokens,
    sports_market_type: listing.sportsMarketType ?? '',
    line: listing.line === null ? '' : String(listing.line),
    game_start_time: event.game === null ? '' : String(event.game.startMs),
    order_price_min_tick_size: priceText(market.tickMicros),
    group_item_title: listing.shortTitle,
    taker_base_fee: String(feeBps(market)),
    fees_enabled: feeScheduleOf(market) !== null,
    fee_schedule: feeTexts(market),
  })
}

function feeTexts(market: SimMarket): Record<string, unknown> | null {
  const schedule = feeScheduleOf(market)
  if (schedule === null) return null
  const { rate, exponent, rebateRate } = schedule
  return {
    ...{ exponent: String(exponent), rate: String(rate) },
    ...{ taker_only: true, rebate_rate: String(rebateRate) },
  }
}

/** A void market has no winner. */
export function marketResolvedFrame(market: SimMarket, atMs: TimeMs): string {
  const { listing, event } = market
  const winner = winnerIndex(market)
  return JSON.stringify({
    event_type: 'market_resolved',
    id: String(listing.number),
    market: listing.nativeId,
    assets_ids: listing.tokens,
    ...(winner === null
      ? {}
      : { winning_asset_id: listing.tokens[winner], winning_outcome: listing.outcomes[winner] }),
    event_message: eventMessage(market),
    timestamp: String(atMs),
    tags: event.tags.map(tagSlug),
  })
}

const TABLE_STEP = 100
// Texts of every price on the finest tick (0.0001).
const PRICE_TEXTS: readonly string[] = Array.from({ length: MICROS / TABLE_STEP + 1 }, (_, step) =>
  toDecimal(priceMicros(step * TABLE_STEP)),
)
const HEX_BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
)

function hexText(value: number): string {
  return (
    (HEX_BYTES[value >>> 24] ?? '') +
    (HEX_BYTES[(value >>> 16) & 255] ?? '') +
    (HEX_BYTES[(value >>> 8) & 255] ?? '') +
    (HEX_BYTES[value & 255] ?? '')
  )
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

function levelTexts(levels: readonly Level[], isFirst: boolean): string {
  let text = ''
  for (let position = levels.length - 1; position >= 0; position -= 1) {
    const level = levels[position]
    if (level === undefined) continue
    const price = priceText(isFirst ? level.price : complement(level.price))
    const part = `{"price":"${price}","size":"${sizeText(level.size)}"}`
    text = text === '' ? part : `${text},${part}`
  }
  return text
}

function eventMessage(market: SimMarket): Record<string, string> {
  const { event } = market
  return {
    id: String(event.number),
    ticker: event.nativeId,
    slug: event.nativeId,
    title: event.title,
    description: event.description,
  }
}
