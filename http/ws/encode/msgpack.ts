// Messages of the stream as MessagePack: the same fields and values as http/ws/encode/json.ts, as plain maps
// that any decoder reads, integers of up to 64 bits as integers (engine/msgpack-writer.ts). What tells of
// a market is written field by field; the rare rest as the object that the JSON form writes.
// Upholds HUB1 to HUB4, WS15, WIRE6.

import type { BookView, CatalogView, MarketView } from '../../../actors/views.ts'
import type {
  BookUpdate,
  Level,
  LifecycleUpdate,
  MarketPrice,
  PriceUpdate,
  Stamp,
  Trade,
  TradeUpdate,
  WhaleUpdate,
} from '../../../engine/events.ts'
import { vwapOf } from '../../../engine/market/candle.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { encoded, MsgpackWriter } from '../../../engine/msgpack-writer.ts'
import {
  MICROS,
  midPrice,
  type PriceMicros,
  priceCents,
  type TimeMs,
  toSeconds,
} from '../../../engine/units.ts'
import type { ChannelName } from '../channels.ts'
import {
  type Candle,
  type Dated,
  type Depth,
  type Encoder,
  type EncoderParts,
  type Gap,
  gapMessage,
  type Heartbeat,
  type Reply,
  type ResyncReason,
  type Status,
  statusMessage,
} from './encoder.ts'

/** Fields of every counted message: the nine of its head, and `data`. */
const COUNTED_FIELDS = 10
const TRADE_FIELDS = 13

/** What counted messages begin with, up to the market's id. */
const HEADS = {
  update: headOf('update', 'orderbook'),
  snapshot: headOf('snapshot', 'orderbook'),
  depth: headOf('depth', 'depth'),
  trade: headOf('trade', 'trades'),
  whale: headOf('whale', 'whales'),
  lifecycle: headOf('lifecycle', 'lifecycle'),
  candle: headOf('candle', 'candles'),
  price: headOf('price', 'prices'),
}
/** The keys of the frequent messages, as they are written. */
const KEYS = {
  epoch: keyOf('epoch'),
  offset: keyOf('offset'),
  seq: keyOf('seq'),
  timestamp: keyOf('timestamp_ms'),
  received: keyOf('received_ms'),
  published: keyOf('published_ms'),
  checksum: keyOf('checksum'),
  data: keyOf('data'),
  bids: keyOf('bids'),
  asks: keyOf('asks'),
  size: keyOf('size'),
  platform: keyOf('platform'),
}
/** A map of two, which begins with the bids. */
const SIDES = encoded((to) => {
  to.map(2)
  to.text('bids')
})
/** A level up to its price. */
const LEVEL = encoded((to) => {
  to.map(3)
  to.text('price')
})

/** Writes MessagePack. Looks markets' labels up in the catalogue. */
export class MsgpackEncoder implements Encoder {
  readonly form = 'b'
  readonly isBinary = true
  readonly #epoch: string
  readonly #catalog: CatalogView
  readonly #nowMs: () => TimeMs
  readonly #to = new MsgpackWriter()
  /** Of its own, as `resync` may be kept beside a counted message. */
  readonly #rare = new MsgpackWriter()

  constructor(parts: EncoderParts) {
    this.#epoch = parts.epoch
    this.#catalog = parts.catalog
    this.#nowMs = parts.nowMs
  }

  bookUpdate(update: BookUpdate): Uint8Array {
    const { market, changes, checksum } = update
    const to = this.#to
    this.#head(HEADS.update, market, update, checksum === null ? 0 : 1)
    if (checksum !== null) {
      to.bytes(KEYS.checksum)
      to.whole(checksum)
    }
    to.bytes(KEYS.data)
    to.bytes(SIDES)
    let bidCount = 0
    for (const { side } of changes) if (side === 'bid') bidCount += 1
    to.array(bidCount)
    for (const change of changes) if (change.side === 'bid') writeLevel(to, change, market.platform)
    to.bytes(KEYS.asks)
    to.array(changes.length - bidCount)
    for (const change of changes) if (change.side !== 'bid') writeLevel(to, change, market.platform)
    return to.end()
  }

  snapshot(view: MarketView, book: BookView): Uint8Array {
    const to = this.#to
    this.#head(HEADS.snapshot, view.ref, book, 2)
    to.text('stale')
    to.boolean(book.isStale)
    to.bytes(KEYS.checksum)
    to.whole(book.checksum)
    to.bytes(KEYS.data)
    writeBook(to, book, view.ref.platform)
    return to.end()
  }

  depth({ market, levels, book, stamp }: Depth): Uint8Array {
    const to = this.#to
    this.#head(HEADS.depth, market, stamp, 1)
    to.text('stale')
    to.boolean(book.isStale)
    to.bytes(KEYS.data)
    writeBook(to, book, market.platform, levels)
    return to.end()
  }

  resync(channel: ChannelName, market: MarketRef, reason: ResyncReason): Uint8Array {
    return this.#pack({ type: 'resync', channel, market_id: market.id, reason })
  }

  trade(update: TradeUpdate, epoch?: string): Uint8Array {
    const { market, trade } = update
    const to = this.#to
    const outcome = this.#catalog.find(market.id)?.summary.outcomes[trade.outcomeIndex]
    this.#head(HEADS.trade, market, update, 0, epoch)
    to.bytes(KEYS.data)
    to.map(TRADE_FIELDS)
    writeTrade(to, market, trade, outcome?.label ?? null)
    return to.end()
  }

  whale(update: WhaleUpdate, epoch?: string): Uint8Array {
    const { market, whale } = update
    const to = this.#to
    this.#head(HEADS.whale, market, update, 0, epoch)
    to.bytes(KEYS.data)
    to.map(TRADE_FIELDS + 6)
    writeTrade(to, market, whale, whale.outcome)
    to.textField('question', whale.question)
    to.textField('slug', whale.slug)
    to.textField('event_slug', whale.eventSlug)
    to.textField('category', whale.category)
    to.textField('wallet', whale.wallet)
    to.wholeField('fills', whale.fills)
    return to.end()
  }

  lifecycle(update: LifecycleUpdate, epoch?: string): Uint8Array {
    const { market, event, facts, twin } = update
    const to = this.#to
    this.#head(HEADS.lifecycle, market, update, 0, epoch)
    to.bytes(KEYS.data)
    to.map(10)
    to.textField('event', event)
    to.textField('platform', market.platform)
    to.textField('status', facts.status)
    to.textField('question', facts.question)
    to.textField('slug', facts.slug)
    to.textField('event_slug', facts.eventSlug)
    to.text('outcomes')
    to.array(facts.outcomes.length)
    for (const { label } of facts.outcomes) to.text(label)
    to.wholeField('close_time', facts.closeAtMs === null ? null : toSeconds(facts.closeAtMs))
    to.numberField(
      'settlement_price',
      facts.settlementPrice === null ? null : facts.settlementPrice / MICROS,
    )
    to.textField('twin_market_id', twin?.id ?? null)
    return to.end()
  }

  candle({ market, interval, lengthMs, bar, nowMs, stamp }: Candle): Uint8Array {
    const endMs = bar.startMs + lengthMs
    const to = this.#to
    this.#head(HEADS.candle, market, stamp)
    to.bytes(KEYS.data)
    to.map(11)
    to.textField('interval', interval)
    to.wholeField('timestamp_ms', bar.startMs)
    to.wholeField('end_period_ts', endMs / 1000)
    to.numberField('open', bar.open / MICROS)
    to.numberField('high', bar.high / MICROS)
    to.numberField('low', bar.low / MICROS)
    to.numberField('close', bar.close / MICROS)
    to.numberField('volume', bar.usd / MICROS)
    to.wholeField('trades_count', bar.count)
    to.numberField('vwap', vwapOf(bar) / MICROS)
    to.text('closed')
    to.boolean(endMs <= nowMs)
    return to.end()
  }

  priceUpdate(update: PriceUpdate): Uint8Array {
    return this.#price(update.market, update.price, update)
  }

  priceState(market: MarketRef, price: MarketPrice, stamp: Stamp): Uint8Array {
    const { observedAtMs } = price
    const times = { venueTimeMs: observedAtMs, receivedAtMs: observedAtMs }
    const { offset, seq } = stamp
    return this.#price(market, price, { offset, seq, ...times })
  }

  #price(market: MarketRef, { price, bid, ask, source }: MarketPrice, stamp: Dated): Uint8Array {
    const to = this.#to
    this.#head(HEADS.price, market, stamp)
    to.bytes(KEYS.data)
    to.map(7)
    to.numberField('price', price / MICROS)
    to.wholeField('price_cents', priceCents(price))
    to.numberField('best_bid', bid === null ? null : bid / MICROS)
    to.numberField('best_ask', ask === null ? null : ask / MICROS)
    writeSpread(to, bid, ask)
    to.textField('source', source)
    return to.end()
  }

  gap(gap: Gap): Uint8Array {
    return this.#pack(gapMessage(gap))
  }

  status(status: Status): Uint8Array {
    return this.#pack(statusMessage(status))
  }

  heartbeat(beat: Heartbeat): Uint8Array {
    const { timestampMs, counter, offsets } = beat
    const rest = offsets === null ? { catching_up: true } : { offsets }
    return this.#pack({
      type: 'heartbeat',
      timestamp_ms: timestampMs,
      counter,
      epoch: this.#epoch,
      ...rest,
    })
  }

  reply(reply: Reply): Uint8Array {
    return this.#pack(reply)
  }

  forget(_market: MarketNumber): void {}

  /** What every counted message begins with, in the order of the JSON form; `moreFields` stand between
   * it and `data`. */
  #head(
    head: Uint8Array,
    market: MarketRef,
    from: Dated,
    moreFields = 0,
    epoch = this.#epoch,
  ): void {
    const to = this.#to
    to.begin()
    to.map(COUNTED_FIELDS + moreFields)
    to.bytes(head)
    to.text(market.id)
    to.bytes(KEYS.epoch)
    to.text(epoch)
    to.bytes(KEYS.offset)
    to.whole(from.offset)
    to.bytes(KEYS.seq)
    to.whole(from.seq)
    to.bytes(KEYS.timestamp)
    to.wholeOrNil(from.venueTimeMs)
    to.bytes(KEYS.received)
    to.wholeOrNil(from.receivedAtMs)
    to.bytes(KEYS.published)
    to.whole(this.#nowMs())
  }

  /** When the message is written, which every message says, stands last. */
  #pack(message: object): Uint8Array {
    this.#rare.begin()
    writeValue(this.#rare, { ...message, published_ms: this.#nowMs() })
    return this.#rare.end()
  }
}

function keyOf(name: string): Uint8Array {
  return encoded((to) => to.text(name))
}

function headOf(type: string, channel: ChannelName): Uint8Array {
  return encoded((to) => {
    for (const text of ['type', type, 'channel', channel, 'market_id']) to.text(text)
  })
}

function writeLevel(to: MsgpackWriter, { price, size }: Level, platform: string): void {
  to.bytes(LEVEL)
  to.number(price / MICROS)
  to.bytes(KEYS.size)
  to.number(size / MICROS)
  to.bytes(KEYS.platform)
  to.text(platform)
}

/** At most `depth` levels of each side, with spread and middle. */
function writeBook(
  to: MsgpackWriter,
  { bids, asks }: Pick<BookView, 'bids' | 'asks'>,
  platform: string,
  depth?: number,
): void {
  to.map(4)
  to.bytes(KEYS.bids)
  writeLevels(to, bids, platform, depth)
  to.bytes(KEYS.asks)
  writeLevels(to, asks, platform, depth)
  writeSpread(to, bids[0]?.price ?? null, asks[0]?.price ?? null)
}

function writeLevels(
  to: MsgpackWriter,
  levels: readonly Level[],
  platform: string,
  depth = levels.length,
): void {
  const count = Math.min(depth, levels.length)
  to.array(count)
  for (let index = 0; index < count; index += 1) {
    const level = levels[index]
    if (level !== undefined) writeLevel(to, level, platform)
  }
}

/** The {@link TRADE_FIELDS} of a trade. */
function writeTrade(
  to: MsgpackWriter,
  market: MarketRef,
  trade: Trade,
  outcome: string | null,
): void {
  to.textField('id', trade.nativeId)
  to.textField('market_id', market.id)
  to.textField('platform', market.platform)
  to.numberField('price', trade.price / MICROS)
  to.numberField('size', trade.size / MICROS)
  to.textField('side', trade.side)
  to.textField('outcome', outcome)
  to.numberField('size_usd', trade.usd / MICROS)
  to.wholeField('timestamp_ms', trade.timeMs)
  to.textField('native_trade_id', trade.nativeId)
  to.textField('maker', trade.maker)
  to.textField('taker', trade.taker)
  to.textField('tx_hash', trade.txHash)
}

/** The two fields `spread` and `mid_price`; nil where a side is empty. */
function writeSpread(to: MsgpackWriter, bid: PriceMicros | null, ask: PriceMicros | null): void {
  const isWhole = bid !== null && ask !== null
  to.numberField('spread', isWhole ? (ask - bid) / MICROS : null)
  to.numberField('mid_price', isWhole ? midPrice(bid, ask) / MICROS : null)
}

/** Whatever JSON can carry: whole numbers as integers, fields that are undefined left out. */
function writeValue(to: MsgpackWriter, value: unknown): void {
  if (typeof value === 'string') to.text(value)
  else if (typeof value === 'number') to.whole(value)
  else if (typeof value === 'boolean') to.boolean(value)
  else if (Array.isArray(value)) {
    to.array(value.length)
    for (const item of value) writeValue(to, item)
  } else if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, item]) => item !== undefined)
    to.map(fields.length)
    for (const [name, item] of fields) {
      to.text(name)
      writeValue(to, item)
    }
  } else to.nil()
}
