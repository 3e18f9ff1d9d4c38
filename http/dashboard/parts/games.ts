// Games of a day with both venues' prices. A venue may list one market for a game, or one market for each side, exactly
// one of which wins. Closed markets no longer have a match, so their questions pair them.

import { request } from '../api.ts'
import { nowMs } from '../browser.ts'
import { capital, easternTimeText, gapText, priceText, stepDecimals, timeText } from '../format.ts'
import { html, type Shown } from '../html.ts'
import type { Games, Market, SharedGames } from '../records.ts'
import { hrefOf } from '../route.ts'
import { Price, Time } from './figures.ts'
import { isOver } from './market-facts.ts'
import {
  alignedQuotes,
  CONFIDENCE_TAGS,
  isComparable,
  type MatchPair,
  type MatchRecord,
  pairsOf,
} from './pair.ts'
import { contrary, gapOf, type LivePrices, type Quote, quoteOf } from './quotes.ts'
import { fetchVenues, type Venues, venueText } from './venues.ts'

interface Leg {
  readonly market: Market
  /** True for the market's second outcome. */
  readonly isSecond: boolean
}

/** A side that may win. `a` and `b` are the side's outcomes on each venue; null: not listed. */
interface Side {
  readonly name: string
  readonly a: Leg | null
  readonly b: Leg | null
  readonly match: MatchRecord | null
}

export interface Game {
  /** League, sides and day: `nfl-dal-phi-2025-09-04`. */
  readonly key: string
  readonly title: string
  readonly sides: readonly Side[]
  /** Matched markets with questions other than the winner. */
  readonly pairs: readonly MatchPair[]
  /** Markets in neither `sides` nor `pairs`. */
  readonly others: readonly Market[]
  /** Unix seconds; null: unknown. */
  readonly startsAt: number | null
  readonly closesAt: number | null
}

/** All markets of a game, without duplicates. */
export function marketsOf({ sides, pairs, others }: Game): readonly Market[] {
  const all = [
    ...sides.flatMap(({ a, b }) => [a?.market ?? [], b?.market ?? []].flat()),
    ...pairs.flatMap(({ a, b }) => [a, b]),
    ...others,
  ]
  return [...new Map(all.map((market) => [market.id, market])).values()]
}

export function gamesOf(
  { markets, starts_at: starts }: Games,
  pairs: readonly MatchPair[],
): readonly Game[] {
  const games = Object.entries(markets).map(([key, listed]) => {
    const ids = new Set(listed.map(({ id }) => id))
    const own = pairs.filter(({ a, b }) => ids.has(a.id) || ids.has(b.id))
    const candidates = [...listed, ...own.flatMap(({ a, b }) => [a, b])]
    const sides = sidesOf(
      [...new Map(candidates.map((market) => [market.id, market])).values()],
      own,
    )
    const shown = new Set(sides.flatMap(({ a, b }) => [a?.market.id, b?.market.id]))
    const left = own.filter(
      ({ a, b, match }) => isComparable(match) && (!shown.has(a.id) || !shown.has(b.id)),
    )
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

/** A question about one side: `Denver at Arizona: Denver`. */
const SIDE_QUESTION = /^(.+ (?:at|vs\.?) [^:]+): (.+)$/
/** A question about both sides: `Jaguars vs. Jets`, `ATP Metz: Jan Gasser vs Katya Helez`. */
const BOTH_SIDES = / (?:at|vs\.?|@) [^:]*$/
const NO_SIDES = ['yes', 'no', 'over', 'under']

const isOfBoth = ({ question, outcomes }: Market): boolean =>
  BOTH_SIDES.test(question) &&
  outcomes.every(({ label }) => !NO_SIDES.includes(label.toLowerCase()))

/** The market of the other side at the same venue. Null unless the event has exactly two such markets. */
function complementOf(market: Market, candidates: readonly Market[]): Market | null {
  const title = SIDE_QUESTION.exec(market.question)?.[1]
  const event = candidates.filter(
    ({ question, event_slug: slug }) =>
      slug === market.event_slug &&
      title !== undefined &&
      SIDE_QUESTION.exec(question)?.[1] === title,
  )
  return event.length === 2 ? (event.find(({ id }) => id !== market.id) ?? null) : null
}

function sidesOf(candidates: readonly Market[], pairs: readonly MatchPair[]): readonly Side[] {
  const sides: Side[] = []
  const taken = new Set<string>()
  for (const market of candidates.filter(isOfBoth)) {
    const pair = pairs.find(({ a, match }) => a.id === market.id && match.inverted !== null)
    const legs =
      pair === undefined ? endedLegs(market, candidates, pairs) : matchedLegs(pair, candidates)
    for (const [index, { label: name }] of market.outcomes.entries()) {
      const b = legs?.[index] ?? null
      sides.push({ name, a: leg(market, index === 1), b, match: pair?.match ?? null })
      if (b !== null) taken.add(b.market.id)
    }
  }
  for (const market of candidates) {
    const other = taken.has(market.id) ? null : complementOf(market, candidates)
    if (other === null || pairs.some(({ a, b }) => a.id === market.id || b.id === market.id))
      continue
    const name = SIDE_QUESTION.exec(market.question)?.[2] ?? market.question
    sides.push({ name, a: null, b: leg(market), match: null })
  }
  return sides
}

const leg = (market: Market, isSecond = false): Leg => ({ market, isSecond })

/** Venue b's legs, in the order of the outcomes of `a`. */
function matchedLegs({ b, match }: MatchPair, candidates: readonly Market[]): readonly Leg[] {
  const other = complementOf(b, candidates)
  const legs = [leg(b), other === null ? leg(b, true) : leg(other)]
  return match.inverted === true ? legs.reverse() : legs
}

/**
 * Like `matchedLegs`, for ended markets without a match. Null unless the other venue lists exactly two sides in a known
 * order.
 */
function endedLegs(
  market: Market,
  candidates: readonly Market[],
  pairs: readonly MatchPair[],
): readonly Leg[] | null {
  const [one, other, ...further] = candidates.filter(
    (each) => complementOf(each, candidates) !== null && !pairs.some(({ b }) => b.id === each.id),
  )
  if (one === undefined || other === undefined || further.length > 0) return null
  if ([market, one, other].every(({ status }) => status === 'open')) return null
  const isTurned = isTurnedRound(market, one, other)
  return isTurned === null ? null : isTurned ? [leg(other), leg(one)] : [leg(one), leg(other)]
}

/**
 * True if `other` corresponds to the market's first outcome, false if `one` does. Compares winners, or the order of the
 * sides if no winner is known. Null if undecided.
 */
function isTurnedRound(market: Market, one: Market, other: Market): boolean | null {
  const [won, theirs] = [winnerOf(market), [one, other].findIndex((each) => winnerOf(each) === 0)]
  if (won !== null && theirs !== -1) return won !== theirs
  const [, title = '', side] = SIDE_QUESTION.exec(other.question) ?? []
  // In titles with `at`, both venues name the visiting team first. Tennis titles have no fixed order.
  if (!title.includes(' at ') || side === undefined) return null
  return title.startsWith(`${side} at `)
}

/** Null if the market is unresolved or has no single winner. */
function winnerOf({ status, outcomes }: Market): number | null {
  const index = status === 'resolved' ? outcomes.findIndex(({ price }) => price === 1) : -1
  return index === -1 ? null : index
}

export function besides(game: Game, marketId: string): readonly Market[] {
  const rows = [
    ...game.sides.map(({ a, b }) => [a?.market, b?.market]),
    ...game.pairs.map(({ a, b }) => [a, b]),
  ]
  const others = rows.flatMap(([a, b]) => (a?.id === marketId ? b : b?.id === marketId ? a : []))
  return [...new Set(others)].flatMap((market) => market ?? [])
}

/** Rejects with ApiError. */
export async function fetchGames(sport: string, date: string, signal: AbortSignal) {
  const options = { query: { date }, signal }
  const [venues, all, shared] = await Promise.all([
    fetchVenues(signal),
    request<Games>(`/v1/sports/${sport}`, options),
    request<SharedGames>(`/v1/matching-markets/sports/${sport}`, options),
  ])
  return { games: gamesOf(all, pairsOf(shared.matches, venues)), venues }
}

/** A key of a tournament: `pga-the-masters-2026-04-09`. Its markets name players, not the event. */
const TOURNAMENT = /^pga-(.+)-\d{4}-\d{2}-\d{2}$/

/** The shortest question asks for the winner. A game without markets is named by its key. */
function titleOf(key: string, markets: readonly Market[]): string {
  const tournament = TOURNAMENT.exec(key)?.[1]
  if (tournament !== undefined) return tournament.split('-').map(capital).join(' ')
  const titles = markets.map(({ question }) => SIDE_QUESTION.exec(question)?.[1] ?? question)
  return (
    titles.reduce((one, other) => (one === '' || other.length < one.length ? other : one), '') ||
    key
  )
}

interface GameProps {
  readonly game: Game
  readonly venues: Venues
  readonly live: LivePrices
}

export function GameCard({ game, venues, live }: GameProps) {
  const { key, title, sides, pairs, others, startsAt, closesAt } = game
  const id = `game-${key}`
  const rows = [
    ...sides.map((side) => sideRow(side, live)),
    ...pairs.map((pair) => pairRow(pair, venues, live)),
    ...others.map((market) => marketRow(market, venues, live)),
  ]
  // A venue that does not list the game has no columns.
  const isAt = { a: rows.some(({ a }) => a !== null), b: rows.some(({ b }) => b !== null) }
  const isAtBoth = isAt.a && isAt.b
  const winners = [
    ...new Set(sides.flatMap(({ name, a, b }) => (hasWon(a) || hasWon(b) ? name : []))),
  ]
  return html`<section class="card stack game" aria-labelledby=${id} data-game=${key}>
    <div class="row view-head">
      <h2 id=${id}>${title} ${winners.length === 1 ? html`<span class="tag good" data-winner>${winners[0]} won</span>` : null}</h2>
      <span class="muted">${
        startsAt === null
          ? html`Closes ${moment(closesAt)}`
          : html`${startsAt * 1_000 > nowMs() ? 'Starts' : 'Started'} ${moment(startsAt)}`
      }${isAtBoth ? null : ` · not listed at ${venueText(isAt.a ? venues.b : venues.a)}`}</span>
    </div>
    <div class="scroll-x"><table class=${`list game-list ${isAtBoth ? '' : 'alone'}`}>
      <caption class="visually-hidden">Markets of ${title}</caption>
      <thead><tr>
        <th scope="col">${sides.length === 0 ? 'Market' : 'Winner'}</th>
        ${isAt.a ? venueHeads(venues.a) : null}
        ${isAt.b ? venueHeads(venues.b) : null}
        ${isAtBoth ? html`<th scope="col" class="num">Gap</th>` : null}
      </tr></thead>
      <tbody>${rows.map(
        ({ subject, question, a, b, gap }) => html`<tr key=${subject.id} ...${subject.marks}>
          <td class="question">${question}</td>
          ${isAt.a ? quoteCells(a) : null}
          ${isAt.b ? quoteCells(b) : null}
          ${isAtBoth ? html`<td class="num gap" data-gap=${gap}><strong>${gapText(gap)}</strong></td>` : null}
        </tr>`,
      )}</tbody>
    </table></div>
  </section>`
}

const venueHeads = (venue: string) =>
  html`<th scope="col" class="num">${venueText(venue)} bid</th><th scope="col" class="num">ask</th>`

/** Adds US Eastern time if it differs from the viewer's time. */
function moment(seconds: number | null) {
  if (seconds === null) return html`<${Time} atMs=${null} />`
  const atMs = seconds * 1_000
  const eastern = easternTimeText(atMs)
  const isSame = eastern.startsWith(timeText(atMs, 'past'))
  return html`<${Time} atMs=${atMs} />${isSame ? null : ` (${eastern})`}`
}

const hasWon = (at: Leg | null): boolean =>
  at !== null && winnerOf(at.market) === (at.isSecond ? 1 : 0)

interface GameRow {
  readonly subject: { readonly id: string; readonly marks: Readonly<Record<string, string>> }
  readonly question: Shown
  /** Null if the venue does not list it. */
  readonly a: Quoted | null
  readonly b: Quoted | null
  readonly gap: number | null
}

interface Quoted extends Leg {
  readonly quote: Quote
}

function sideRow({ name, a: ours, b: theirs, match }: Side, live: LivePrices): GameRow {
  const quoted = (at: Leg | null): Quoted | null => {
    if (at === null) return null
    const quote = quoteOf(at.market, live)
    return { ...at, quote: at.isSecond ? contrary(quote) : quote }
  }
  const [a, b] = [quoted(ours), quoted(theirs)]
  const isTrading = [a, b].every((each) => each?.market.status === 'open')
  const question = html`<strong>${name}</strong> ${match === null ? null : matchTag(match)}
    <span class="muted below">${[a, b].map((at) => (at === null ? null : html`${venueLink(at.market)} `))}</span>`
  return {
    ...{ subject: { id: name, marks: { 'data-side': name } }, question, a, b },
    gap:
      isTrading && a !== null && b !== null && match !== null && isComparable(match)
        ? gapOf(a.quote, b.quote)
        : null,
  }
}

const venueLink = ({ id, question, platforms }: Market) =>
  html`<a href=${hrefOf('market', id)}>${venueText(platforms[0]?.platform)}<span class="visually-hidden">: ${question}</span></a>`

const matchTag = ({ score, confidence, explanation }: MatchRecord) =>
  html`<span class=${`tag ${CONFIDENCE_TAGS[confidence]}`} title=${explanation}>${score.toFixed(1)} ${confidence}</span>`

const marketOf = (id: string): GameRow['subject'] => ({ id, marks: { 'data-market': id } })

function pairRow(pair: MatchPair, venues: Venues, live: LivePrices): GameRow {
  const { outcome, a, b, gap } = alignedQuotes(pair, live)
  return {
    subject: marketOf(pair.a.id),
    question: html`<a href=${hrefOf('market', pair.a.id)}>${pair.a.question}</a>
      <span class="muted below">Prices of ${outcome}</span>
      <span class="muted below">${venueText(venues.b)}: <a href=${hrefOf('market', pair.b.id)}>${pair.b.question}</a>${' '}
        ${matchTag(pair.match)}</span>`,
    a: { ...leg(pair.a), quote: a },
    b: { ...leg(pair.b, pair.match.inverted === true), quote: b },
    gap,
  }
}

function marketRow(market: Market, venues: Venues, live: LivePrices): GameRow {
  const quoted = { ...leg(market), quote: quoteOf(market, live) }
  const isOfA = market.id.startsWith(`${venues.a}_`)
  return {
    subject: marketOf(market.id),
    question: html`<a href=${hrefOf('market', market.id)}>${market.question}</a>
      <span class="muted below">Prices of ${market.outcomes[0]?.label}</span>`,
    ...{ a: isOfA ? quoted : null, b: isOfA ? null : quoted, gap: null },
  }
}

function quoteCells(quoted: Quoted | null) {
  const status = quoted === null ? html`<span class="muted">not listed</span>` : ended(quoted)
  // Preact needs keys here, because the number of cells changes.
  if (quoted === null || status !== null) {
    return [html`<td key="end" class="num" colspan="2">${status}</td>`]
  }
  const { quote, market } = quoted
  const decimals = stepDecimals(market.price_step)
  return (['bid', 'ask'] as const).map(
    (side) =>
      html`<td key=${side} class=${`num ${side}`}><${Price} price=${quote[side]} decimals=${decimals} /></td>`,
  )
}

/** Null while the market is open. */
function ended({ market, isSecond }: Leg) {
  const { status, outcomes } = market
  if (status === 'open') return null
  // A market that has not opened yet also has the status `closed`.
  if (status === 'closed')
    return html`<span class="tag wait">${isOver(market) ? 'closed, no result yet' : 'not trading'}</span>`
  const price = outcomes[isSecond ? 1 : 0]?.price
  if (price === 1) return html`<span class="tag good">won</span>`
  return html`<span class="tag">${price === 0 ? 'lost' : `settled at ${priceText(price)}`}</span>`
}
