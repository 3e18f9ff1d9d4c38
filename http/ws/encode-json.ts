// Messages of the stream as JSON text, written by concatenation: no object is made to be thrown away,
// and every quoted text of a market is made once (bench/encode.bench.ts holds it against
// JSON.stringify). Upholds HUB1 to HUB4.

import type { BookView, CatalogView, MarketView } from '../../actors/views.ts'
import type {
  BookUpdate,
  FeedState,
  MarketPrice,
  PriceUpdate,
  Stamp,
  TradeUpdate,
} from '../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../engine/market.ts'
import {
  levelsText,
  levelText,
  type MarketTexts,
  marketTexts,
  priceText,
  spreadText,
  tradeText,
} from '../render.ts'
import type { ChannelName } from './channels.ts'
import type { Encoder, Gap, Heartbeat, Reply, ResyncReason } from './encoder.ts'

/** A market's texts and the heads of its messages, up to the number of `offset`. */
interface Heads {
  readonly market: MarketTexts
  readonly update: string
  readonly snapshot: string
  readonly trade: string
  readonly price: string
}

/** Writes JSON. Remembers the texts of each market it has written of: bounded by the catalogue. */
export class JsonEncoder implements Encoder {
  readonly form = 'j'
  readonly isBinary = false
  readonly #epoch: string
  readonly #catalog: CatalogView
  readonly #heads = new Map<MarketNumber, Heads>()

  constructor(parts: { epoch: string; catalog: CatalogView }) {
    this.#epoch = JSON.stringify(parts.epoch)
    this.#catalog = parts.catalog
  }

  bookUpdate(update: BookUpdate): string {
    const heads = this.#headsOf(update.market)
    const { platform } = heads.market
    let bids = ''
    let asks = ''
    for (const { side, price, size } of update.changes) {
      const level = levelText(price, size, platform)
      if (side === 'bid') bids = bids === '' ? level : `${bids},${level}`
      else asks = asks === '' ? level : `${asks},${level}`
    }
    const checksum = update.checksum === null ? '' : `,"checksum":${update.checksum}`
    return `${heads.update}${update.offset},"seq":${update.seq},"timestamp_ms":${update.venueTimeMs},"received_ms":${update.receivedAtMs}${checksum},"data":{"bids":[${bids}],"asks":[${asks}]}}`
  }

  snapshot(view: MarketView, book: BookView): string {
    const heads = this.#headsOf(view.ref)
    const { platform } = heads.market
    const spread = spreadText(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null)
    return `${heads.snapshot}${book.offset},"seq":${book.seq},"timestamp_ms":${book.venueTimeMs},"received_ms":${book.receivedAtMs},"stale":${book.isStale},"checksum":${book.checksum},"data":{"bids":${levelsText(book.bids, platform)},"asks":${levelsText(book.asks, platform)},${spread}}}`
  }

  resync(channel: ChannelName, market: MarketRef, reason: ResyncReason): string {
    const { id } = this.#headsOf(market).market
    return `{"type":"resync","channel":"${channel}","market_id":${id},"reason":"${reason}"}`
  }

  trade(update: TradeUpdate): string {
    const heads = this.#headsOf(update.market)
    return `${heads.trade}${update.offset},"seq":${update.seq},"timestamp_ms":${update.venueTimeMs},"received_ms":${update.receivedAtMs},"data":${tradeText(update.trade, heads.market)}}`
  }

  priceUpdate(update: PriceUpdate): string {
    const head = this.#headsOf(update.market).price
    return `${head}${update.offset},"seq":${update.seq},"timestamp_ms":${update.venueTimeMs},"received_ms":${update.receivedAtMs},"data":${priceText(update.price)}}`
  }

  priceState(market: MarketRef, price: MarketPrice, stamp: Stamp): string {
    const head = this.#headsOf(market).price
    return `${head}${stamp.offset},"seq":${stamp.seq},"timestamp_ms":${price.observedAtMs},"received_ms":${price.observedAtMs},"data":${priceText(price)}}`
  }

  gap(gap: Gap): string {
    const { channel, where, fromMs, toMs } = gap
    const named = 'marketId' in where ? { market_id: where.marketId } : where
    return JSON.stringify({ type: 'gap', channel, ...named, from_ms: fromMs, to_ms: toMs })
  }

  status(status: { platform: string; state: FeedState; lagMs: number | null }): string {
    const { platform, state, lagMs } = status
    return JSON.stringify({ type: 'status', platform, state, lag_ms: lagMs })
  }

  heartbeat(beat: Heartbeat): string {
    const { timestampMs, counter, offsets } = beat
    const rest = offsets === null ? '"catching_up":true' : `"offsets":${JSON.stringify(offsets)}`
    return `{"type":"heartbeat","timestamp_ms":${timestampMs},"counter":${counter},"epoch":${this.#epoch},${rest}}`
  }

  reply(reply: Reply): string {
    return JSON.stringify(reply)
  }

  forget(market: MarketNumber): void {
    this.#heads.delete(market)
  }

  #headsOf(ref: MarketRef): Heads {
    return this.#heads.get(ref.number) ?? this.#makeHeads(ref)
  }

  #makeHeads(ref: MarketRef): Heads {
    const view = this.#catalog.find(ref.id)
    const id = JSON.stringify(ref.id)
    const market =
      view === null ? { id, platform: JSON.stringify(ref.platform), labels: [] } : marketTexts(view)
    const head = (type: string, channel: ChannelName): string =>
      `{"type":"${type}","channel":"${channel}","market_id":${id},"epoch":${this.#epoch},"offset":`
    const heads = {
      market,
      update: head('update', 'orderbook'),
      snapshot: head('snapshot', 'orderbook'),
      trade: head('trade', 'trades'),
      price: head('price', 'prices'),
    }
    if (view !== null) this.#heads.set(ref.number, heads)
    return heads
  }
}
