// Messages of the stream as MessagePack: the same fields and values as encode-json.ts, as plain maps
// that any decoder reads. The library's records and 32-bit floats stay off, since they leave the
// format, and whole numbers beyond 32 bits are handed over as BigInt, since it would write floats
// otherwise (reliability.md 1.3). Upholds HUB1 to HUB4, WS15.

import { Packr } from 'msgpackr'
import type { BookView, CatalogView, MarketView } from '../../actors/views.ts'
import { vwapOf } from '../../engine/candle.ts'
import type {
  BookUpdate,
  FeedState,
  Level,
  LifecycleUpdate,
  MarketPrice,
  PriceUpdate,
  Stamp,
  Trade,
  TradeUpdate,
  WhaleUpdate,
} from '../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../engine/market.ts'
import { MICROS, midPrice, type PriceMicros, priceCents, toSeconds } from '../../engine/units.ts'
import type { ChannelName } from './channels.ts'
import type {
  Candle,
  Dated,
  Depth,
  Encoder,
  Gap,
  Heartbeat,
  Reply,
  ResyncReason,
} from './encoder.ts'

/** Largest number that the library writes as an integer of its own accord. */
const UINT32_MAX = 0xffff_ffff

/** Writes MessagePack. Looks markets' labels up in the catalogue. */
export class MsgpackEncoder implements Encoder {
  readonly form = 'b'
  readonly isBinary = true
  readonly #epoch: string
  readonly #catalog: CatalogView
  readonly #packr = new Packr({ useRecords: false, variableMapSize: true, useFloat32: 0 })

  constructor(parts: { epoch: string; catalog: CatalogView }) {
    this.#epoch = parts.epoch
    this.#catalog = parts.catalog
  }

  bookUpdate(update: BookUpdate): Uint8Array {
    const { market, changes, checksum } = update
    const platform = market.platform
    const sides = { bids: [] as LevelRecord[], asks: [] as LevelRecord[] }
    for (const { side, price, size } of changes) {
      const level = { price: price / MICROS, size: size / MICROS, platform }
      if (side === 'bid') sides.bids.push(level)
      else sides.asks.push(level)
    }
    const head = this.#data('update', 'orderbook', market, update)
    return this.#pack(
      checksum === null ? { ...head, data: sides } : { ...head, checksum, data: sides },
    )
  }

  snapshot(view: MarketView, book: BookView): Uint8Array {
    const { ref } = view
    const { isStale, checksum } = book
    const head = this.#data('snapshot', 'orderbook', ref, book)
    return this.#pack({ ...head, stale: isStale, checksum, data: bookRecord(book, ref.platform) })
  }

  depth({ market, levels, book, stamp }: Depth): Uint8Array {
    const head = this.#data('depth', 'depth', market, stamp)
    const data = bookRecord(book, market.platform, levels)
    return this.#pack({ ...head, stale: book.isStale, data })
  }

  resync(channel: ChannelName, market: MarketRef, reason: ResyncReason): Uint8Array {
    return this.#pack({ type: 'resync', channel, market_id: market.id, reason })
  }

  trade(update: TradeUpdate, epoch?: string): Uint8Array {
    const { market, trade } = update
    const outcome = this.#catalog.find(market.id)?.summary.outcomes[trade.outcomeIndex]
    const data = tradeRecord(market, trade, outcome?.label ?? null)
    return this.#pack({ ...this.#data('trade', 'trades', market, update, epoch), data })
  }

  whale(update: WhaleUpdate, epoch?: string): Uint8Array {
    const { market, whale } = update
    const data = {
      ...tradeRecord(market, whale, whale.outcome),
      question: whale.question,
      slug: whale.slug,
      event_slug: whale.eventSlug,
      category: whale.category,
      wallet: whale.wallet,
      fills: whole(whale.fills),
    }
    return this.#pack({ ...this.#data('whale', 'whales', market, update, epoch), data })
  }

  lifecycle(update: LifecycleUpdate, epoch?: string): Uint8Array {
    const { market, event, facts, twin } = update
    const data = {
      event,
      platform: market.platform,
      status: facts.status,
      question: facts.question,
      slug: facts.slug,
      event_slug: facts.eventSlug,
      outcomes: facts.outcomes.map(({ label }) => label),
      close_time: facts.closeAtMs === null ? null : whole(toSeconds(facts.closeAtMs)),
      settlement_price: facts.settlementPrice === null ? null : facts.settlementPrice / MICROS,
      twin_market_id: twin?.id ?? null,
    }
    return this.#pack({ ...this.#data('lifecycle', 'lifecycle', market, update, epoch), data })
  }

  candle({ market, interval, lengthMs, bar, nowMs, stamp }: Candle): Uint8Array {
    const endMs = bar.startMs + lengthMs
    const data = {
      interval,
      timestamp_ms: whole(bar.startMs),
      end_period_ts: whole(endMs / 1000),
      open: bar.open / MICROS,
      high: bar.high / MICROS,
      low: bar.low / MICROS,
      close: bar.close / MICROS,
      volume: bar.usd / MICROS,
      trades_count: whole(bar.count),
      vwap: vwapOf(bar) / MICROS,
      closed: endMs <= nowMs,
    }
    return this.#pack({ ...this.#data('candle', 'candles', market, stamp), data })
  }

  priceUpdate(update: PriceUpdate): Uint8Array {
    const head = this.#data('price', 'prices', update.market, update)
    return this.#pack({ ...head, data: priceRecord(update.price) })
  }

  priceState(market: MarketRef, price: MarketPrice, stamp: Stamp): Uint8Array {
    const { observedAtMs } = price
    const times = { venueTimeMs: observedAtMs, receivedAtMs: observedAtMs }
    const { offset, seq } = stamp
    const head = this.#data('price', 'prices', market, { offset, seq, ...times })
    return this.#pack({ ...head, data: priceRecord(price) })
  }

  gap(gap: Gap): Uint8Array {
    const { channel, where, fromMs, toMs } = gap
    const named = 'marketId' in where ? { market_id: where.marketId } : where
    const from = fromMs === null ? null : whole(fromMs)
    return this.#pack({ type: 'gap', channel, ...named, from_ms: from, to_ms: whole(toMs) })
  }

  status(status: { platform: string; state: FeedState; lagMs: number | null }): Uint8Array {
    const { platform, state, lagMs } = status
    const lag = lagMs === null ? null : whole(lagMs)
    return this.#pack({ type: 'status', platform, state, lag_ms: lag })
  }

  heartbeat(beat: Heartbeat): Uint8Array {
    const { timestampMs, counter, offsets } = beat
    const rest = offsets === null ? { catching_up: true } : { offsets: allWhole(offsets) }
    return this.#pack({
      type: 'heartbeat',
      timestamp_ms: whole(timestampMs),
      counter: whole(counter),
      epoch: this.#epoch,
      ...rest,
    })
  }

  reply(reply: Reply): Uint8Array {
    return this.#pack(allWhole(reply))
  }

  forget(_market: MarketNumber): void {}

  /** What every counted message begins with, in the order of the JSON form. */
  #data(type: string, channel: ChannelName, market: MarketRef, from: Dated, epoch = this.#epoch) {
    return {
      type,
      channel,
      market_id: market.id,
      epoch,
      offset: whole(from.offset),
      seq: whole(from.seq),
      timestamp_ms: from.venueTimeMs === null ? null : whole(from.venueTimeMs),
      received_ms: from.receivedAtMs === null ? null : whole(from.receivedAtMs),
    }
  }

  #pack(message: unknown): Uint8Array {
    return this.#packr.pack(message)
  }
}

interface LevelRecord {
  readonly price: number
  readonly size: number
  readonly platform: string
}

function levelRecord(price: number, size: number, platform: string): LevelRecord {
  return { price: price / MICROS, size: size / MICROS, platform }
}

function bookRecord(
  { bids, asks }: Pick<BookView, 'bids' | 'asks'>,
  platform: string,
  levels?: number,
) {
  const records = (side: readonly Level[]): LevelRecord[] =>
    side.slice(0, levels).map(({ price, size }) => levelRecord(price, size, platform))
  const best = spread(bids[0]?.price ?? null, asks[0]?.price ?? null)
  return { bids: records(bids), asks: records(asks), ...best }
}

function tradeRecord(market: MarketRef, trade: Trade, outcome: string | null) {
  return {
    id: trade.nativeId,
    market_id: market.id,
    platform: market.platform,
    price: trade.price / MICROS,
    size: trade.size / MICROS,
    side: trade.side,
    outcome,
    size_usd: trade.usd / MICROS,
    timestamp_ms: whole(trade.timeMs),
    native_trade_id: trade.nativeId,
    maker: trade.maker,
    taker: trade.taker,
    tx_hash: trade.txHash,
  }
}

function priceRecord({ price, bid, ask, source }: MarketPrice) {
  return {
    price: price / MICROS,
    price_cents: priceCents(price),
    best_bid: bid === null ? null : bid / MICROS,
    best_ask: ask === null ? null : ask / MICROS,
    ...spread(bid, ask),
    source,
  }
}

function spread(bid: PriceMicros | null, ask: PriceMicros | null) {
  if (bid === null || ask === null) return { spread: null, mid_price: null }
  return { spread: (ask - bid) / MICROS, mid_price: midPrice(bid, ask) / MICROS }
}

/** A whole number in the form that is written as an integer whatever its size. */
function whole(value: number): number | bigint {
  return value > UINT32_MAX || value < -UINT32_MAX ? BigInt(value) : value
}

/** The same value with every large whole number in it made so. */
function allWhole(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? whole(value) : value
  if (Array.isArray(value)) return value.map(allWhole)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, allWhole(item)]))
}
