import type { MarketView } from '../../actors/views.ts'
import { MICROS, type PriceMicros } from '../../engine/units.ts'
import { outcomePrice } from './render.ts'

/** The Price record of one of the market's outcomes, of now. */
export function currentPrice(view: MarketView, nowMs: number, outcomeIndex = 0) {
  const { price, observedAtMs, source } = view.price()
  // Rounded up, so that the current price is never observed after its own `at_time`.
  const atSeconds = Math.ceil(nowMs / 1000)
  const timeMs = Math.min(observedAtMs, atSeconds * 1000)
  return priceRecord(view, outcomeIndex, { price, atSeconds, timeMs, source })
}

export function priceRecord(
  { ref, summary }: MarketView,
  outcomeIndex: number,
  at: { price: PriceMicros; atSeconds: number; timeMs: number; source: string },
) {
  return {
    market_id: ref.id,
    outcome: summary.outcomes[outcomeIndex]?.label ?? '',
    platform: ref.platform,
    price: outcomePrice(at.price, outcomeIndex) / MICROS,
    at_time: at.atSeconds,
    timestamp_ms: at.timeMs,
    source: at.source,
  }
}
