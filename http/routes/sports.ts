import { type Static, Type } from '@sinclair/typebox'
import type {
  CatalogView,
  EngineView,
  GamesView,
  GameView,
  MarketView,
} from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { SPORTS } from '../../engine/sports/leagues.ts'
import { foldName } from '../../engine/sports/team-names.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import { type MarketRecords, SportsSchema } from '../records/markets.ts'
import { gamesOn } from '../request/find-market.ts'
import type { Answer } from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'
import { partsAnswer, separated } from '../request/time-slices.ts'
import { choice, parameters } from '../schemas.ts'

interface SportsRouteParts {
  readonly engine: Pick<EngineView, 'catalog' | 'sports'>
  readonly records: Pick<MarketRecords, 'bytes'>
  readonly clock: Clock
}

const queryOf = (names: VenueTable) =>
  Type.Object({
    date: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
    search: parameters.search('team'),
    platform: Type.Optional(choice(names.platforms)),
  })

export function sportsRoutes(parts: SportsRouteParts): readonly Route[] {
  const { names } = parts.engine.catalog
  return [
    route(
      'GET /v1/sports/{sport}',
      {
        group: 'Sports',
        summary: 'Markets of one sport and day, grouped by game',
        description:
          'The date is the US Eastern day of the game, today unless given. A key names league, ' +
          'away team, home team and date, as in `nfl-dal-phi-2025-09-04`; a golf tournament is ' +
          'found on each of its days. `starts_at` says when each begins. `search` keeps the games whose titles have all its words.',
        answer: SportsSchema,
        isNamed: true,
        refusals: { 400: 'a date that no calendar has' },
        path: Type.Object({ sport: choice(SPORTS) }),
        query: queryOf(names),
      },
      ({ path }, params) => games(parts, path('sport'), params),
    ),
  ]
}

async function games(
  parts: SportsRouteParts,
  sportName: string,
  params: Static<ReturnType<typeof queryOf>>,
): Promise<Answer> {
  const { engine, records, clock } = parts
  const { sport, date, games: all } = await gamesOn(engine.sports, sportName, params.date)
  const found = filtered(engine.catalog, all, params)
  const nowMs = clock.nowMs()
  const texts: (string | MarketView)[] = ['{"markets":{']
  for (const [index, { key, markets }] of found.entries()) {
    texts.push(`${index > 0 ? ',' : ''}${JSON.stringify(key)}:[`, ...separated(markets), ']')
  }
  const starts = Object.fromEntries(found.map(({ key, startMs }) => [key, startOf(startMs)]))
  const rest = { sport, date, total_events: found.length, starts_at: starts }
  texts.push(`},${JSON.stringify(rest).slice(1)}`)
  return partsAnswer(clock, texts, (market) => records.bytes(market, nowMs))
}

interface Group extends GameView {
  readonly key: string
}

/** Start of a game in Unix seconds. */
const startOf = (startMs: number | null): number | null =>
  startMs === null ? null : Math.floor(startMs / 1_000)

function filtered(
  catalog: CatalogView,
  all: GamesView,
  { search, platform }: Static<ReturnType<typeof queryOf>>,
): readonly Group[] {
  const words = foldName(search ?? '').split(' ')
  const isSearched = words.some((word) => word !== '')
  const groups: Group[] = []
  for (const [key, { markets, startMs }] of all) {
    if (isSearched && !hasWords(titlesOf(catalog, key, markets), words)) continue
    const shown =
      platform === undefined ? markets : markets.filter(({ ref }) => ref.platform === platform)
    if (shown.length > 0) groups.push({ key, startMs, markets: shown })
  }
  return groups
}

/** Joins the titles of both venues, so that a search finds nicknames and cities: each venue uses one of them. */
function titlesOf(catalog: CatalogView, key: string, markets: readonly MarketView[]): string {
  const titles = new Set([key])
  const seen = new Set<string>()
  for (const { ref, summary } of markets) {
    const id = `${ref.venue}/${summary.event ?? ref.nativeId}`
    if (seen.has(id)) continue
    seen.add(id)
    const event = summary.event === null ? null : catalog.event(ref.venue, summary.event)
    titles.add(event?.title ?? summary.question)
  }
  return foldName([...titles].join(' '))
}

/** True if every word is the beginning of a word of the text. */
function hasWords(text: string, words: readonly string[]): boolean {
  return words.every((word) => ` ${text}`.includes(` ${word}`))
}
