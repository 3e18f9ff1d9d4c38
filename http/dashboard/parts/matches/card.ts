// A pair of markets that ask the same on both venues: both questions, what is thought of the pair and why, and both
// prices for the same outcome with the gap between them. Not for: which pairs there are (pages/matches.ts). Upholds DASH58.

import { gapText, priceText } from '../../format.ts'
import { html } from '../../html.ts'
import type { Market } from '../../records.ts'
import { hrefOf } from '../../route.ts'
import { Time } from '../time.ts'
import type { LiveQuotes, Quote } from '../views/prices.ts'
import type { Venues } from '../views/venues.ts'
import { type AlignedQuotes, alignedQuotes, type MatchPair } from './pair.ts'

const RELATION_WORDS = {
  identical: 'the same question',
  subset: 'the first lies in the second',
  superset: 'the second lies in the first',
  overlap: 'they overlap',
  different: 'different questions',
} as const satisfies Readonly<Record<MatchPair['match']['relation'], string>>

/** Colours beside the words. */
export const CONFIDENCE_TAGS = { high: 'good', medium: 'wait', low: 'bad' } as const

interface PairProps {
  readonly pair: MatchPair
  readonly venues: Venues
  readonly live: LiveQuotes
}

export function MatchCard({ pair, venues, live }: PairProps) {
  const { match } = pair
  return html`<article class="card stack match" data-score=${match.score}>
    <div class="row match-head">
      <span class="match-score" title="The chance in percent that Yes means Yes">
        <span class="visually-hidden">Score </span>${match.score.toFixed(1)}
      </span>
      <span class=${`tag ${CONFIDENCE_TAGS[match.confidence]}`}>${match.confidence} confidence</span>
      <span class="tag">${match.relation}: ${RELATION_WORDS[match.relation]}</span>
      ${match.inverted === true ? html`<span class="tag wait">inverted: Yes of one is No of the other</span>` : null}
      ${match.vetoes.map((veto) => html`<span class="tag bad" key=${veto}>veto: ${wordsOfVeto(veto)}</span>`)}
    </div>
    <${PairPrices} pair=${pair} venues=${venues} live=${live} />
    <p class="muted match-why">${match.explanation} Found <${Time} atMs=${match.matched_at * 1_000} />.</p>
  </article>`
}

/** Both questions with their prices for the same outcome. */
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
        ${side(venues.b, pair.b, quotes.twinOutcome ?? 'an outcome that is not known', quotes.b)}
      </tbody>
    </table></div>
    <p class="match-gap" data-gap=${quotes.gap}>
      <span>${gapWords(quotes, venues)}</span> <strong class="num">${gapText(quotes.gap)}</strong>
    </p>`
}

function side(venue: string, market: Market, outcome: string, { bid, ask }: Quote) {
  return html`<tr data-market=${market.id}>
    <td class="question"><a href=${hrefOf('market', market.id)}>${market.question}</a>
      <span class="muted below">${venue}, ${outcome}</span></td>
    <td class="num bid">${priceText(bid)}</td>
    <td class="num ask">${priceText(ask)}</td>
  </tr>`
}

function gapWords({ outcome, twinOutcome, gap }: AlignedQuotes, { b }: Venues): string {
  if (twinOutcome === null) return 'Gap: it is not known which outcomes mean the same'
  if (gap === null) return 'Gap: a side of one book is empty'
  return `Gap between midpoints for ${outcome}, ${b} less the other`
}

const wordsOfVeto = (veto: string): string => veto.replaceAll('_', ' ')
