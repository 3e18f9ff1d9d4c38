// A basket is a set of outcomes of which a known number wins. A matched pair gives two baskets. An event with exactly
// one winner gives two baskets.

import {
  asksOf,
  type Basket,
  buyBasket,
  type Leg,
  minimumOf,
  type NoBasket,
} from '../../engine/arbitrage/basket.ts'
import { orderRuleOf } from '../../engine/arbitrage/order-rule.ts'
import type { BookUpdate, Level } from '../../engine/events.ts'
import { APPROXIMATION_ERROR_MAX, approximateFee, feesAt } from '../../engine/market/fees.ts'
import type { OtherPayout } from '../../engine/market/market.ts'
import type { Opportunity, OpportunityKind, OpportunityLeg } from '../../engine/opportunity.ts'
import {
  complement,
  PRICE_ONE,
  type SizeMicros,
  type TimeMs,
  timeMs,
  usdMicros,
} from '../../engine/units.ts'
import { isComparable, type MatchView } from '../matches/views.ts'
import type { MarketView } from '../views.ts'

export interface Part {
  readonly market: MarketView
  readonly isFirst: boolean
}

export interface Candidate {
  /** Equal for candidates with the same outcomes. */
  readonly key: string
  readonly kind: OpportunityKind
  readonly parts: readonly Part[]
  readonly winners: number
  readonly score: number | null
  /** Title of the event. Null if the question of a market describes the basket. */
  readonly title: string | null
  readonly explanation: string
}

/** Number of book levels that are read first. Each further read multiplies the number by LEVELS_GROWTH. */
const LEVELS_FIRST = 8
const LEVELS_GROWTH = 4
const EVENT_MARKETS_MAX = 64

const NONE: readonly Candidate[] = []
/** Cached by match, because every book change needs the candidates of its pair. */
const ofMatches = new WeakMap<MatchView, readonly Candidate[]>()

/** Both directions of a pair. Empty if the two markets are not identical. */
export function pairCandidates(match: MatchView | null): readonly Candidate[] {
  if (match === null) return NONE
  const cached = ofMatches.get(match)
  if (cached !== undefined) return cached
  const made = directionsOf(match)
  ofMatches.set(match, made)
  return made
}

function directionsOf(match: MatchView): readonly Candidate[] {
  const { a, b, pairScore } = match
  if (!isComparable(pairScore)) return NONE
  const isInverted = pairScore.inverted === true
  return [true, false].map((isFirst) =>
    candidate([part(a, isFirst), part(b, isInverted ? isFirst : !isFirst)], {
      kind: 'cross_venue',
      winners: 1,
      score: pairScore.score,
      title: null,
      explanation: pairScore.explanation,
    }),
  )
}

/**
 * Whether the best prices leave a gap in either direction, before fees. Runs for every book change, so it allocates
 * nothing.
 */
export function hasPairGap({ a, b, pairScore }: MatchView): boolean {
  const [one, other] = [a.price(), b.price()]
  const [askOne, bidOne] = [one.ask ?? PRICE_ONE, one.bid ?? 0]
  const [askOther, bidOther] = [other.ask ?? PRICE_ONE, other.bid ?? 0]
  return pairScore.inverted === true
    ? askOne + askOther < PRICE_ONE || bidOne + bidOther > PRICE_ONE
    : bidOther > askOne || bidOne > askOther
}

/**
 * The event must have exactly one winner. Returns the basket of all first outcomes and the basket of all second
 * outcomes.
 */
export function eventCandidates(markets: readonly MarketView[], title: string): Candidate[] {
  const open = markets.filter(({ summary }) => summary.status === 'open')
  const count = open.length
  // A market that is neither open nor lost may be the winner.
  if (count < 2 || count > EVENT_MARKETS_MAX || !markets.every(isOpenOrLost)) return []
  const shared = { kind: 'single_venue', score: null, title } as const
  const explanation = `Exactly one of the ${count} outcomes of “${title}” wins.`
  return [
    candidate(
      open.map((market) => part(market, true)),
      { ...shared, winners: 1, explanation: explanation },
    ),
    candidate(
      open.map((market) => part(market, false)),
      { ...shared, winners: count - 1, explanation: explanation },
    ),
  ]
}

/**
 * Whether the best prices of an event's markets leave a gap, before fees: all first outcomes cost less than 1, or all
 * `n` second outcomes less than `n - 1`. Runs for every book change, so it allocates nothing.
 */
export function hasEventGap(markets: readonly MarketView[]): boolean {
  let asks = 0
  let bids = 0
  for (const market of markets) {
    if (market.summary.status !== 'open') continue
    const { bid, ask } = market.price()
    asks += ask ?? PRICE_ONE
    bids += bid ?? Number.NEGATIVE_INFINITY
  }
  return asks < PRICE_ONE || bids > PRICE_ONE
}

/**
 * Whether the best prices may leave a profit after approximate fees. False if a fee is unknown. Runs for every book
 * change, so it allocates nothing.
 */
export function hasGap(
  { parts, winners }: Pick<Candidate, 'parts' | 'winners'>,
  nowMs: TimeMs,
): boolean {
  let left = winners * PRICE_ONE
  for (const { market, isFirst } of parts) {
    const { bid, ask } = market.price()
    const price = isFirst ? ask : bid === null ? null : complement(bid)
    if (price === null) return false
    left -= price
    if (left <= 0) return false
    const { taker } = feesAt(market.summary.fees, nowMs)
    if (taker === null) return false
    left -= approximateFee(taker, price)
  }
  return left > -APPROXIMATION_ERROR_MAX
}

/** Like {@link hasGap}, with the fees that are announced for a later time. */
export function hasGapLater(candidate: Pick<Candidate, 'parts' | 'winners'>, nowMs: TimeMs) {
  return candidate.parts.some(({ market: { summary } }) => {
    const fromMs = summary.fees.next?.sinceMs ?? null
    return fromMs !== null && fromMs > nowMs && hasGap(candidate, fromMs)
  })
}

/** Simulates a purchase from the current books with the current fees. `contracts` null: as many as are profitable. */
export function buyFrom(
  { parts, winners }: Pick<Candidate, 'parts' | 'winners'>,
  nowMs: TimeMs,
  contracts: SizeMicros | null,
): Basket | NoBasket {
  return buyBasket({ legs: legsOf(parts, nowMs), winners, contracts })
}

export function minContractsOf({ parts }: Pick<Candidate, 'parts'>, nowMs: TimeMs): SizeMicros {
  return minimumOf(legsOf(parts, nowMs))
}

const legsOf = (parts: readonly Part[], nowMs: TimeMs): readonly Leg[] =>
  parts.map((part) => ({
    asks: offersOf(part),
    fees: feesAt(part.market.summary.fees, nowMs),
    order: orderRuleOf(part.market.summary),
  }))

/** Yields the offers for a part, best price first. Reads few levels first, because most purchases need no more. */
function* offersOf({ market, isFirst }: Part): Generator<Level, void> {
  const outcome = isFirst ? 'first' : 'second'
  let read = 0
  for (let count = LEVELS_FIRST; ; count *= LEVELS_GROWTH) {
    const offers = asksOf(market.levels(count), outcome)
    for (; read < offers.length; read += 1) {
      const offer = offers[read]
      if (offer !== undefined) yield offer
    }
    if (offers.length < count) return
  }
}

/** True if the book change affects an offer up to the worst price paid. */
export function isInReach(
  parts: readonly Part[],
  { worstPrices }: Basket,
  { market: { number }, changes }: BookUpdate,
): boolean {
  for (const [index, { market, isFirst }] of parts.entries()) {
    if (market.ref.number !== number) continue
    const dearest = worstPrices[index] ?? PRICE_ONE
    for (const { side, price } of changes) {
      const isOffer = isFirst ? side === 'ask' : side === 'bid'
      if (isOffer && (isFirst ? price : PRICE_ONE - price) <= dearest) return true
    }
  }
  return false
}

function descriptionOf({ parts, score, title, explanation }: Candidate) {
  const [first] = parts
  const closes = parts.map(({ market }) => market.summary.closeAtMs)
  const knownTimes = closes.filter((time): time is TimeMs => time !== null)
  return {
    matchScore: score,
    closesAtMs: knownTimes.length === closes.length ? timeMs(Math.max(...knownTimes)) : null,
    question: title ?? first?.market.summary.question ?? '',
    category: first?.market.summary.category ?? null,
    explanation,
    payoutNote: payoutNoteOf(parts),
  }
}

/** Null if every part pays out 0 or 1. */
function payoutNoteOf(parts: readonly Part[]): string | null {
  let note: string | null = null
  for (const { market } of parts) {
    const { otherPayout } = market.summary
    if (otherPayout === null) continue
    const one = `${market.ref.platform} ${OTHER_PAYOUT_TEXT[otherPayout]}.`
    if (note === null) note = one
    else if (!note.includes(one)) note = `${note} ${one}`
  }
  return note
}

const OTHER_PAYOUT_TEXT: Readonly<Record<OtherPayout, string>> = {
  half: 'pays each outcome 0.50 if what is asked is cancelled or stays undecided',
  venue: 'may settle at a price of its own if what is asked is cancelled, postponed or tied',
}

/**
 * Assigns each field by name. V8 gives each spread object its own hidden class, which needs more memory than the
 * object.
 */
export function opportunityOf(
  candidate: Candidate,
  { basket, legs }: { readonly basket: Basket; readonly legs: readonly OpportunityLeg[] },
  { id, openedAtMs }: Pick<Opportunity, 'id' | 'openedAtMs'>,
  nowMs: TimeMs,
): Opportunity {
  const { matchScore, closesAtMs, question, category, explanation, payoutNote } =
    descriptionOf(candidate)
  return {
    id,
    kind: candidate.kind,
    matchScore,
    legs,
    contracts: basket.contracts,
    minContracts: basket.minContracts,
    cost: usdMicros(basket.legs.reduce((sum, { cost }) => sum + cost, 0)),
    fees: usdMicros(basket.legs.reduce((sum, { fee }) => sum + fee, 0)),
    payout: basket.payout,
    profit: basket.profit,
    steps: basket.steps.slice(),
    openedAtMs,
    updatedAtMs: nowMs,
    closesAtMs,
    question,
    category,
    explanation,
    payoutNote,
  }
}

export function hasSameDescription(now: Opportunity, candidate: Candidate): boolean {
  const description = descriptionOf(candidate)
  return (
    now.matchScore === description.matchScore &&
    now.closesAtMs === description.closesAtMs &&
    now.question === description.question &&
    now.category === description.category &&
    now.explanation === description.explanation &&
    now.payoutNote === description.payoutNote
  )
}

export function isEqual(now: Opportunity, basket: Basket): boolean {
  return (
    now.contracts === basket.contracts &&
    now.minContracts === basket.minContracts &&
    now.profit === basket.profit &&
    now.legs.every(({ cost, fee }, index) => {
      const leg = basket.legs[index]
      return leg?.cost === cost && leg.fee === fee
    })
  )
}

const part = (market: MarketView, isFirst: boolean): Part => ({ market, isFirst })

const isOpenOrLost = ({ summary }: MarketView): boolean =>
  summary.status === 'open' || (summary.status === 'resolved' && summary.settlementPrice === 0)

function candidate(parts: readonly Part[], rest: Omit<Candidate, 'key' | 'parts'>): Candidate {
  return { key: parts.map(keyOf).join(' '), parts, ...rest }
}

const keyOf = ({ market, isFirst }: Part): string => `${market.ref.number}${isFirst ? '+' : '-'}`
