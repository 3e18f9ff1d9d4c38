// What a webhook is told of an event, as bytes: the records of REST and stream, so that all three say
// the same. At most 20 KB, whatever a venue wrote: a market's description goes first, then long texts
// are cut. Not for: who is told, signatures, sending (actors/). Upholds HOOKBODY1 to HOOKBODY4.

import type { CatalogView, MarketView, MatchesView } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import type { LifecycleUpdate, PriceUpdate, TradeUpdate, WhaleUpdate } from '../../engine/events.ts'
import type { MarketRef } from '../../engine/market/market.ts'
import { formatTime, MICROS, type PriceMicros, type TimeMs, timeMs } from '../../engine/units.ts'
import type { WebhookBodies } from '../../engine/webhooks/bodies.ts'
import type { WebhookEventType } from '../../engine/webhooks/webhook.ts'
import { MarketRecords } from '../records/markets.ts'
import {
  lifecycleText,
  type MarketTexts,
  marketTexts,
  priceText,
  tradeText,
  whaleText,
} from '../records/render.ts'

/** Standard Webhooks recommends less than 20 KB. */
const BODY_BYTES_MAX = 20_000
/** Of one text when a body is too long; half as much each time it still is. */
const TEXT_CHARACTERS_FIRST = 1_024

interface BodyParts {
  readonly catalog: CatalogView
  readonly matches: Pick<MatchesView, 'twinOf'>
  readonly clock: Clock
}

/** Writes the bodies. */
export class EventBodies implements WebhookBodies {
  readonly #catalog: CatalogView
  readonly #clock: Clock
  readonly #records: MarketRecords

  constructor({ catalog, matches, clock }: BodyParts) {
    this.#catalog = catalog
    this.#clock = clock
    this.#records = new MarketRecords(matches)
  }

  tradeCreated({ market, trade }: TradeUpdate): Uint8Array {
    return bytesOf('trade.created', trade.timeMs, tradeText(trade, this.#textsOf(market)))
  }

  whaleAlert({ market, whale }: Pick<WhaleUpdate, 'market' | 'whale'>): Uint8Array {
    return bytesOf('whale.alert', whale.timeMs, whaleText(whale, this.#textsOf(market)))
  }

  priceChanged({ market, price, venueTimeMs }: PriceUpdate, base: PriceMicros): Uint8Array {
    const summary = this.#catalog.byNumber(market.number)?.summary
    const facts = JSON.stringify({
      market_id: market.id,
      platform: market.platform,
      question: summary?.question ?? '',
      slug: summary?.slug ?? '',
      event_slug: summary?.eventSlug ?? null,
      outcome: summary?.outcomes[0]?.label ?? '',
      previous_price: base / MICROS,
      change: (price.price - base) / MICROS,
      timestamp_ms: venueTimeMs,
    })
    const data = `${facts.slice(0, -1)},${priceText(price).slice(1)}`
    return bytesOf('price.changed', venueTimeMs, data)
  }

  marketResolved(update: LifecycleUpdate): Uint8Array {
    const id = JSON.stringify(update.market.id)
    const data = `{"market_id":${id},${lifecycleText(update).slice(1)}`
    return bytesOf('market.resolved', update.venueTimeMs, data)
  }

  matchCreated({ market, twin, venueTimeMs }: LifecycleUpdate): Uint8Array {
    const { names } = this.#catalog
    const nowMs = this.#clock.nowMs()
    const fields = (['a', 'b'] as const).map((venue) => {
      const side = market.venue === venue ? market : twin
      const view = side?.venue === venue ? this.#catalog.byNumber(side.number) : null
      const record = view === null ? 'null' : this.#records.text(view, nowMs)
      return `${JSON.stringify(names.platform(venue))}:${record}`
    })
    return bytesOf('match.created', venueTimeMs, `{${fields.join(',')}}`)
  }

  test({ webhook, timeMs: time }: Parameters<WebhookBodies['test']>[0]): Uint8Array {
    const message = 'This is a test: the webhook works.'
    return bytesOf('webhook.test', time, JSON.stringify({ webhook_id: webhook, message }))
  }

  #textsOf(ref: MarketRef): MarketTexts {
    const view = this.#catalog.byNumber(ref.number)
    return view === null ? textsWithout(ref) : marketTexts(view)
  }
}

/** Of a market that the catalogue has just forgotten. */
function textsWithout({ id, platform }: Pick<MarketView['ref'], 'id' | 'platform'>): MarketTexts {
  return { id: JSON.stringify(id), platform: JSON.stringify(platform), labels: [] }
}

/** Of every time there is, also of those that a date cannot hold. */
function isoTime(time: TimeMs): string {
  return formatTime(timeMs(Math.max(-DATE_MS_MAX, Math.min(DATE_MS_MAX, time))))
}

/** ECMA-262, section 21.4.1.1: a hundred million days. */
const DATE_MS_MAX = 8_640_000_000_000_000

function bytesOf(type: WebhookEventType, time: TimeMs, data: string): Uint8Array {
  const head = `{"type":"${type}","timestamp":"${isoTime(time)}","data":`
  const bytes = Buffer.from(`${head}${data}}`)
  if (bytes.length <= BODY_BYTES_MAX) return bytes
  const value: unknown = JSON.parse(data)
  for (let most = TEXT_CHARACTERS_FIRST; ; most = Math.floor(most / 2)) {
    const text = JSON.stringify(value, (name, part) => shortened(name, part, most))
    const cut = Buffer.from(`${head}${text}}`)
    if (cut.length <= BODY_BYTES_MAX || most <= OUTCOMES_MIN) return cut
  }
}

/** What names something would name something else, or nothing, when it is cut. */
const WHOLE = /^(?:id|\w+_id|platform|maker|taker|wallet|tx_hash|slug|event_slug)$/
/** Useless in parts. */
const WHOLE_OR_NONE = /^(?:url|image)$/
/** Lists are cut as well, but a market has two outcomes at least. */
const OUTCOMES_MIN = 2

function shortened(name: string, part: unknown, most: number): unknown {
  if (name === 'description') return null
  if (Array.isArray(part)) return part.slice(0, most)
  if (typeof part !== 'string' || part.length <= most || WHOLE.test(name)) return part
  if (WHOLE_OR_NONE.test(name)) return null
  // Whole characters only.
  return `${part.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`
}
