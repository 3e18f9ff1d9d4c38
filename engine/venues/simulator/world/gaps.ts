// Planned price gaps between the venues' listings of one question, and between the outcomes of an event. The plan
// depends on the seed, the start and the listings. During a gap the makers of one market quote at a distance from the
// fair price. Gaps open only in pairs and events whose prices no other market shares, so that no other gap results.
//
//   real    exceeds depth and fees
//   fees    smaller than the fees
//   depth   has so few contracts that the rounding of fees exceeds the profit
//   trap    between two questions that look alike but differ
//   stale   no gap: the price jumps at both venues, but venue b's stream loses the change
//   event   all outcomes of an exclusive event of venue a bought together, or all opposite sides; exceeds depth and fees

import { hash32 } from '../../../random.ts'
import { DAY_MS, MICROS, MINUTE_MS, sizeMicros, type TimeMs, timeMs } from '../../../units.ts'
import { hasOwnFees, seriesFees } from '../kalshi/fees.ts'
import type { SimPairKind } from '../model.ts'
import { feeScheduleOf } from './fees.ts'
import type { LiveMarket } from './live-market.ts'
import { mixUnit } from './mix.ts'
import type { OrderFlow } from './order-flow.ts'

/** The first kind is real, so that a new world soon has a real gap. */
const KINDS = ['real', 'fees', 'real', 'trap', 'real', 'depth', 'event', 'real', 'stale'] as const
type SimGapKind = (typeof KINDS)[number]

export interface SimGap {
  readonly kind: SimGapKind
  /**
   * Native ids. For a pair, venue a's market is first. For an event, the market whose makers deviate from the fair
   * price.
   */
  readonly markets: readonly string[]
  readonly question: string
  readonly opensMs: TimeMs
  readonly closesMs: TimeMs
}

const FIRST_AFTER_MS = 2_000
const GAPS_MAX = 2_000
const CHECKED_MAX = 5_000
/** A real gap lasts longer than others, so that users see it. */
const REAL_MS = { least: 20_000, most: 60_000 }
const OTHER_MS = { least: 5_000, most: 15_000 }
/** A market has no gap within this time before and after a lifecycle change. */
const QUIET_MS = 2 * MINUTE_MS
/** Minimum and maximum profit of a real gap per contract, in micro-dollars, after fees and rounding to ticks. */
const EDGE = { least: 10_000, most: 30_000 }
/** Price difference of a `trap` gap, and jump of a `stale` gap. */
const APART = 150_000
/** Size of a `depth` gap: three hundredths of a contract. The fee is rounded up to a cent, which exceeds the profit. */
const FEW = sizeMicros(30_000)
/** Prices at which fees are large enough that a gap below the fees is visible. */
const MIDDLE = { least: 350_000, most: 650_000 }
const ANYWHERE = { least: 200_000, most: 800_000 }
/** Minimum distance of an event's most expensive outcome from 0 and 1, at the price that makers quote during a gap. */
const LEAST_LEFT = 50_000
/** Size of a `fees` gap at its opening, as a part of the fees. Prices and fees change while the gap is open. */
const FEES_SHARE = 0.8
const KALSHI_RATE = 0.07

interface Pair {
  readonly a: LiveMarket
  readonly b: LiveMarket
}

interface OpenGap {
  readonly markets: readonly LiveMarket[]
  readonly closesMs: TimeMs
}

interface GapOptions {
  readonly seed: number
  readonly startedMs: TimeMs
  readonly perMinute: number
  readonly flow: OrderFlow
  readonly pairs: (isIncluded: (kind: SimPairKind) => boolean) => readonly Pair[]
  /** Markets of each exclusive event of venue a. All of them trade, and none shares its price with another market. */
  readonly events: () => readonly (readonly LiveMarket[])[]
}

export class Gaps {
  readonly #options: GapOptions
  readonly #seed: number
  readonly #everyMs: number
  readonly #open = new Set<OpenGap>()
  readonly #planned: SimGap[] = []
  #count = 0

  constructor(options: GapOptions) {
    this.#options = options
    this.#seed = hash32('gaps', options.seed, options.startedMs)
    this.#everyMs = MINUTE_MS / options.perMinute
  }

  get planned(): readonly SimGap[] {
    return this.#planned
  }

  step(nowMs: TimeMs): void {
    for (const gap of [...this.#open]) if (nowMs >= gap.closesMs) this.#close(gap, nowMs)
    if (this.#everyMs === Number.POSITIVE_INFINITY) return
    const dueMs = nowMs - this.#options.startedMs - FIRST_AFTER_MS
    const dueCount = dueMs < 0 ? 0 : Math.floor(dueMs / this.#everyMs) + 1
    // Gaps in a period that the clock skipped do not open.
    this.#count = Math.max(this.#count, dueCount - 1)
    for (; this.#count < dueCount; this.#count += 1) this.#begin(this.#count, nowMs)
  }

  #begin(number: number, nowMs: TimeMs): void {
    const kind = KINDS[number % KINDS.length] ?? 'real'
    const chance = (index: number): number => mixUnit(this.#seed, 8 * number + index)
    const within = ({ least, most }: { least: number; most: number }, index: number): number =>
      Math.round(least + (most - least) * chance(index))
    const lastsMs = within(kind === 'real' || kind === 'event' ? REAL_MS : OTHER_MS, 1)
    const closesMs = timeMs(nowMs + lastsMs)
    const edge = within(EDGE, 3)
    if (kind === 'event') {
      const sign = chance(2) < 0.5 ? -1 : 1
      return this.#beginInEvent({ chance: chance(0), sign, edge, nowMs, closesMs })
    }
    const isTrap = (pair: SimPairKind): boolean => pair !== 'same' && pair !== 'opposite_side'
    const suits = kind === 'trap' ? isTrap : (pair: SimPairKind): boolean => pair === 'same'
    const pairs = someOf(this.#options.pairs(suits), chance(0)).filter((pair) =>
      this.#isFree(pair, kind, nowMs),
    )
    const pair = pairs[Math.floor(chance(0) * pairs.length)]
    if (pair === undefined) return
    const sign = chance(2) < 0.5 ? -1 : 1
    const micros = sign * microsOf(kind, pair, { edge, sign, nowMs })
    const isMoved = kind === 'stale'
    pair.a.gap = { skew: isMoved ? micros : 0, isHeld: kind === 'depth' }
    pair.b.gap = { skew: micros, isHeld: kind === 'depth' }
    this.#options.flow.requote(pair.b, nowMs, {
      ...(kind === 'depth' ? { size: FEW } : {}),
      isLost: isMoved,
    })
    this.#options.flow.requote(pair.a, nowMs)
    this.#note(kind, [pair.a, pair.b], { nowMs, closesMs })
  }

  /**
   * Shifts the quotes of the most expensive outcome down (`sign` −1) or up (`sign` 1) by the profit plus the fees and
   * ticks of all outcomes. Buying Yes (−1) or No (1) of every outcome then costs less than the payout.
   */
  #beginInEvent(plan: {
    chance: number
    sign: -1 | 1
    edge: number
    nowMs: TimeMs
    closesMs: TimeMs
  }): void {
    const { nowMs } = plan
    const fair = (market: LiveMarket): number => market.fairPrice(nowMs)
    const isFree = (market: LiveMarket): boolean => isQuiet(market, nowMs)
    const events = someOf(this.#options.events(), plan.chance)
      .filter((markets) => markets.every(isFree))
      .map((markets) => {
        const sorted = markets.toSorted((one, other) => fair(other) - fair(one))
        const taken = sorted.reduce((sum, one) => sum + feeIn(one, nowMs) + one.tickMicros, 0)
        return { markets: sorted, skew: plan.sign * (Math.ceil(taken) + plan.edge) }
      })
      .filter(({ markets: [dearest], skew }) => {
        if (dearest === undefined) return false
        const quoted = fair(dearest) + skew
        const isWithin = quoted > LEAST_LEFT && quoted < MICROS - LEAST_LEFT
        return isWithin && fair(dearest) < ANYWHERE.most
      })
    const event = events[Math.floor(plan.chance * events.length)]
    if (event === undefined) return
    for (const [index, market] of event.markets.entries()) {
      market.gap = { skew: index === 0 ? event.skew : 0, isHeld: false }
      this.#options.flow.requote(market, nowMs)
    }
    this.#note('event', event.markets, plan)
  }

  #note(
    kind: SimGapKind,
    markets: readonly LiveMarket[],
    { nowMs, closesMs }: { nowMs: TimeMs; closesMs: TimeMs },
  ): void {
    this.#open.add({ markets, closesMs })
    this.#planned.push({
      kind,
      markets: markets.map(({ listing }) => listing.nativeId),
      question: markets[0]?.listing.question ?? '',
      ...{ opensMs: nowMs, closesMs },
    })
    if (this.#planned.length > GAPS_MAX) this.#planned.splice(0, GAPS_MAX / 10)
  }

  #close(gap: OpenGap, nowMs: TimeMs): void {
    this.#open.delete(gap)
    for (const market of gap.markets.toReversed()) {
      market.gap = null
      // If its quotes are withdrawn, the market is requoted when they are restored.
      if (market.slot >= 0) this.#options.flow.requote(market, nowMs)
    }
  }

  #isFree({ a, b }: Pair, kind: SimGapKind, nowMs: TimeMs): boolean {
    const shared = kind === 'trap' ? 1 : 2
    const { least, most } = kind === 'fees' ? MIDDLE : ANYWHERE
    return [a, b].every((market) => {
      const price = market.fairPrice(nowMs)
      return (
        isQuiet(market, nowMs) &&
        market.linked.length === shared &&
        price > least &&
        price < most &&
        (kind !== 'fees' || feesShare({ a, b }, nowMs) > a.tickMicros + b.tickMicros)
      )
    })
  }
}

/** At most CHECKED_MAX neighbouring items. `chance` selects them. */
function someOf<Item>(items: readonly Item[], chance: number): readonly Item[] {
  const start = Math.floor(chance * Math.max(0, items.length - CHECKED_MAX))
  return items.slice(start, start + CHECKED_MAX)
}

function isQuiet({ gap, listing: { createdMs, closeMs } }: LiveMarket, nowMs: TimeMs): boolean {
  return gap === null && createdMs < nowMs - QUIET_MS && closeMs > nowMs + QUIET_MS
}

/** Difference between the price around which venue b's makers quote and the fair price. */
function microsOf(
  kind: SimGapKind,
  pair: Pair,
  at: { readonly edge: number; readonly sign: number; readonly nowMs: TimeMs },
): number {
  const { a, b } = pair
  if (kind === 'fees') return feesShare(pair, at.nowMs)
  if (kind === 'stale') return APART
  if (kind === 'trap') {
    const apart = a.fairPrice(at.nowMs) - b.fairPrice(at.nowMs)
    return at.sign * apart + APART
  }
  return feesOf(pair, at.nowMs) + a.tickMicros + b.tickMicros + at.edge
}

/** The fees of a gap at its opening, per contract. 0 if the fees may change before the gap closes. */
function feesShare(pair: Pair, nowMs: TimeMs): number {
  const { event } = pair.b
  const [now, later] = [nowMs, nowMs + DAY_MS].map(
    (atMs) => seriesFees(event.series, atMs).fee_multiplier,
  )
  return now === 1 && later === 1 && !hasOwnFees(event)
    ? Math.floor(FEES_SHARE * feesOf(pair, nowMs))
    : 0
}

function feesOf({ a, b }: Pair, nowMs: TimeMs): number {
  const price = a.fairPrice(nowMs) / MICROS
  const multiplier = seriesFees(b.event.series, nowMs).fee_multiplier
  return Math.ceil(feeIn(a, nowMs) + MICROS * price * (1 - price) * KALSHI_RATE * multiplier)
}

function feeIn(market: LiveMarket, nowMs: TimeMs): number {
  const price = market.fairPrice(nowMs) / MICROS
  return MICROS * price * (1 - price) * (feeScheduleOf(market)?.rate ?? 0)
}
