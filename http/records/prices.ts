import type { MarketView } from '../../actors/views.ts'
import { MICROS, type PriceMicros } from '../../engine/units.ts'
import { outcomePrice, quoted } from './render.ts'

/** The Price record of one of the market's outcomes, of now. */
export function currentPrice(view: MarketView, nowMs: number, outcomeIndex = 0): string {
  const { price, observedAtMs, source } = view.price()
  // Rounded up, so that the current price is never observed after its own `at_time`.
  const atSeconds = Math.ceil(nowMs / 1000)
  const timeMs = Math.min(observedAtMs, atSeconds * 1000)
  return priceRecord(view, outcomeIndex, { price, atSeconds, timeMs, source })
}

/** As text: writing an object takes several times as long. */
export function priceRecord(
  { ref, summary }: MarketView,
  outcomeIndex: number,
  at: { price: PriceMicros; atSeconds: number; timeMs: number; source: string },
): string {
  const outcome = quoted(summary.outcomes[outcomeIndex]?.label ?? '')
  const market = `"market_id":${quoted(ref.id)},"outcome":${outcome},"platform":${quoted(ref.platform)}`
  const price = outcomePrice(at.price, outcomeIndex) / MICROS
  const times = `"at_time":${at.atSeconds},"timestamp_ms":${at.timeMs}`
  return `{${market},"price":${price},${times},"source":"${at.source}"}`
}
