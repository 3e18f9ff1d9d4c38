// The record of a match: both markets in our words with their venues' own keys, how sure the match is and why, and
// how far their prices are apart. Not for: which matches there are (actors/matches/matches.ts). Upholds MATCHROUTE2 to MATCHROUTE4.

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { confidenceOf, type MatchView } from '../../actors/matches/views.ts'
import type { MarketView } from '../../actors/views.ts'
import type { VenueNames } from '../../engine/ids.ts'
import { MICROS, toSeconds } from '../../engine/units.ts'
import { choice, MarketSchema, nullable } from '../schemas.ts'
import type { MarketRecords } from './markets.ts'

export const CONFIDENCES = ['high', 'medium', 'low'] as const
export const RELATIONS = ['identical', 'subset', 'superset', 'overlap', 'different'] as const

const ListingOfA = Type.Intersect([
  MarketSchema,
  Type.Object({ condition_id: Type.String(), event_slug: nullable(Type.String()) }),
])
const ListingOfB = Type.Intersect([
  MarketSchema,
  Type.Object({ ticker: Type.String(), event_ticker: nullable(Type.String()) }),
])

/** What is thought of a pair. */
const judgement = {
  score: Type.Number({ minimum: 0, maximum: 100 }),
  confidence: choice(CONFIDENCES),
  relation: choice(RELATIONS),
  inverted: nullable(Type.Boolean()),
  outcome_map: nullable(Type.Record(Type.String(), Type.String())),
  explanation: Type.String(),
  vetoes: Type.Array(Type.String()),
  price_gap: nullable(Type.Number({ minimum: -1, maximum: 1 })),
  matched_at: Type.Integer(),
}
const JudgementSchema = Type.Object(judgement)

const entry = (fields: Record<string, TSchema>) =>
  Type.Object({ platform: Type.String(), ...fields })

/** The answers about matches, in which both markets stand under the names of their venues. */
export function matchSchemas({ a, b }: VenueNames) {
  const match = Type.Object({ [a]: ListingOfA, [b]: ListingOfB, ...judgement })
  const list = Type.Object({
    matches: Type.Array(match),
    total: Type.Integer({ minimum: 0 }),
    cursor: nullable(Type.String()),
    has_more: Type.Boolean(),
  })
  const listings = Type.Union([
    entry({ event_ticker: Type.String(), market_tickers: Type.Array(Type.String()) }),
    entry({ market_slug: Type.String(), token_ids: Type.Array(Type.String()) }),
  ])
  // A game's listings: venue b's events with their markets, venue a's markets with their tokens.
  const games = Type.Object({
    markets: Type.Record(Type.String(), Type.Array(listings)),
    sport: Type.String(),
    date: Type.String(),
    matches: Type.Array(match),
    total: Type.Integer({ minimum: 0 }),
  })
  return { list, games }
}

/** The record as JSON text. */
export function matchText(
  records: Pick<MarketRecords, 'text'>,
  match: MatchView,
  nowMs: number,
): string {
  const { a, b, judged, matchedAtMs } = match
  const own: Static<typeof JudgementSchema> = {
    score: judged.score,
    confidence: confidenceOf(judged.score),
    relation: judged.relation,
    inverted: judged.inverted,
    outcome_map: outcomeMapOf(match),
    explanation: judged.explanation,
    vetoes: [...judged.vetoes],
    price_gap: priceGapOf(match),
    matched_at: toSeconds(matchedAtMs),
  }
  const keysOfA = { condition_id: a.ref.nativeId }
  const keysOfB = { ticker: b.ref.nativeId, event_ticker: b.summary.event }
  const first = withKeys(records.text(a, nowMs), keysOfA)
  const second = withKeys(records.text(b, nowMs), keysOfB)
  const [nameOfA, nameOfB] = [JSON.stringify(a.ref.platform), JSON.stringify(b.ref.platform)]
  return `{${nameOfA}:${first},${nameOfB}:${second},${JSON.stringify(own).slice(1)}`
}

/** Adds fields to an object that is text already. */
function withKeys(text: string, keys: Readonly<Record<string, string | null>>): string {
  return `${text.slice(0, -1)},${JSON.stringify(keys).slice(1)}`
}

/** Venue a's labels to those of venue b that mean the same; null where that is not known. */
function outcomeMapOf({ a, b, judged }: MatchView): Record<string, string> | null {
  if (judged.outcomeMap === null) return null
  const map: Record<string, string> = {}
  for (const [index, at] of judged.outcomeMap.entries()) {
    const [from, to] = [a.summary.outcomes[at]?.label, b.summary.outcomes[index]?.label]
    if (from !== undefined && to !== undefined) map[from] = to
  }
  return map
}

/** Venue b's midpoint less venue a's, for what venue a's first outcome means; null where one is not known. */
function priceGapOf({ a, b, judged }: MatchView): number | null {
  const [one, other] = [midpointOf(a), midpointOf(b)]
  if (one === null || other === null || judged.inverted === null) return null
  const aligned = judged.inverted ? 2 * MICROS - other : other
  return (aligned - one) / (2 * MICROS)
}

/** Twice the midpoint in micros, so that it is whole; null while a side is empty. */
function midpointOf(market: MarketView): number | null {
  const { bid, ask } = market.price()
  return bid === null || ask === null ? null : bid + ask
}
