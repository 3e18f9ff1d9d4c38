// The games of a day: each with a row for either side, at which price both venues trade it, and the gap; then the other
// markets that both venues list, and what only one of them does. Two markets of one venue of which exactly one wins are the
// two sides of a game. Not for: which games there are (pages/sports.ts). Upholds DASH60, DASH86.

import { nowMs } from '../../browser.ts'
import { gapText, priceText } from '../../format.ts'
import { html } from '../../html.ts'
import type { Games, Market } from '../../records.ts'
import { hrefOf } from '../../route.ts'
import { contrary, gapOf, type LiveQuotes, type Quote, quoteOf } from '../lists/quotes.ts'
import { type Venues, venueText } from '../lists/venues.ts'
import {
  alignedQuotes,
  CONFIDENCE_TAGS,
  type MatchPair,
  type MatchRecord,
} from '../matches/pair.ts'
import { Time } from '../time.ts'

/** Where a side is traded. */
interface Leg {
  readonly market: Market
  /** The side is the market's second outcome. */
  readonly isSecond: boolean
}

/** A side that may win: where each venue trades it; null: nowhere. */
interface Side {
  readonly name: string
  readonly a: Leg | null
  readonly b: Leg | null
  /** By which the venues' markets are known to mean the same; null: one venue alone. */
  readonly match: MatchRecord | null
}

interface Game {
  /** League, sides and day, as in `nfl-dal-phi-2025-09-04`. */
  readonly key: string
  readonly title: string
  readonly sides: readonly Side[]
  /** Of other questions than who wins. */
  readonly pairs: readonly MatchPair[]
  /** Markets of either venue that are neither a side nor in one of the pairs. */
  readonly others: readonly Market[]
  /** Unix seconds; null: not known. */
  readonly startsAt: number | null
  readonly closesAt: number | null
}

/** The games in order of time, each with its own sides and pairs; what is not known comes last. */
export function gamesOf(
  { markets, starts_at: starts }: Games,
  pairs: readonly MatchPair[],
): readonly Game[] {
  const games = Object.entries(markets).map(([key, listed]) => {
    const ids = new Set(listed.map(({ id }) => id))
    const own = pairs.filter(({ a, b }) => ids.has(a.id) || ids.has(b.id))
    const known = [...listed, ...own.flatMap(({ a, b }) => [a, b])]
    const sides = sidesOf([...new Map(known.map((market) => [market.id, market])).values()], own)
    const shown = new Set(sides.flatMap(({ a, b }) => [a?.market.id, b?.market.id]))
    const left = own.filter(({ a, b }) => !shown.has(a.id) || !shown.has(b.id))
    for (const { a, b } of left) shown.add(a.id).add(b.id)
    const others = listed.filter(({ id }) => !shown.has(id))
    const closes = listed.flatMap(({ close_time: atSeconds }) => atSeconds ?? [])
    const closesAt = closes.length === 0 ? null : Math.min(...closes)
    const startsAt = starts[key] ?? null
    return { key, title: titleOf(key, listed), sides, pairs: left, others, startsAt, closesAt }
  })
  const atOf = ({ startsAt, closesAt }: Game) => startsAt ?? closesAt ?? Number.MAX_SAFE_INTEGER
  return games.sort((one, other) => atOf(one) - atOf(other))
}

/** `Denver at Arizona`, of which a venue asks for each side: `Denver at Arizona: Denver`. */
const ASKED_SIDE = /^(.+ (?:at|vs\.?) [^:]+): (.+)$/
/** Two sides and nothing else is asked: `Jaguars vs. Jets`, `ATP Metz: Jan Gasser vs Katya Helez`. */
const BOTH_SIDES = / (?:at|vs\.?|@) [^:]*$/
const NO_SIDES = ['yes', 'no', 'over', 'under']

const isOfBoth = ({ question, outcomes }: Market): boolean =>
  BOTH_SIDES.test(question) &&
  outcomes.every(({ label }) => !NO_SIDES.includes(label.toLowerCase()))

/** The market of the other side at the same venue, where exactly these two sides are asked for. */
function complementOf(market: Market, known: readonly Market[]): Market | null {
  const asked = ASKED_SIDE.exec(market.question)?.[1]
  const event = known.filter(
    ({ question, event_slug: slug }) =>
      slug === market.event_slug && asked !== undefined && ASKED_SIDE.exec(question)?.[1] === asked,
  )
  return event.length === 2 ? (event.find(({ id }) => id !== market.id) ?? null) : null
}

function sidesOf(known: readonly Market[], pairs: readonly MatchPair[]): readonly Side[] {
  const sides: Side[] = []
  const taken = new Set<string>()
  for (const market of known.filter(isOfBoth)) {
    const pair = pairs.find(({ a, match }) => a.id === market.id && match.inverted !== null)
    const isTurned = pair?.match.inverted === true
    const other = pair === undefined ? null : complementOf(pair.b, known)
    for (const [index, { label: name }] of market.outcomes.entries()) {
      const isPaired = (index === 1) === isTurned
      const b =
        pair === undefined
          ? null
          : isPaired
            ? leg(pair.b)
            : other === null
              ? leg(pair.b, true)
              : leg(other)
      sides.push({ name, a: leg(market, index === 1), b, match: pair?.match ?? null })
      if (b !== null) taken.add(b.market.id)
    }
  }
  for (const market of known) {
    const other = taken.has(market.id) ? null : complementOf(market, known)
    if (other === null || pairs.some(({ a, b }) => a.id === market.id || b.id === market.id))
      continue
    const name = ASKED_SIDE.exec(market.question)?.[2] ?? market.question
    sides.push({ name, a: null, b: leg(market), match: null })
  }
  return sides
}

const leg = (market: Market, isSecond = false): Leg => ({ market, isSecond })

/** The shortest of its questions is the one that asks who wins; a game without any is called by its key. */
function titleOf(key: string, markets: readonly Market[]): string {
  const titles = markets.map(({ question }) => ASKED_SIDE.exec(question)?.[1] ?? question)
  return (
    titles.reduce((one, other) => (one === '' || other.length < one.length ? other : one), '') ||
    key
  )
}

interface GameProps {
  readonly game: Game
  readonly venues: Venues
  readonly live: LiveQuotes
}

export function GameCard({ game, venues, live }: GameProps) {
  const { key, title, sides, pairs, others, startsAt, closesAt } = game
  const id = `game-${key}`
  return html`<section class="card stack game" aria-labelledby=${id} data-game=${key}>
    <div class="row view-head">
      <h2 id=${id}>${title}</h2>
      <span class="muted">${
        startsAt === null
          ? html`Closes <${Time} atMs=${closesAt === null ? null : closesAt * 1_000} />`
          : html`${startsAt * 1_000 > nowMs() ? 'Starts' : 'Started'} <${Time} atMs=${startsAt * 1_000} />`
      }</span>
    </div>
    <div class="scroll-x"><table class="list stacked game-list">
      <caption class="visually-hidden">Markets of ${title}</caption>
      <thead><tr>
        <th scope="col">${sides.length === 0 ? 'Market' : 'Winner'}</th>
        <th scope="col" class="num">${venueText(venues.a)} bid</th><th scope="col" class="num">ask</th>
        <th scope="col" class="num">${venueText(venues.b)} bid</th><th scope="col" class="num">ask</th>
        <th scope="col" class="num">Gap</th>
      </tr></thead>
      <tbody>
        ${sides.map((side) => sideRow(side, venues, live))}
        ${pairs.map((pair) => pairRow(pair, venues, live))}
        ${others.map((market) => marketRow(market, venues, live))}
      </tbody>
    </table></div>
  </section>`
}

function sideRow({ name, a, b, match }: Side, venues: Venues, live: LiveQuotes) {
  const quoteAt = (at: Leg | null): Quote | null => {
    if (at === null) return null
    const quote = quoteOf(at.market, live)
    return at.isSecond ? contrary(quote) : quote
  }
  const [ours, theirs] = [quoteAt(a), quoteAt(b)]
  const gap = ours === null || theirs === null ? null : gapOf(ours, theirs)
  const link = (venue: string, at: Leg | null) =>
    at === null
      ? null
      : html`<span class="muted below">${venueText(venue)}: <a href=${hrefOf('market', at.market.id)}>${at.market.question}</a></span>`
  return html`<tr key=${name} data-side=${name}>
    <td class="question"><strong>${name}</strong> ${
      match === null
        ? null
        : html`<span class=${`tag ${CONFIDENCE_TAGS[match.confidence]}`} title=${match.explanation}>${match.score.toFixed(1)} ${match.confidence}</span>`
    }
      ${link(venues.a, a)}${link(venues.b, b)}
    </td>
    ${venueCells(venues, ours, theirs)}
    <td class="num gap" data-label="Gap" data-gap=${gap}><strong>${gapText(gap)}</strong></td>
  </tr>`
}

/** Beside the figures of the venue that lists it. */
const absent = (venue: string, place: string) =>
  html`<td class=${`num muted ${place}`} colspan="2" data-label=${venueText(venue)}>not listed</td>`

function pairRow(pair: MatchPair, venues: Venues, live: LiveQuotes) {
  const { outcome, a, b, gap } = alignedQuotes(pair, live)
  const { score, confidence, explanation } = pair.match
  return html`<tr key=${pair.a.id} data-market=${pair.a.id}>
    <td class="question">
      <a href=${hrefOf('market', pair.a.id)}>${pair.a.question}</a>
      <span class="muted below">Prices of ${outcome}</span>
      <span class="muted below">${venueText(venues.b)}: <a href=${hrefOf('market', pair.b.id)}>${pair.b.question}</a>${' '}
        <span class=${`tag ${CONFIDENCE_TAGS[confidence]}`} title=${explanation}>${score.toFixed(1)} ${confidence}</span></span>
    </td>
    ${venueCells(venues, a, b)}
    <td class="num gap" data-label="Gap" data-gap=${gap}><strong>${gapText(gap)}</strong></td>
  </tr>`
}

function marketRow(market: Market, venues: Venues, live: LiveQuotes) {
  const quote = quoteOf(market, live)
  const isOfA = market.id.startsWith(`${venues.a}_`)
  return html`<tr key=${market.id} data-market=${market.id}>
    <td class="question"><a href=${hrefOf('market', market.id)}>${market.question}</a>
      ${market.status === 'open' ? null : html` <span class="tag">${market.status}</span>`}
      <span class="muted below">Prices of ${market.outcomes[0]?.label}</span></td>
    ${isOfA ? venueCells(venues, quote, null) : venueCells(venues, null, quote)}
    <td class="num gap" data-label="Gap">–</td>
  </tr>`
}

/** What either venue bids and asks; null: it does not list it. */
const venueCells = ({ a, b }: Venues, first: Quote | null, second: Quote | null) => [
  first === null ? absent(a, 'first') : quoteCells(a, first, 'first'),
  second === null ? absent(b, 'second') : quoteCells(b, second, 'second'),
]

const quoteCells = (venue: string, { bid, ask }: Quote, place: string) => [
  html`<td class=${`num bid ${place}`} data-label=${`${venueText(venue)} bid`}>${priceText(bid)}</td>`,
  html`<td class=${`num ask ${place}`} data-label=${`${venueText(venue)} ask`}>${priceText(ask)}</td>`,
]
