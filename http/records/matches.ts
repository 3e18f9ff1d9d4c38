import { type Static, type TSchema, Type } from '@sinclair/typebox'
import {
  confidenceOf,
  isComparable,
  type MatchView,
  priceGapOf,
} from '../../actors/matches/views.ts'
import type { MarketView } from '../../actors/views.ts'
import { complement, MICROS, type PriceMicros, toSeconds } from '../../engine/units.ts'
import type { VenueFacts, VenueTable } from '../../engine/venue-table.ts'
import { choice, nullable, pageFields, pairFields } from '../schemas.ts'
import { type MarketRecords, MarketSchema } from './markets.ts'

export const CONFIDENCES = ['high', 'medium', 'low'] as const
export const RELATIONS = ['identical', 'subset', 'superset', 'overlap', 'different'] as const

/** A market record with the venue's own ids. The event's id is named `event_slug` if the venue has no name for it. */
const listingOf = ({ idFields }: VenueFacts) =>
  Type.Intersect([
    MarketSchema,
    Type.Object({
      [idFields.market]: Type.String(),
      [idFields.event ?? 'event_slug']: nullable(Type.String()),
    }),
  ])

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

/** Venue names are the keys of both markets. */
export function matchSchemas(names: VenueTable) {
  const settledPrice = () => nullable(Type.Number({ minimum: 0, maximum: 1 }))
  const settled = Type.Object({
    ...pairFields(names, settledPrice),
    agreed: nullable(Type.Boolean()),
  })
  const match = Type.Object({
    ...{ ...pairFields(names, listingOf), ...assessmentFields },
    settled: nullable(settled),
  })
  const list = Type.Object({
    matches: Type.Array(match),
    total: Type.Integer({ minimum: 0 }),
    ...pageFields,
  })
  const listings = Type.Union([
    entry({ event_ticker: Type.String(), market_tickers: Type.Array(Type.String()) }),
    entry({ market_slug: Type.String(), token_ids: Type.Array(Type.String()) }),
  ])
  // The markets of a game. A venue with tickers has an entry per event, a venue with slugs an entry per market.
  const games = Type.Object({
    markets: Type.Record(Type.String(), Type.Array(listings)),
    sport: Type.String(),
    date: Type.String(),
    matches: Type.Array(match),
    total: Type.Integer({ minimum: 0 }),
  })
  return { list, games }
}

/** A match with its price gap at the time when the list was sorted. The gap may change while a long answer is written. */
export interface ListedMatch {
  readonly match: MatchView
  readonly gap: number | null
}

export const listedMatches = (matches: readonly MatchView[]): readonly ListedMatch[] =>
  matches.map((match) => ({ match, gap: priceGapOf(match) }))

export function matchText(
  {
    records,
    names,
  }: { readonly records: Pick<MarketRecords, 'bytes'>; readonly names: VenueTable },
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
    const record = withKeys(records.bytes(market, nowMs).toString(), ownIds(market, names))
    return `${JSON.stringify(market.ref.platform)}:${record}`
  })
  return `{${sides.join()},${JSON.stringify({ ...own, settled: settledOf(match) }).slice(1)}`
}

/** Payouts of the outcome that the first market quotes, by platform. Null while no market of the pair has a result. */
function settledOf({ a, b, pairScore }: MatchView) {
  if (!isComparable(pairScore)) return null
  const [first, own] = [payoutOf(a), payoutOf(b)]
  if (first === null && own === null) return null
  const second = own !== null && pairScore.inverted === true ? complement(own) : own
  return {
    [a.ref.platform]: first === null ? null : first / MICROS,
    [b.ref.platform]: second === null ? null : second / MICROS,
    agreed: first === null || second === null ? null : first === second,
  }
}

const payoutOf = ({ summary: { status, settlementPrice } }: MarketView): PriceMicros | null =>
  status === 'resolved' ? settlementPrice : null

function ownIds({ ref, summary }: MarketView, names: VenueTable) {
  const { market, event } = names.of(ref.venue).idFields
  return { [market]: ref.nativeId, ...(event === null ? {} : { [event]: summary.event }) }
}

function withKeys(text: string, keys: Readonly<Record<string, string | null>>): string {
  return `${text.slice(0, -1)},${JSON.stringify(keys).slice(1)}`
}

/** The second market's label for each outcome of the first market, by meaning. Null if the meanings are unknown. */
function outcomeMapOf({ a, b, pairScore: assessment }: MatchView): Record<string, string> | null {
  if (assessment.outcomeMap === null) return null
  const map: Record<string, string> = {}
  for (const [index, at] of assessment.outcomeMap.entries()) {
    const [from, to] = [a.summary.outcomes[at]?.label, b.summary.outcomes[index]?.label]
    if (from !== undefined && to !== undefined) map[from] = to
  }
  return map
}
