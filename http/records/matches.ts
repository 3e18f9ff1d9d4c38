// The record of a match: both markets in our words with their venues' own ids, how sure the match is and why, and how
// far their prices are apart.

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { confidenceOf, type MatchView, priceGapOf } from '../../actors/matches/views.ts'
import type { MarketView } from '../../actors/views.ts'
import { toSeconds } from '../../engine/units.ts'
import type { VenueFacts, VenueTable } from '../../engine/venue-table.ts'
import { choice, MarketSchema, nullable, pairFields } from '../schemas.ts'
import { separated } from './body-bytes.ts'
import type { MarketRecords } from './markets.ts'

export const CONFIDENCES = ['high', 'medium', 'low'] as const
export const RELATIONS = ['identical', 'subset', 'superset', 'overlap', 'different'] as const

/** Our record with the venue's own ids: an event's id is our `event_slug` where the venue has no word of its own. */
const listingOf = ({ idFields }: VenueFacts) =>
  Type.Intersect([
    MarketSchema,
    Type.Object({
      [idFields.market]: Type.String(),
      [idFields.event ?? 'event_slug']: nullable(Type.String()),
    }),
  ])

/** What is thought of a pair. */
const assessmentFields = {
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
const AssessmentSchema = Type.Object(assessmentFields)

const entry = (fields: Record<string, TSchema>) =>
  Type.Object({ platform: Type.String(), ...fields })

/** The answers about matches, in which both markets stand under the names of their venues. */
export function matchSchemas(names: VenueTable) {
  const match = Type.Object({ ...pairFields(names, listingOf), ...assessmentFields })
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
  // A game's listings: events with their markets where ids are tickers, markets with their tokens where they are slugs.
  const games = Type.Object({
    markets: Type.Record(Type.String(), Type.Array(listings)),
    sport: Type.String(),
    date: Type.String(),
    matches: Type.Array(match),
    total: Type.Integer({ minimum: 0 }),
  })
  return { list, games }
}

/** A match with its gap of the moment at which its list was put in order: a long answer is written over several turns. */
interface ListedMatch {
  readonly match: MatchView
  readonly gap: number | null
}

/** The matches of a list, with commas between them, for `matchText`. */
export const listedMatches = (matches: readonly MatchView[]): Iterable<ListedMatch | ','> =>
  separated(matches.map((match) => ({ match, gap: priceGapOf(match) })))

/** The record as JSON text. */
export function matchText(
  { records, names }: { readonly records: Pick<MarketRecords, 'text'>; readonly names: VenueTable },
  { match, gap }: ListedMatch,
  nowMs: number,
): string {
  const { a, b, pairScore: assessment, matchedAtMs } = match
  const own: Static<typeof AssessmentSchema> = {
    score: assessment.score,
    confidence: confidenceOf(assessment.score),
    relation: assessment.relation,
    inverted: assessment.inverted,
    outcome_map: outcomeMapOf(match),
    explanation: assessment.explanation,
    vetoes: [...assessment.vetoes],
    price_gap: gap,
    matched_at: toSeconds(matchedAtMs),
  }
  const sides = [a, b].map((market) => {
    const record = withKeys(records.text(market, nowMs), ownIds(market, names))
    return `${JSON.stringify(market.ref.platform)}:${record}`
  })
  return `{${sides.join()},${JSON.stringify(own).slice(1)}`
}

/** A market's and its event's id under the venue's own words for them. */
function ownIds({ ref, summary }: MarketView, names: VenueTable) {
  const { market, event } = names.of(ref.venue).idFields
  return { [market]: ref.nativeId, ...(event === null ? {} : { [event]: summary.event }) }
}

/** Adds fields to an object that is text already. */
function withKeys(text: string, keys: Readonly<Record<string, string | null>>): string {
  return `${text.slice(0, -1)},${JSON.stringify(keys).slice(1)}`
}

/** The first market's labels to those of the second that mean the same; null where that is not known. */
function outcomeMapOf({ a, b, pairScore: assessment }: MatchView): Record<string, string> | null {
  if (assessment.outcomeMap === null) return null
  const map: Record<string, string> = {}
  for (const [index, at] of assessment.outcomeMap.entries()) {
    const [from, to] = [a.summary.outcomes[at]?.label, b.summary.outcomes[index]?.label]
    if (from !== undefined && to !== undefined) map[from] = to
  }
  return map
}
