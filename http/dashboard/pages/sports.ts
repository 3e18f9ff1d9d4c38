import { useEffect, useState } from 'preact/hooks'
import type { DataMessage } from '../../client/messages.ts'
import { request } from '../api.ts'
import { nowMs } from '../browser.ts'
import { countText, dayAfter, easternDay, isDay } from '../format.ts'
import { html } from '../html.ts'
import { CsvButton } from '../parts/csv-button.ts'
import { ChoiceField, changeQuery, InputField, stay } from '../parts/filters.ts'
import { fetchGames, type Game, GameCard, marketsOf } from '../parts/games.ts'
import { useQuotes } from '../parts/quotes.ts'
import { Unanswered, useRequest } from '../parts/requests.ts'
import { Empty } from '../parts/states.ts'
import type { Games } from '../records.ts'
import type { PageProps } from '../route.ts'
import { follow } from '../stream.ts'

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

export function SportsPage({ route }: PageProps) {
  const sportParam = route.query.get('sport')
  const date = route.query.get('date') ?? easternDay(nowMs())
  const found = useFirstSport(sportParam === null && isDay(date) ? date : null)
  const [sport, name] = SPORTS.find(([path]) => path === (sportParam ?? found)) ?? SPORTS[0]
  const { result, games, live } = useGames(sport, date)
  const counts = useCounts(sport, isDay(date) && result.answer !== null ? date : null)
  const counted = SPORTS.map(([path, label]) => {
    const count = counts.get(`${path} ${date}`) ?? 0
    return [path, count === 0 ? label : `${label} (${countText(count)})`] as const
  })
  const go = (days: number) => () => changeQuery(route, { date: dayAfter(date, days) })
  return html`
    <h1>Sports</h1>
    <form class="row view-filters" onSubmit=${stay}>
      <${ChoiceField} label="Sport" value=${sport} choices=${counted}
        choose=${(path: string) => changeQuery(route, { sport: path })} />
      <${InputField} label="Day (US Eastern)" type="date" value=${isDay(date) ? date : ''} bounds=${{ required: 'required' }}
        choose=${(day: string) => changeQuery(route, { date: day })} />
      <div class="row days">
        <button type="button" class="quiet" onClick=${go(-1)}>Previous day</button>
        <button type="button" class="quiet" onClick=${() => changeQuery(route, { date: '' })}>Today</button>
        <button type="button" class="quiet" onClick=${go(1)}>Next day</button>
      </div>
    </form>
    <div class="row days week" role="group" aria-label="Days with their games">
      ${daysAround(date).map((day) => {
        const count = counts.get(`${sport} ${day}`) ?? 0
        return html`<button type="button" class="quiet" key=${day} aria-pressed=${day === date} data-count=${count}
          onClick=${() => changeQuery(route, { date: day })}>${dayText(day)}${
            count === 0
              ? null
              : html` <span class="tag">${countText(count)}<span class="visually-hidden"> games</span></span>`
          }</button>`
      })}
    </div>
    <${Unanswered} result=${result} what="games" />
    ${
      result.answer === null
        ? null
        : html`
      ${
        games.length === 0
          ? html`<${Empty} again=${result.again}>Neither venue lists ${name} games on ${date}. Try another day or sport.<//>`
          : html`<p class="muted" role="status">${countText(games.length)} ${games.length === 1 ? 'game' : 'games'} on ${dayText(date)}, a day in US Eastern time</p>`
      }
      <div class="pairs">
        ${games.map(
          (game) =>
            html`<${GameCard} key=${game.key} game=${game} venues=${result.answer?.venues} live=${live} />`,
        )}
      </div>
      ${games.length === 0 ? null : html`<${CsvButton} name="games" rows=${() => games.flatMap(gameRows)} />`}`
    }
  `
}

const gameRows = (game: Game) =>
  marketsOf(game).map((market) => ({ game: game.title, starts_at: game.startsAt, ...market }))

function useGames(sport: string, date: string) {
  const result = useRequest((signal) => fetchGames(sport, date, signal), [sport, date])
  const games = result.answer?.games ?? []
  const ids = games.flatMap((game) => marketsOf(game).map(({ id }) => id))
  const live = useQuotes(ids)
  useEffect(() => followEnds(ids, result.again), [ids.join(' ')])
  return { result, games, live }
}

/**
 * Calls `again` when one of the markets closes, resolves or gets a match. Also calls `again` when the stream becomes
 * live, because the stream does not deliver earlier changes.
 */
function followEnds(ids: readonly string[], again: () => void): (() => void) | undefined {
  const shown = new Set(ids)
  if (shown.size === 0) return undefined
  const onMessage = ({ market_id: id }: DataMessage) => shown.has(id) && again()
  return follow({ channel: 'lifecycle', all: true }, { onMessage, onGap: again, onReady: again })
}

function useFirstSport(date: string | null): string | null {
  const [sport, setSport] = useState<string | null>(null)
  useEffect(() => {
    if (date === null) return undefined
    const ending = new AbortController()
    const findSport = async () => {
      for (const [path] of SPORTS) {
        if ((await countOf(path, date, ending.signal)) > 0) return setSport(path)
      }
    }
    // Without counts, the page shows the default sport. The game list reports the error.
    findSport().catch(() => undefined)
    return () => ending.abort()
  }, [date])
  return sport
}

const daysAround = (date: string): readonly string[] =>
  isDay(date) ? [-3, -2, -1, 0, 1, 2, 3].map((days) => dayAfter(date, days)) : []

const weekday = new Intl.DateTimeFormat(undefined, {
  ...{ weekday: 'short', month: 'short', day: 'numeric', timeZone: 'UTC' },
})
const dayText = (day: string): string =>
  weekday.format(Date.parse(`${day}T00:00:00Z`)).replace(/ (?=\d)/, '\u00a0')

/** Games by sport and day. Cached until the tab closes, because the numbers rarely change. */
const countCache = new Map<string, number>()

/**
 * Counts games of all sports on the day, and of one sport on nearby days. Sends one request at a time and stops at the
 * first error. Null date: sends no request.
 */
function useCounts(sport: string, date: string | null): ReadonlyMap<string, number> {
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>(countCache)
  useEffect(() => {
    if (date === null) return undefined
    const ending = new AbortController()
    const sports = SPORTS.map(([path]) => [path, date] as const)
    const days = daysAround(date).map((day) => [sport, day] as const)
    const count = async () => {
      for (const [path, day] of [...days, ...sports]) {
        if (countCache.has(`${path} ${day}`)) continue
        await countOf(path, day, ending.signal)
        setCounts(new Map(countCache))
      }
    }
    // Days without a count show no number. The game list reports the error.
    count().catch(() => undefined)
    return () => ending.abort()
  }, [sport, date])
  return counts
}

async function countOf(sport: string, date: string, signal: AbortSignal): Promise<number> {
  const key = `${sport} ${date}`
  const answered = countCache.get(key)
  if (answered !== undefined) return answered
  const { total_events: count } = await request<Games>(`/v1/sports/${sport}`, {
    query: { date },
    signal,
  })
  countCache.set(key, count)
  return count
}
