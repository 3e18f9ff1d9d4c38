// Writes stream messages as JSON text by concatenation, without temporary objects. The quoted texts of a market are
// cached.

import type { CatalogView } from '../../../actors/views.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import { type MarketTexts, marketTexts } from '../../records/render.ts'
import type { ChannelName } from '../fan-out/channel-variants.ts'
import * as forms from './encoder.ts'

/** A market's texts, and the part of its messages between channel and epoch. */
interface Heads {
  readonly market: MarketTexts
  /** `"market_id":…,"epoch":` */
  readonly named: string
}

/** The last three digits of a time. */
const THOUSANDTHS = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(3, '0'))

/** Writes JSON. Caches the texts of each market it has written; bounded by the catalogue. */
export class JsonEncoder implements forms.Encoder {
  readonly form = 'j'
  readonly isBinary = false
  readonly #epoch: string
  readonly #catalog: CatalogView
  readonly #nowMs: () => TimeMs
  readonly #heads = new Map<MarketNumber, Heads>()
  /** The second of the last written time, which the next time probably shares. */
  #second = 1
  #secondText = '1'

  constructor(parts: forms.EncoderParts) {
    this.#epoch = JSON.stringify(parts.epoch)
    this.#catalog = parts.catalog
    this.#nowMs = parts.nowMs
  }

  message<Content>(
    kind: forms.MessageKind<Content>,
    market: MarketRef,
    stamp: forms.Dated,
    content: Content,
    epoch?: string,
  ): string {
    const heads = this.#headsOf(market)
    const head = this.#head(kind.jsonHead, heads, stamp, epoch)
    return kind.json(head, content, heads.market)
  }

  resync(channel: ChannelName, market: MarketRef, reason: forms.ResyncReason): string {
    const { id } = this.#headsOf(market).market
    return `{"type":"resync","channel":"${channel}","market_id":${id},"reason":"${reason}",${this.#published()}}`
  }

  gap(gap: forms.Gap): string {
    return this.reply(forms.gapMessage(gap))
  }

  status(status: forms.Status): string {
    return this.reply(forms.statusMessage(status))
  }

  heartbeat(beat: forms.Heartbeat): string {
    const { timestampMs, counter, offsets } = beat
    const rest = offsets === null ? '"catching_up":true' : `"offsets":${JSON.stringify(offsets)}`
    return `{"type":"heartbeat","timestamp_ms":${timestampMs},"counter":${counter},"epoch":${this.#epoch},${rest},${this.#published()}}`
  }

  reply(reply: forms.Reply): string {
    return JSON.stringify({ ...reply, published_ms: this.#nowMs() })
  }

  removeMarket(market: MarketNumber): void {
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

  /** The head of every counted message. `epoch`: only if it differs from this run's. */
  #head(begin: string, { named }: Heads, stamp: forms.Dated, epoch?: string): string {
    const quoted = epoch === undefined ? this.#epoch : JSON.stringify(epoch)
    return `${begin}${named}${quoted},"offset":${stamp.offset},"seq":${stamp.seq},"timestamp_ms":${this.#timeText(stamp.venueTimeMs)},"received_ms":${this.#timeText(stamp.receivedAtMs)},${this.#published()}`
  }

  /** The time of writing, included in every message. */
  #published(): string {
    return `"published_ms":${this.#timeText(this.#nowMs())}`
  }

  /** A time's digits. The digits of its second are cached, since formatting such a long number takes 100 ns. */
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
