import { useEffect } from 'preact/hooks'
import type { BookView } from '../../client/connect.ts'
import { request } from '../api.ts'
import { gapText, priceText, stepDecimals } from '../format.ts'
import { html } from '../html.ts'
import type { Market, MatchList } from '../records.ts'
import { hrefOf } from '../route.ts'
import { useSignal } from '../signal.ts'
import { bookOf, feeds, follow, streamState } from '../stream.ts'
import { BOOK_STATE_LABELS, bookStateOf, useBooks } from './book.ts'
import { besides, fetchGames } from './games.ts'
import { endText } from './market-facts.ts'
import {
  isComparable,
  isEnded,
  type MatchPair,
  type MatchRecord,
  MatchTags,
  PairResults,
  pairsOf,
} from './pair.ts'
import { type Crossing, contrary, crossingOf, gapOf, midOf, type Quote } from './quotes.ts'
import { Unanswered, useRequest } from './requests.ts'
import { Empty } from './states.ts'
import { fetchVenues, fullVenueText, type Venues, venueText } from './venues.ts'

interface MatchedMarket {
  readonly market: Market
  readonly match: MatchRecord
  readonly pair: MatchPair
  readonly venues: Venues
}

const LIMIT = 200

/** Reloads when the market or its matched market changes. */
export function useMatchedMarket(market: Market) {
  const { id, status, platforms } = market
  const result = useRequest(
    (signal) => fetchMatchedMarket(market, signal),
    [id, status, platforms.length],
  )
  const { again } = result
  const otherId = result.answer?.matchedMarket?.market.id ?? null
  useEffect(
    () =>
      otherId === null
        ? undefined
        : follow(
            { channel: 'lifecycle', marketIds: [otherId] },
            { onMessage: again, onGap: again },
          ),
    [otherId],
  )
  return result
}

export function MatchedMarketPanel({
  market,
  result,
}: {
  readonly market: Market
  readonly result: ReturnType<typeof useMatchedMarket>
}) {
  const { status } = market
  const { other: name = null, matchedMarket = null } = result.answer ?? {}
  const isSimilar = matchedMarket !== null && !isComparable(matchedMarket.match)
  return html`<section class="card twin" aria-labelledby="twin-title">
    <h2 id="twin-title">${name === null ? 'The other venue' : `${isSimilar ? 'Similar question at' : 'At'} ${fullVenueText(name)}`}</h2>
    <${Unanswered} result=${result} what="the matched market" />
    ${name === null || matchedMarket !== null ? null : status === 'open' ? html`<${Empty} again=${result.again}>No matching market at ${venueText(name)}.<//>` : html`<${EndedMatchedMarket} market=${market} venue=${name} />`}
    ${matchedMarket === null ? null : isSimilar ? similar(matchedMarket) : isEnded(matchedMarket.pair) ? ended(matchedMarket) : found(market, matchedMarket)}
  </section>`
}

/** Shown for a market that is not open and has no stored pair. The list of games may have the other venue's market. */
function EndedMatchedMarket({
  market,
  venue,
}: {
  readonly market: Market
  readonly venue: string
}) {
  const { id, status } = market
  const result = useRequest(
    async (signal) => {
      const day = gameDayOf(market)
      if (day === null) return { day, others: [] }
      const { games } = await fetchGames(day.sport, day.date, signal)
      return { day, others: games.flatMap((game) => besides(game, id)) }
    },
    [id, status],
  )
  if (result.answer === null)
    return html`<${Unanswered} result=${result} what="the matched market" />`
  const { day, others } = result.answer
  return html`
    ${others.length === 0 ? html`<${Empty}>No matching market at ${venueText(venue)}.<//>` : null}
    ${others.map(
      (one) => html`<div key=${one.id} data-twin=${one.id}>
        <p class="question"><a href=${hrefOf('market', one.id)}>${one.question}</a></p>
        <p class="muted">${endText(one) ?? 'Still trading'}</p>
      </div>`,
    )}
    ${day === null ? null : html`<p><a href=${hrefOf('sports', null, { ...day })}>All games of the day</a></p>`}
  `
}

/** Sports of the API, with the prefix of their event names on both venues. */
const GAMES: readonly (readonly [sport: string, pattern: RegExp])[] = [
  ['nfl', /^(kx)?nfl/],
  ['nba', /^(kx)?nba/],
  ['mlb', /^(kx)?mlb/],
  ['nhl', /^(kx)?nhl/],
  ['cfb', /^(cfb|kxncaaf)/],
  ['cbb', /^(cbb|cwbb|kxncaa[mw]?b)/],
  ['tennis', /^(kx)?(atp|wta|itf)/],
]
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Null if the event is not a game. */
export function gameDayOf({ event_slug: slug }: Pick<Market, 'event_slug'>) {
  const event = slug?.toLowerCase() ?? ''
  const sport = GAMES.find(([, pattern]) => pattern.test(event))?.[0]
  const [, ofSlug] = /-(\d{4}-\d{2}-\d{2})(?:-|$)/.exec(event) ?? []
  const [, year, month = '', day] = /-(\d{2})([a-z]{3})(\d{2})/.exec(event) ?? []
  const number = MONTHS.indexOf(month) + 1
  const ofTicker = number === 0 ? null : `20${year}-${String(number).padStart(2, '0')}-${day}`
  const date = ofSlug ?? ofTicker
  return sport === undefined || date === null ? null : { sport, date }
}

/** Rejects with ApiError. */
export async function fetchMatchedMarket(market: Market, signal: AbortSignal) {
  const venues = await fetchVenues(signal)
  const isOfA = market.platforms[0]?.platform === venues.a
  const { matches } = await request<MatchList>('/v1/matching-markets', {
    query: { ...filterOf(market, isOfA), status: 'all', limit: LIMIT },
    signal,
  })
  const other = isOfA ? venues.b : venues.a
  const pair = pairsOf(matches, venues).find(({ a, b }) => [a.id, b.id].includes(market.id))
  if (pair === undefined) return { other, matchedMarket: null }
  const matchedMarket = { market: isOfA ? pair.b : pair.a, match: pair.match, pair, venues }
  return { other, matchedMarket }
}

/** Venue a's markets are found by slug, venue b's by event. */
function filterOf({ slug, event_slug: event }: Market, isOfA: boolean) {
  return isOfA ? { market_slug: slug } : { event_ticker: event ?? slug }
}

/** Prices of different questions are not compared, so the difference comes first. */
const similar = ({ market: { id, question, status }, match }: MatchedMarket) => html`
  <p data-difference>${match.explanation}</p>
  <p class="question"><a href=${hrefOf('market', id)}>${question}</a></p>
  <${MatchTags} match=${match} />
  ${status === 'open' ? null : html`<p><span class="tag">${status}</span></p>`}
  <p class="muted">Prices are compared only for the same question with a score of at least 80.</p>
`

const ended = ({ match, pair, venues }: MatchedMarket) => html`
  <${PairResults} pair=${pair} venues=${venues} />
  <${MatchTags} match=${match} />
  <p class="muted">${match.explanation}</p>
`

function found(market: Market, matchedMarket: MatchedMarket) {
  const { score, confidence, relation, inverted, explanation } = matchedMarket.match
  const [first, otherFirst] = [market.outcomes[0]?.label, matchedMarket.market.outcomes[0]?.label]
  return html`
    <p class="question"><a href=${hrefOf('market', matchedMarket.market.id)}>${matchedMarket.market.question}</a></p>
    <p class="row">
      <span class="tag">${confidence}</span>
      <span class="muted">score ${score.toFixed(1)} of 100, ${relation}</span>
    </p>
    ${
      inverted === true
        ? html`<p>Inverted: “${otherFirst}” there is the opposite of “${first}” here. Prices are converted to “${first}”.</p>`
        : null
    }
    <${MatchedPrices} market=${market} matchedMarket=${matchedMarket.market} inverted=${inverted} />
    <p class="muted">${explanation}</p>
  `
}

function MatchedPrices({
  market,
  matchedMarket,
  inverted,
}: {
  readonly market: Market
  readonly matchedMarket: Market
  readonly inverted: boolean | null
}) {
  useBooks([market.id, matchedMarket.id])
  const { state: connection } = useSignal(streamState)
  const venueFeeds = useSignal(feeds)
  const [here, there] = [market, matchedMarket].map((one) => {
    const platform = one.platforms[0]?.platform ?? ''
    const book = bookOf(one.id, 1)
    return {
      platform,
      quote: quoteOf(book),
      state: bookStateOf(book, connection, venueFeeds.get(platform) ?? null),
    }
  })
  if (here === undefined || there === undefined) return null
  // Converts the quote of the other venue to the first outcome of `market`; null if the equivalent outcome is unknown.
  const theirs = inverted === null ? null : inverted ? contrary(there.quote) : there.quote
  const other = theirs ?? there.quote
  const decimals = [
    stepDecimals(market.price_step),
    stepDecimals(matchedMarket.price_step),
  ] as const
  const isLive = here.state === 'live' && there.state === 'live'
  return html`
    <div class="scroll-x">
      <table class="list twin-prices" data-live=${isLive}>
        <caption>${
          theirs === null
            ? 'Each venue’s own first outcome'
            : `“${market.outcomes[0]?.label ?? ''}” at both venues`
        }</caption>
        <thead>
          <tr>
            <td></td>
            <th scope="col" class="num">${venueText(here.platform)}</th>
            <th scope="col" class="num">${venueText(there.platform)}</th>
          </tr>
        </thead>
        <tbody>
          ${figures('bid', 'Best bid', [here.quote.bid, other.bid], decimals)}
          ${figures('ask', 'Best ask', [here.quote.ask, other.ask], decimals)}
          ${figures('mid', 'Midpoint', [midOf(here.quote), midOf(other)], decimals)}
        </tbody>
      </table>
    </div>
    ${theirs === null ? html`<p>The corresponding outcome is unknown, so no gap is shown.</p>` : gapSummary({ ...crossingOf(here.quote, theirs), gap: gapOf(here.quote, theirs) }, venueText(here.platform), venueText(there.platform))}
    ${[here, there]
      .filter(({ state }) => state !== 'live')
      .map(
        ({ platform, state }) =>
          html`<p class="muted" key=${platform}>${venueText(platform)}: ${BOOK_STATE_LABELS[state]}.</p>`,
      )}
  `
}

type MaybePrice = number | null

function figures(
  name: string,
  title: string,
  [ours, theirs]: readonly [MaybePrice, MaybePrice],
  [ourDecimals, theirDecimals]: readonly [number, number],
) {
  return html`<tr data-figure=${name}>
    <th scope="row">${title}</th>
    <td class="num">${priceText(ours, ourDecimals)}</td>
    <td class="num">${priceText(theirs, theirDecimals)}</td>
  </tr>`
}

function gapSummary(
  { gap, left, buyAt }: Crossing & { readonly gap: number | null },
  here: string,
  there: string,
) {
  const [from, to] = buyAt === 'ours' ? [here, there] : [there, here]
  return html`<dl class="stack gaps">
    <div><dt>Price gap</dt> <dd data-figure="gap">${gapText(gap)}</dd></div>
    <div>
      <dt>After crossing both spreads</dt>
      <dd><span data-figure="crossed" class=${left !== null && left > 0 ? 'up' : ''}>${gapText(left)}</span>${
        left === null
          ? ' (a side is empty)'
          : left > 0
            ? ` bought at ${from}, sold at ${to}, before fees`
            : ': no profit'
      }</dd>
    </div>
  </dl>`
}

function quoteOf(book: BookView | null): Quote {
  return { bid: book?.bids[0]?.price ?? null, ask: book?.asks[0]?.price ?? null }
}
