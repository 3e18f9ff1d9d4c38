// Gaps between the venues' prices of one question, and between the outcomes of an event, opened and closed by a plan that
// follows from the seed, the start and what is listed: some that a trade earns from, and some that only look so. Makers of
// one market quote beside the fair price while one lasts; the fair prices themselves agree always (fair-price.ts).
// Only pairs and events that share their prices with no other market have one, so that no gap opens a second one.
//
//   real    more than depth and fees take
//   fees    less than the fees
//   depth   so few contracts that rounding of the fees takes all of it
//   trap    of a pair that only looks alike
//   stale   none: the price jumps at both venues, but what venue b's stream says of it is lost
//   event   the outcomes of an exclusive event of venue a, or the other sides of all of them, bought together, leave more
//           than depth and fees take

import { hash32 } from '../../../random.ts'
import { DAY_MS, MICROS, MINUTE_MS, sizeMicros, type TimeMs, timeMs } from '../../../units.ts'
import { hasOwnFees, seriesFees } from '../kalshi/fees.ts'
import type { SimPairKind } from '../model.ts'
import { feeScheduleOf } from './fees.ts'
import type { LiveMarket } from './live-market.ts'
import { mixUnit } from './mix.ts'
import type { OrderFlow } from './order-flow.ts'

/** The order in which kinds come: the first is real, so that a new world soon has one. */
const KINDS = ['real', 'fees', 'real', 'trap', 'real', 'depth', 'event', 'real', 'stale'] as const
export type SimGapKind = (typeof KINDS)[number]

/** One gap of the plan. */
export interface SimGap {
  readonly kind: SimGapKind
  /** Native ids: of a pair venue a's first, of an event the one whose makers quote beside its price. */
  readonly markets: readonly string[]
  readonly question: string
  readonly opensMs: TimeMs
  readonly closesMs: TimeMs
}

/** The first opens so long after the start. */
const FIRST_AFTER_MS = 2_000
/** Gaps that are remembered. */
const GAPS_MAX = 2_000
/** A real one lasts longer: it is what a user is to see. */
const REAL_MS = { least: 20_000, most: 60_000 }
const OTHER_MS = { least: 5_000, most: 15_000 }
/** Nothing of a pair's life changes while it has a gap. */
const QUIET_MS = 2 * MINUTE_MS
/** Micro-dollars a contract that a real gap leaves at least, and at most, after fees and ticks. */
const EDGE = { least: 10_000, most: 30_000 }
/** How far a trap's prices lie apart, and a stale one's jump. */
const APART = 150_000
/** A hundredth of a contract three times: their fee is rounded up to a cent. */
const FEW = sizeMicros(30_000)
/** Where fees are largest: a gap that is less than them is a gap to see all the same. */
const MIDDLE = { least: 350_000, most: 650_000 }
const ANYWHERE = { least: 200_000, most: 800_000 }
/** How far from 0 and from 1 makers still quote an event's dearest outcome. */
const LEAST_LEFT = 50_000
/** Of the fees at the opening: prices move meanwhile, and with them the fees. */
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

/** Opens and closes gaps; one for the world. */
export class Gaps {
  readonly #seed: number
  readonly #everyMs: number
  readonly #startedMs: TimeMs
  readonly #flow: OrderFlow
  readonly #pairs: (isIncluded: (kind: SimPairKind) => boolean) => readonly Pair[]
  readonly #events: () => readonly (readonly LiveMarket[])[]
  readonly #open = new Set<OpenGap>()
  readonly #planned: SimGap[] = []
  #count = 0

  constructor(options: {
    seed: number
    startedMs: TimeMs
    /** 0: there are none. */
    perMinute: number
    flow: OrderFlow
    /** Pairs of which both markets trade, of some kinds. */
    pairs: (isIncluded: (kind: SimPairKind) => boolean) => readonly Pair[]
    /** The markets of each exclusive event of venue a that all trade and share their prices with no others. */
    events: () => readonly (readonly LiveMarket[])[]
  }) {
    this.#seed = hash32('gaps', options.seed, options.startedMs)
    this.#everyMs = MINUTE_MS / options.perMinute
    this.#startedMs = options.startedMs
    this.#flow = options.flow
    this.#pairs = options.pairs
    this.#events = options.events
  }

  /** Those that opened so far, the newest last. */
  get planned(): readonly SimGap[] {
    return this.#planned
  }

  step(nowMs: TimeMs): void {
    for (const gap of [...this.#open]) if (nowMs >= gap.closesMs) this.#close(gap, nowMs)
    if (this.#everyMs === Number.POSITIVE_INFINITY) return
    const dueMs = nowMs - this.#startedMs - FIRST_AFTER_MS
    const dueCount = dueMs < 0 ? 0 : Math.floor(dueMs / this.#everyMs) + 1
    // After a jump of the clock, what it left out is not made up for.
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
    const pairs = this.#pairs(suits).filter((pair) => this.#isFree(pair, kind, nowMs))
    const pair = pairs[Math.floor(chance(0) * pairs.length)]
    if (pair === undefined) return
    const sign = chance(2) < 0.5 ? -1 : 1
    const micros = sign * microsOf(kind, pair, { edge, sign, nowMs })
    const isMoved = kind === 'stale'
    pair.a.gap = { skew: isMoved ? micros : 0, isHeld: kind === 'depth' }
    pair.b.gap = { skew: micros, isHeld: kind === 'depth' }
    this.#flow.requote(pair.b, nowMs, {
      ...(kind === 'depth' ? { size: FEW } : {}),
      isLost: isMoved,
    })
    this.#flow.requote(pair.a, nowMs)
    this.#note(kind, [pair.a, pair.b], { nowMs, closesMs })
  }

  /**
   * Makers of the dearest outcome ask less (`sign` −1), or bid more so that the other sides cost less (1), by what all of
   * them cost in fees and ticks and some more.
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
    const events = this.#events()
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
      this.#flow.requote(market, nowMs)
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
      // Withdrawn quotes come back as they went, and are put right then.
      if (market.slot >= 0) this.#flow.requote(market, nowMs)
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

/** Whether a market has no gap and nothing of its life changes soon. */
function isQuiet({ gap, listing: { createdMs, closeMs } }: LiveMarket, nowMs: TimeMs): boolean {
  return gap === null && createdMs < nowMs - QUIET_MS && closeMs > nowMs + QUIET_MS
}

/** How far venue b's makers quote beside the fair price. */
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

/** 0 where the fees may be others before the gap is over. */
function feesShare(pair: Pair, nowMs: TimeMs): number {
  const { event } = pair.b
  const [now, later] = [nowMs, nowMs + DAY_MS].map(
    (atMs) => seriesFees(event.series, atMs).fee_multiplier,
  )
  return now === 1 && later === 1 && !hasOwnFees(event)
    ? Math.floor(FEES_SHARE * feesOf(pair, nowMs))
    : 0
}

/** What both venues take of a contract, at most, in micros. */
function feesOf({ a, b }: Pair, nowMs: TimeMs): number {
  const price = a.fairPrice(nowMs) / MICROS
  const multiplier = seriesFees(b.event.series, nowMs).fee_multiplier
  return Math.ceil(feeIn(a, nowMs) + MICROS * price * (1 - price) * KALSHI_RATE * multiplier)
}

/** What venue a takes of a contract, in micros. */
function feeIn(market: LiveMarket, nowMs: TimeMs): number {
  const price = market.fairPrice(nowMs) / MICROS
  return MICROS * price * (1 - price) * (feeScheduleOf(market)?.rate ?? 0)
}
