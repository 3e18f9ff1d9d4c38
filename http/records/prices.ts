// Writes the Price record as JSON text. The current price is split at its live values, so that the rest can be cached
// (market-answer-cache.ts).

import type { MarketView, PricePoint } from '../../actors/views.ts'
import { MICROS } from '../../engine/units.ts'
import { marketTexts, outcomePrice } from './render.ts'

/** A current price, split at `at_time` and `timestamp_ms`. */
export interface PriceTemplate {
  readonly head: string
  readonly observedAtMs: number
  readonly tail: string
}

/** The market's current price, quoted for one of its outcomes. */
export function priceTemplate(view: MarketView, outcomeIndex = 0): PriceTemplate {
  const { price, observedAtMs, source } = view.price()
  const head = headText(view, outcomeIndex, outcomePrice(price, outcomeIndex))
  return { head, observedAtMs, tail: `,"source":"${source}"}` }
}

/** The record at `nowMs`. */
export function fillPrice({ head, observedAtMs, tail }: PriceTemplate, nowMs: number): string {
  // Rounded up, so that the current price is never observed after its own `at_time`.
  const atSeconds = Math.ceil(nowMs / 1000)
  const shownMs = Math.min(observedAtMs, atSeconds * 1000)
  return `${head}${atSeconds},"timestamp_ms":${shownMs}${tail}`
}

/** The record of a past price. */
export function pastPriceText(
  view: MarketView,
  outcomeIndex: number,
  past: { readonly point: PricePoint; readonly atSeconds: number },
): string {
  const { point, atSeconds } = past
  const head = headText(view, outcomeIndex, outcomePrice(point.price, outcomeIndex))
  return `${head}${atSeconds},"timestamp_ms":${point.timeMs},"source":"history"}`
}

function headText(view: MarketView, outcomeIndex: number, price: number): string {
  const { id, platform, labels } = marketTexts(view)
  const outcome = labels[outcomeIndex] ?? '""'
  return `{"market_id":${id},"outcome":${outcome},"platform":${platform},"price":${price / MICROS},"at_time":`
}
