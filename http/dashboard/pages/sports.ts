// The games of a sport on a day, each with both venues' markets and their prices. Not for: which markets are one game:
// the server says it. Upholds DASH60, DASH61.

import { request } from '../api.ts'
import { nowMs } from '../browser.ts'
import { countText, dayAfter, isDay, localDay } from '../format.ts'
import { html } from '../html.ts'
import { useAsked } from '../parts/asked.ts'
import { ChoiceField, changeQuery, InputField } from '../parts/lists/filter-fields.ts'
import { useQuotes } from '../parts/lists/quotes.ts'
import { askVenues } from '../parts/lists/venues.ts'
import { pairsOf } from '../parts/matches/pair.ts'
import { GameCard, gamesOf } from '../parts/sports/games.ts'
import { Empty, Unanswered } from '../parts/states.ts'
import type { Games, SharedGames } from '../records.ts'
import type { PageProps } from '../route.ts'

/** Path values of the interface, with what people say. */
const SPORTS = [
  ['nfl', 'NFL'],
  ['nba', 'NBA'],
  ['mlb', 'MLB'],
  ['nhl', 'NHL'],
  ['cfb', 'College football'],
  ['cbb', 'College basketball'],
  ['pga', 'Golf (PGA)'],
  ['tennis', 'Tennis'],
] as const

export function SportsPage({ place }: PageProps) {
  const word = place.query.get('sport')
  const [sport, name] = SPORTS.find(([path]) => path === word) ?? SPORTS[0]
  const date = place.query.get('date') ?? localDay(nowMs())
  const asked = useAsked((signal) => askGames(sport, date, signal), [sport, date])
  const games = asked.kind === 'answered' ? asked.answer.games : []
  const live = useQuotes(
    games.flatMap(({ pairs, others }) => [
      ...pairs.flatMap(({ a, b }) => [a.id, b.id]),
      ...others.map(({ id }) => id),
    ]),
  )
  const go = (days: number) => () => changeQuery(place, { date: dayAfter(date, days) })
  return html`
    <h1>Sports</h1>
    <form class="row view-filters" onSubmit=${(event: Event) => event.preventDefault()}>
      <${ChoiceField} label="Sport" value=${sport} choices=${SPORTS}
        choose=${(path: string) => changeQuery(place, { sport: path })} />
      <${InputField} label="Day (US Eastern)" type="date" value=${isDay(date) ? date : ''} bounds=${{ required: 'required' }}
        choose=${(day: string) => changeQuery(place, { date: day })} />
      <div class="row days">
        <button type="button" class="quiet" onClick=${go(-1)}>Day before</button>
        <button type="button" class="quiet" onClick=${() => changeQuery(place, { date: '' })}>Today</button>
        <button type="button" class="quiet" onClick=${go(1)}>Day after</button>
      </div>
    </form>
    <${Unanswered} asked=${asked} what="games" />
    ${
      asked.kind !== 'answered'
        ? null
        : html`
      ${
        games.length === 0
          ? html`<${Empty}>No ${name} game on ${date} is listed by either venue: try a day before or after.<//>`
          : html`<p class="muted" role="status">${countText(games.length)} ${games.length === 1 ? 'game' : 'games'} on ${date}</p>`
      }
      <div class="stack">
        ${games.map(
          (game) =>
            html`<${GameCard} key=${game.key} game=${game} venues=${asked.answer.venues} live=${live} />`,
        )}
      </div>`
    }
  `
}

async function askGames(sport: string, date: string, signal: AbortSignal) {
  const options = { query: { date }, signal }
  const [venues, all, shared] = await Promise.all([
    askVenues(signal),
    request<Games>(`/v1/sports/${sport}`, options),
    request<SharedGames>(`/v1/matching-markets/sports/${sport}`, options),
  ])
  return { games: gamesOf(all, pairsOf(shared.matches, venues)), venues }
}
