// Books, trades and prices are written directly as text, since they are the most frequent data.

import type { MarketView } from '../../actors/views.ts'
import type {
  Level,
  LifecycleUpdate,
  MarketPrice,
  StaleReason,
  Trade,
  TradeSide,
  Whale,
} from '../../engine/events.ts'
import { type Bar, vwapOf } from '../../engine/market/candle.ts'
import { type FeeCurve, type FeeModel, feesAt, type MarketFees } from '../../engine/market/fees.ts'
import type { MarketFacts } from '../../engine/market/market.ts'
import { takerPrice, takerSide } from '../../engine/market/taker.ts'
import {
  complement,
  MICROS,
  midPrice,
  type PriceMicros,
  priceCents,
  toSeconds,
} from '../../engine/units.ts'

/** The first outcome's price, or its complement for the second outcome. */
export function outcomePrice(first: PriceMicros, outcomeIndex: number): PriceMicros {
  return outcomeIndex === 0 ? first : complement(first)
}

/** `platform` must be quoted. */
export function levelsText(
  levels: readonly Level[],
  platform: string,
  depth = levels.length,
): string {
  let text = '['
  const count = Math.min(depth, levels.length)
  for (let index = 0; index < count; index += 1) {
    const level = levels[index]
    if (level === undefined) break
    if (index > 0) text += ','
    text += levelText(level.price, level.size, platform)
  }
  return `${text}]`
}

export function levelText(price: number, size: number, platform: string): string {
  return `{"price":${unitText(price)},"size":${unitText(size)},"platform":${platform}}`
}

/** Texts '', '.001' to '.999' of 0 to 999 thousandths. */
const THOUSANDTHS = Array.from({ length: 1_000 }, (_, count) => String(count / 1_000).slice(1))
/** Above this value a double does not have six exact fractional digits. */
const EXACT_MICROS_MAX = 1e15

/**
 * Equals `JSON.stringify(micros / 1e6)`. Most prices are multiples of a thousandth, and writing two integers is several
 * times faster than writing a double.
 */
export function unitText(micros: number): string {
  const units = Math.floor(micros / MICROS)
  const rest = (micros - units * MICROS) / 1_000
  const fraction = THOUSANDTHS[rest]
  const isQuick = fraction !== undefined && micros >= 0 && micros < EXACT_MICROS_MAX
  return isQuick ? units + fraction : String(micros / MICROS)
}

/** `"spread":…,"mid_price":…`. Both are null if a side is empty. */
export function spreadText(bid: PriceMicros | null, ask: PriceMicros | null): string {
  if (bid === null || ask === null) return '"spread":null,"mid_price":null'
  return `"spread":${unitText(ask - bid)},"mid_price":${unitText(midPrice(bid, ask))}`
}

/** `"stale":…,"stale_reason":…` of a book. Null: the book is live. */
export function staleText(reason: StaleReason | null): string {
  return reason === null
    ? '"stale":false,"stale_reason":null'
    : `"stale":true,"stale_reason":"${reason}"`
}

/** A market's fields in a trade record, as quoted texts. */
export interface MarketTexts {
  readonly id: string
  readonly platform: string
  readonly labels: readonly string[]
}

export function marketTexts(view: Pick<MarketView, 'ref' | 'summary'>): MarketTexts {
  return {
    id: JSON.stringify(view.ref.id),
    platform: JSON.stringify(view.ref.platform),
    labels: view.summary.outcomes.map(({ label }) => JSON.stringify(label)),
  }
}

export function tradeText(trade: Trade, market: MarketTexts): string {
  const outcome = market.labels[trade.outcomeIndex] ?? 'null'
  return `{${tradeFields(trade, market, outcome)},${takerFields(trade, outcome)}}`
}

export function whaleText(whale: Whale, market: MarketTexts): string {
  const { question, slug, eventSlug, category, wallet, fills } = whale
  // Use the stored label, since the market's label may have changed later.
  const outcome = JSON.stringify(whale.outcome)
  const rest = JSON.stringify({ question, slug, event_slug: eventSlug, category, wallet, fills })
  return `{${tradeFields(whale, market, outcome)},${rest.slice(1, -1)},${takerFields(whale, outcome)}}`
}

/** `outcome` must be quoted. */
function tradeFields(trade: Trade, market: MarketTexts, outcome: string): string {
  const id = quoted(trade.nativeId)
  return `"id":${id},"market_id":${market.id},"platform":${market.platform},"price":${unitText(
    trade.price,
  )},"size":${unitText(trade.size)},"side":"${trade.side satisfies TradeSide}","outcome":${outcome},"size_usd":${unitText(
    trade.usd,
  )},"timestamp_ms":${trade.timeMs},"native_trade_id":${id},"maker":${quoted(trade.maker)},"taker":${quoted(
    trade.taker,
  )},"tx_hash":${quoted(trade.txHash)},"is_block_trade":${trade.isBlock}`
}

/** The trade from the taker's view, for the outcome that the taker traded. `outcome` must be quoted. */
function takerFields(trade: Trade, outcome: string): string {
  return `"taker_outcome":${outcome},"taker_side":"${takerSide(trade)}","taker_price":${unitText(takerPrice(trade))}`
}

/** The result as the venue reports it. Omits the payout before the market is resolved, since it may still change. */
export function resolutionFields({
  status,
  resolutionStatus,
  settlementPrice,
}: Pick<MarketFacts, 'status' | 'resolutionStatus' | 'settlementPrice'>) {
  const isFinal = status === 'resolved'
  return {
    resolution_status: isFinal ? 'resolved' : resolutionStatus,
    settlement_price: isFinal && settlementPrice !== null ? settlementPrice / MICROS : null,
  }
}

/** A lifecycle event with the market's state after the event. */
export function lifecycleRecord({
  market,
  event,
  facts,
  matchedMarket,
  receivedAtMs,
}: Pick<LifecycleUpdate, 'market' | 'event' | 'facts' | 'matchedMarket' | 'receivedAtMs'>) {
  return {
    event,
    platform: market.platform,
    status: facts.status,
    ...resolutionFields(facts),
    question: facts.question,
    slug: facts.slug,
    event_slug: facts.eventSlug,
    outcomes: facts.outcomes.map(({ label }) => label),
    close_time: facts.closeAtMs === null ? null : toSeconds(facts.closeAtMs),
    twin_market_id: matchedMarket?.id ?? null,
    fees: feesRecord(facts.fees, receivedAtMs),
  }
}

/** At most `depth` levels per side. */
export function snapshotText(
  snapshot: ReturnType<MarketView['snapshots']>[number],
  { id, platform, labels }: MarketTexts,
  depth?: number,
): string {
  const { bids, asks, bidDepth, askDepth, timeMs } = snapshot
  const sides = `"bids":${levelsText(bids, platform, depth)},"asks":${levelsText(asks, platform, depth)}`
  const spread = spreadText(bids[0]?.price ?? null, asks[0]?.price ?? null)
  const depths = `"bid_depth":${bidDepth / MICROS},"ask_depth":${askDepth / MICROS}`
  return `{"market_id":${id},"outcome":${labels[0] ?? '""'},${sides},${spread},"timestamp_ms":${timeMs},${depths}}`
}

/** `lengthMs` is the length of the bar. The bar is closed if its end is at or before `nowMs`. */
export function candleText(bar: Bar, lengthMs: number, nowMs: number): string {
  const { startMs, open, high, low, close, usd, count } = bar
  const endMs = startMs + lengthMs
  return `{"timestamp_ms":${startMs},"end_period_ts":${endMs / 1000},"open":${open / MICROS},"high":${
    high / MICROS
  },"low":${low / MICROS},"close":${close / MICROS},"volume":${
    usd / MICROS
  },"trades_count":${count},"vwap":${vwapOf(bar) / MICROS},"closed":${endMs <= nowMs}}`
}

export function priceText(price: MarketPrice): string {
  return `{"price":${unitText(price.price)},"price_cents":${priceCents(price.price)},"best_bid":${textOrNull(
    price.bid,
  )},"best_ask":${textOrNull(price.ask)},${spreadText(price.bid, price.ask)},"source":"${price.source}"}`
}

/** Printable ASCII without quote and backslash, which needs no escaping. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

export function quoted(text: string | null): string {
  if (text === null) return 'null'
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

function textOrNull(micros: PriceMicros | null): string {
  return micros === null ? 'null' : unitText(micros)
}

/** The fees at `nowMs` (FeesSchema). */
export function feesRecord(fees: MarketFees, nowMs: number) {
  const now = feesAt(fees, nowMs)
  const { next, waivedUntilMs } = fees
  return {
    ...modelRecord(now),
    waived_until: waivedUntilMs === null ? null : toSeconds(waivedUntilMs),
    next: next === null || next === now ? null : modelRecord(next),
  }
}

function modelRecord(model: FeeModel) {
  const { kind, taker, maker, rounding, rebateMicros, source, sinceMs } = model
  return {
    model: kind,
    taker: curveRecord(taker),
    maker: curveRecord(maker),
    rounding:
      rounding === null
        ? null
        : {
            direction: rounding.direction,
            fill_step: rounding.fillStepMicros / MICROS,
            order_step: inMillionths(rounding.orderStepMicros),
          },
    rebate_rate: inMillionths(rebateMicros),
    source,
    since: sinceMs === null ? null : toSeconds(sinceMs),
  }
}

function curveRecord(curve: FeeCurve | null) {
  if (curve === null) return null
  return {
    rate: curve.rateMicros / MICROS,
    exponent: curve.exponent,
    multiplier: curve.multiplierMicros / MICROS,
  }
}

function inMillionths(value: number | null): number | null {
  return value === null ? null : value / MICROS
}

export function currentPrice(view: MarketView, nowMs: number, outcomeIndex = 0): string {
  const { price, observedAtMs, source } = view.price()
  // Rounded up, so that the price is never observed after its own `at_time`.
  const atSeconds = Math.ceil(nowMs / 1000)
  const timeMs = Math.min(observedAtMs, atSeconds * 1000)
  return priceRecord(view, outcomeIndex, { price, atSeconds, timeMs, source })
}

/** Concatenating text is several times faster than JSON.stringify. */
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
