// Messages of the stream as JSON text, written by concatenation: no object is made to be thrown away,
// and every quoted text of a market is made once (bench/encode.bench.ts holds it against
// JSON.stringify). Upholds HUB1 to HUB4.

import type { BookView, CatalogView, MarketView } from '../../../actors/views.ts'
import type {
  BookUpdate,
  LifecycleUpdate,
  MarketPrice,
  PriceUpdate,
  Stamp,
  TradeUpdate,
  WhaleUpdate,
} from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import {
  candleText,
  levelsText,
  levelText,
  lifecycleText,
  type MarketTexts,
  marketTexts,
  priceText,
  spreadText,
  tradeText,
  whaleText,
} from '../../records/render.ts'
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

/** A market's texts, and what stands in its messages between channel and epoch. */
interface Heads {
  readonly market: MarketTexts
  /** `"market_id":…,"epoch":` */
  readonly named: string
}

/** The last three digits of a time. */
const THOUSANDTHS = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(3, '0'))

/** Writes JSON. Remembers the texts of each market it has written of: bounded by the catalogue. */
export class JsonEncoder implements Encoder {
  readonly form = 'j'
  readonly isBinary = false
  readonly #epoch: string
  readonly #catalog: CatalogView
  readonly #nowMs: () => TimeMs
  readonly #heads = new Map<MarketNumber, Heads>()
  /** The second of the newest time that was written, which the next one most likely shares. */
  #second = 1
  #secondText = '1'

  constructor(parts: EncoderParts) {
    this.#epoch = JSON.stringify(parts.epoch)
    this.#catalog = parts.catalog
    this.#nowMs = parts.nowMs
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
    return `{"type":"update","channel":"orderbook",${this.#head(heads, update)}${checksum},"data":{"bids":[${bids}],"asks":[${asks}]}}`
  }

  snapshot(view: MarketView, book: BookView): string {
    const heads = this.#headsOf(view.ref)
    const { platform } = heads.market
    return `{"type":"snapshot","channel":"orderbook",${this.#head(heads, book)},"stale":${book.isStale},"checksum":${book.checksum},"data":${bookText(book, platform)}}`
  }

  depth({ market, levels, book, stamp }: Depth): string {
    const heads = this.#headsOf(market)
    const data = bookText(book, heads.market.platform, levels)
    return `{"type":"depth","channel":"depth",${this.#head(heads, stamp)},"stale":${book.isStale},"data":${data}}`
  }

  resync(channel: ChannelName, market: MarketRef, reason: ResyncReason): string {
    const { id } = this.#headsOf(market).market
    return `{"type":"resync","channel":"${channel}","market_id":${id},"reason":"${reason}",${this.#published()}}`
  }

  trade(update: TradeUpdate, epoch?: string): string {
    const heads = this.#headsOf(update.market)
    const data = tradeText(update.trade, heads.market)
    return `{"type":"trade","channel":"trades",${this.#head(heads, update, epoch)},"data":${data}}`
  }

  whale(update: WhaleUpdate, epoch?: string): string {
    const heads = this.#headsOf(update.market)
    const data = whaleText(update.whale, heads.market)
    return `{"type":"whale","channel":"whales",${this.#head(heads, update, epoch)},"data":${data}}`
  }

  lifecycle(update: LifecycleUpdate, epoch?: string): string {
    const head = this.#head(this.#headsOf(update.market), update, epoch)
    const data = lifecycleText(update)
    return `{"type":"lifecycle","channel":"lifecycle",${head},"data":${data}}`
  }

  candle({ market, interval, lengthMs, bar, nowMs, stamp }: Candle): string {
    const head = this.#head(this.#headsOf(market), stamp)
    const data = `{"interval":"${interval}",${candleText(bar, lengthMs, nowMs).slice(1)}`
    return `{"type":"candle","channel":"candles",${head},"data":${data}}`
  }

  priceUpdate(update: PriceUpdate): string {
    return this.#price(update.market, update.price, update)
  }

  priceState(market: MarketRef, price: MarketPrice, { offset, seq }: Stamp): string {
    const { observedAtMs } = price
    const times = { venueTimeMs: observedAtMs, receivedAtMs: observedAtMs }
    return this.#price(market, price, { offset, seq, ...times })
  }

  #price(market: MarketRef, price: MarketPrice, stamp: Dated): string {
    const head = this.#head(this.#headsOf(market), stamp)
    return `{"type":"price","channel":"prices",${head},"data":${priceText(price)}}`
  }

  gap(gap: Gap): string {
    return JSON.stringify({ ...gapMessage(gap), published_ms: this.#nowMs() })
  }

  status(status: Status): string {
    return JSON.stringify({ ...statusMessage(status), published_ms: this.#nowMs() })
  }

  heartbeat(beat: Heartbeat): string {
    const { timestampMs, counter, offsets } = beat
    const rest = offsets === null ? '"catching_up":true' : `"offsets":${JSON.stringify(offsets)}`
    return `{"type":"heartbeat","timestamp_ms":${timestampMs},"counter":${counter},"epoch":${this.#epoch},${rest},${this.#published()}}`
  }

  reply(reply: Reply): string {
    return JSON.stringify({ ...reply, published_ms: this.#nowMs() })
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
    const heads = { market, named: `"market_id":${id},"epoch":` }
    if (view !== null) this.#heads.set(ref.number, heads)
    return heads
  }

  /** What stands in every counted message behind its channel; `epoch` unless it is this run's. */
  #head({ named }: Heads, stamp: Dated, epoch?: string): string {
    const quoted = epoch === undefined ? this.#epoch : JSON.stringify(epoch)
    return `${named}${quoted},"offset":${stamp.offset},"seq":${stamp.seq},"timestamp_ms":${this.#timeText(stamp.venueTimeMs)},"received_ms":${this.#timeText(stamp.receivedAtMs)},${this.#published()}`
  }

  /** When the message is written, which every message says. */
  #published(): string {
    return `"published_ms":${this.#timeText(this.#nowMs())}`
  }

  /** A time's digits: those of its second are made once, as the digits of a number so long cost 100 ns. */
  #timeText(timeMs: TimeMs | null): string {
    if (timeMs === null) return 'null'
    const second = Math.floor(timeMs / 1_000)
    if (second < 1) return String(timeMs)
    if (second !== this.#second) {
      this.#second = second
      this.#secondText = String(second)
    }
    return `${this.#secondText}${THOUSANDTHS[timeMs - second * 1_000]}`
  }
}

/** At most `levels` of each side, with spread and middle, as JSON text. */
function bookText(
  { bids, asks }: Pick<BookView, 'bids' | 'asks'>,
  platform: string,
  levels?: number,
): string {
  const spread = spreadText(bids[0]?.price ?? null, asks[0]?.price ?? null)
  return `{"bids":${levelsText(bids, platform, levels)},"asks":${levelsText(asks, platform, levels)},${spread}}`
}
