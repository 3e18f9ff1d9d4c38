import type { MarketView } from '../../actors/views.ts'
import { MICROS, type PriceMicros, type TimeMs } from '../../engine/units.ts'
import { marketTexts, outcomePrice } from './render.ts'

/** The Price record of one of the market's outcomes. */
function priceRecord(
  view: MarketView,
  outcomeIndex: number,
  at: { price: PriceMicros; atSeconds: number; timeMs: number; source: string },
): string {
  const { id, platform, labels } = marketTexts(view)
  const price = outcomePrice(at.price, outcomeIndex) / MICROS
  const market = `"market_id":${id},"outcome":${labels[outcomeIndex] ?? '""'},"platform":${platform}`
  const times = `"at_time":${at.atSeconds},"timestamp_ms":${at.timeMs}`
  return `{${market},"price":${price},${times},"source":"${at.source}"}`
}

export function currentPrice(view: MarketView, nowMs: number, outcomeIndex = 0): string {
  const { price, observedAtMs, source } = view.price()
  // Rounded up, so that the current price is never observed after its own `at_time`.
  const atSeconds = Math.ceil(nowMs / 1000)
  const timeMs = Math.min(observedAtMs, atSeconds * 1000)
  return priceRecord(view, outcomeIndex, { price, atSeconds, timeMs, source })
}

export function pastPrice(
  view: MarketView,
  outcomeIndex: number,
  { price, timeMs, atSeconds }: { price: PriceMicros; timeMs: TimeMs; atSeconds: number },
): string {
  return priceRecord(view, outcomeIndex, { price, atSeconds, timeMs, source: 'history' })
}
