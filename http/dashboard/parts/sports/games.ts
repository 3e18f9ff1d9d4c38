// The games of a day: each with the pairs that both venues list, with their prices for the same side and the gap, then
// what only one venue lists. Not for: which games there are (pages/sports.ts). Upholds DASH60.

import { gapText, priceText } from '../../format.ts'
import { html } from '../../html.ts'
import type { Games, Market } from '../../records.ts'
import { hrefOf } from '../../route.ts'
import { type LiveQuotes, type Quote, quoteOf } from '../lists/quotes.ts'
import type { Venues } from '../lists/venues.ts'
import { alignedQuotes, CONFIDENCE_TAGS, type MatchPair } from '../matches/pair.ts'

interface Game {
  /** League, sides and day, as in `nfl-dal-phi-2025-09-04`. */
  readonly key: string
  readonly title: string
  readonly pairs: readonly MatchPair[]
  /** Markets of either venue that are in none of the pairs. */
  readonly others: readonly Market[]
}

/** The games in the server's order, each with its own pairs. */
export function gamesOf({ markets }: Games, pairs: readonly MatchPair[]): readonly Game[] {
  return Object.entries(markets).map(([key, listed]) => {
    const ids = new Set(listed.map(({ id }) => id))
    const own = pairs.filter(({ a, b }) => ids.has(a.id) || ids.has(b.id))
    const paired = new Set(own.flatMap(({ a, b }) => [a.id, b.id]))
    const others = listed.filter(({ id }) => !paired.has(id))
    return { key, title: titleOf(key, listed), pairs: own, others }
  })
}

/** The shortest of its questions is the one that asks who wins; a game without any is called by its key. */
function titleOf(key: string, markets: readonly Market[]): string {
  return (
    markets.reduce(
      (title, { question }) => (title === '' || question.length < title.length ? question : title),
      '',
    ) || key
  )
}

interface GameProps {
  readonly game: Game
  readonly venues: Venues
  readonly live: LiveQuotes
}

export function GameCard({ game, venues, live }: GameProps) {
  const { key, title, pairs, others } = game
  const id = `game-${key}`
  return html`<section class="card stack game" aria-labelledby=${id} data-game=${key}>
    <h2 id=${id}>${title}</h2>
    <p class="muted game-key">${key}</p>
    <div class="scroll-x"><table class="list stacked">
      <caption class="visually-hidden">Markets of ${title}</caption>
      <thead><tr>
        <th scope="col">Market</th>
        <th scope="col" class="num">${venues.a} bid</th><th scope="col" class="num">ask</th>
        <th scope="col" class="num">${venues.b} bid</th><th scope="col" class="num">ask</th>
        <th scope="col" class="num">Gap</th>
      </tr></thead>
      <tbody>
        ${pairs.map((pair) => pairRow(pair, venues, live))}
        ${others.map((market) => marketRow(market, venues, live))}
      </tbody>
    </table></div>
  </section>`
}

function pairRow(pair: MatchPair, venues: Venues, live: LiveQuotes) {
  const { outcome, a, b, gap } = alignedQuotes(pair, live)
  const { score, confidence, explanation } = pair.match
  return html`<tr key=${pair.a.id} data-market=${pair.a.id}>
    <td class="question">
      <a href=${hrefOf('market', pair.a.id)}>${pair.a.question}</a>
      <span class="muted below">Prices of ${outcome}</span>
      <span class="muted below">${venues.b}: <a href=${hrefOf('market', pair.b.id)}>${pair.b.question}</a>${' '}
        <span class=${`tag ${CONFIDENCE_TAGS[confidence]}`} title=${explanation}>${score.toFixed(0)} ${confidence}</span></span>
    </td>
    ${quoteCells(venues.a, a)}${quoteCells(venues.b, b)}
    <td class="num" data-label="Gap" data-gap=${gap}><strong>${gapText(gap)}</strong></td>
  </tr>`
}

function marketRow(market: Market, venues: Venues, live: LiveQuotes) {
  const quote = quoteOf(market, live)
  const isOfA = market.id.startsWith(`${venues.a}_`)
  const absent = html`<td class="num muted" colspan="2" data-label=${isOfA ? venues.b : venues.a}>not listed</td>`
  return html`<tr key=${market.id} data-market=${market.id}>
    <td class="question"><a href=${hrefOf('market', market.id)}>${market.question}</a>
      ${market.status === 'open' ? null : html` <span class="tag">${market.status}</span>`}
      <span class="muted below">Prices of ${market.outcomes[0]?.label}</span></td>
    ${isOfA ? quoteCells(venues.a, quote) : absent}${isOfA ? absent : quoteCells(venues.b, quote)}
    <td class="num" data-label="Gap">–</td>
  </tr>`
}

const quoteCells = (venue: string, { bid, ask }: Quote) => [
  html`<td class="num bid" data-label=${`${venue} bid`}>${priceText(bid)}</td>`,
  html`<td class="num ask" data-label=${`${venue} ask`}>${priceText(ask)}</td>`,
]
