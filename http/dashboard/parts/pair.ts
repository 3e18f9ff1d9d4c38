import { gapText, stepDecimals } from '../format.ts'
import { html } from '../html.ts'
import type { Market, MatchList } from '../records.ts'
import { hrefOf } from '../route.ts'
import { Price, Time } from './figures.ts'
import { endText } from './market-facts.ts'
import { contrary, gapOf, type LivePrices, type Quote, quoteOf } from './quotes.ts'
import { type Venues, venueText } from './venues.ts'

export type MatchRecord = MatchList['matches'][number]

export interface MatchPair {
  readonly a: Market
  readonly b: Market
  readonly match: MatchRecord
}

interface AlignedQuotes {
  readonly outcome: string
  /** Equivalent outcome at venue b; null: unknown. */
  readonly matchedOutcome: string | null
  readonly a: Quote
  /** Both sides are null if the equivalent outcome is unknown. */
  readonly b: Quote
  /** Midpoint of venue b minus midpoint of venue a, in dollars; null: unknown. */
  readonly gap: number | null
}

/** Keys of a match record are venue names. Null if a market is missing. */
export function pairOf(match: MatchRecord, { a: nameOfA, b: nameOfB }: Venues): MatchPair | null {
  const fields = new Map(Object.entries<unknown>(match))
  const [a, b] = [fields.get(nameOfA), fields.get(nameOfB)]
  return isMarket(a) && isMarket(b) ? { a, b, match } : null
}

/** Pairs with both markets, in the order of the response. */
export const pairsOf = (matches: readonly MatchRecord[], venues: Venues): readonly MatchPair[] =>
  matches.flatMap((match) => pairOf(match, venues) ?? [])

const COMPARABLE_SCORE_MIN = 80

/** True if prices of the pair may be compared. Other pairs are shown as similar questions, without prices. */
export const isComparable = ({ score, relation, inverted }: MatchRecord): boolean =>
  score >= COMPARABLE_SCORE_MIN && relation === 'identical' && inverted !== null

export function alignedQuotes({ a, b, match }: MatchPair, live: LivePrices): AlignedQuotes {
  const { inverted } = match
  const own = quoteOf(a, live)
  const outcome = a.outcomes[0]?.label ?? 'Yes'
  if (inverted === null) {
    return { outcome, matchedOutcome: null, a: own, b: { bid: null, ask: null }, gap: null }
  }
  const other = quoteOf(b, live)
  const aligned = inverted ? contrary(other) : other
  const matchedOutcome = b.outcomes[inverted ? 1 : 0]?.label ?? null
  return { outcome, matchedOutcome, a: own, b: aligned, gap: gapOf(own, aligned) }
}

function isMarket(value: unknown): value is Market {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['id', 'question', 'outcomes', 'platforms'].every((name) => name in value)
  )
}

export const RELATION_LABELS = {
  identical: 'Same question',
  subset: 'First implies second',
  superset: 'Second implies first',
  overlap: 'Overlapping questions',
  different: 'Different questions',
} as const satisfies Readonly<Record<MatchPair['match']['relation'], string>>

/** Tag color by confidence. */
export const CONFIDENCE_TAGS = { high: 'good', medium: 'wait', low: 'bad' } as const

/** True if a market of the pair does not trade. */
export const isEnded = ({ a, b }: Pick<MatchPair, 'a' | 'b'>): boolean =>
  a.status !== 'open' || b.status !== 'open'

/** State or result of both markets, and whether both results agree. */
export function PairResults({ pair: { a, b, match }, venues }: Omit<PairProps, 'live'>) {
  const agreed = match.settled?.agreed ?? null
  return html`<div class="stack" data-agreed=${agreed}>
    <ul class="match-questions">
      ${[[venues.a, a] as const, [venues.b, b] as const].map(
        ([venue, market]) => html`<li key=${market.id} data-market=${market.id}>
          <a href=${hrefOf('market', market.id)}>${market.question}</a>
          <span class="muted below">${venueText(venue)}</span>
          <strong class="below">${endText(market) ?? 'Still trading'}</strong>
        </li>`,
      )}
    </ul>
    ${
      agreed === null
        ? null
        : agreed
          ? html`<p><span class="tag good">Same result</span> Both venues settled the question the same way.</p>`
          : html`<p><span class="tag bad">Different results</span> The venues did not settle the question the same way.</p>`
    }
  </div>`
}

interface PairProps {
  readonly pair: MatchPair
  readonly venues: Venues
  readonly live: LivePrices
}

export function MatchCard({ pair, venues, live }: PairProps) {
  const { match } = pair
  const found = html`Found <${Time} atMs=${match.matched_at * 1_000} />.`
  return html`<article class="card stack match" data-score=${match.score}>
    <${MatchTags} match=${match} />
    ${
      isEnded(pair)
        ? html`<${PairResults} pair=${pair} venues=${venues} />
          <p class="muted match-why">${match.explanation} ${found}</p>`
        : isComparable(match)
          ? html`<${PairPrices} pair=${pair} venues=${venues} live=${live} />
          <p class="muted match-why">${match.explanation} ${found}</p>`
          : html`<p class="match-why">${match.explanation}</p>
          <${PairQuestions} pair=${pair} venues=${venues} />
          <p class="muted">${found}</p>`
    }
  </article>`
}

export function MatchTags({ match }: { readonly match: MatchRecord }) {
  return html`<div class="row match-head">
    <span class="match-score" title="Probability in percent that both settle the same way">
      <span class="visually-hidden">Score </span>${match.score.toFixed(1)}
    </span>
    <span class=${`tag ${CONFIDENCE_TAGS[match.confidence]}`}>${match.confidence} confidence</span>
    <span class="tag">${RELATION_LABELS[match.relation]}</span>
    ${match.inverted === true ? html`<span class="tag wait">Inverted: Yes here is No there</span>` : null}
    ${match.vetoes.map((veto) => html`<span class="tag bad" key=${veto}>Warning: ${vetoText(veto)}</span>`)}
  </div>`
}

function PairPrices({ pair, venues, live }: PairProps) {
  const quotes = alignedQuotes(pair, live)
  return html`
    <div class="scroll-x"><table class="list match-prices">
      <caption class="visually-hidden">Prices of both venues for ${quotes.outcome}</caption>
      <thead><tr>
        <th scope="col">Question</th><th scope="col" class="num">Bid</th><th scope="col" class="num">Ask</th>
      </tr></thead>
      <tbody>
        ${side(venues.a, pair.a, quotes.outcome, quotes.a)}
        ${side(venues.b, pair.b, quotes.matchedOutcome ?? 'outcome unknown', quotes.b)}
      </tbody>
    </table></div>
    <p class="match-gap" data-gap=${quotes.gap}>
      <span>${gapSummary(quotes, venues)}</span> <strong class="num">${gapText(quotes.gap)}</strong>
    </p>`
}

const PairQuestions = ({ pair: { a, b }, venues }: Omit<PairProps, 'live'>) =>
  html`<ul class="match-questions">
    ${[[venues.a, a] as const, [venues.b, b] as const].map(
      ([venue, { id, question }]) => html`<li key=${id} data-market=${id}>
        <a href=${hrefOf('market', id)}>${question}</a> <span class="muted below">${venueText(venue)}</span>
      </li>`,
    )}
  </ul>`

function side(venue: string, market: Market, outcome: string, { bid, ask }: Quote) {
  const decimals = stepDecimals(market.price_step)
  return html`<tr data-market=${market.id}>
    <td class="question"><a href=${hrefOf('market', market.id)}>${market.question}</a>
      <span class="muted below">${venueText(venue)}, ${outcome}</span></td>
    <td class="num bid"><${Price} price=${bid} decimals=${decimals} /></td>
    <td class="num ask"><${Price} price=${ask} decimals=${decimals} /></td>
  </tr>`
}

function gapSummary({ outcome, matchedOutcome, gap }: AlignedQuotes, { a, b }: Venues): string {
  if (matchedOutcome === null) return 'Gap: matching outcomes unknown'
  if (gap === null) return 'Gap: no quotes on one side'
  return `Gap for ${outcome}: ${venueText(b)} less ${venueText(a)}, at the midpoints`
}

const vetoText = (veto: string): string => veto.replaceAll('_', ' ')
