import { type Static, Type } from '@sinclair/typebox'
import {
  MATCH_ORDERS,
  MATCH_STATUSES,
  type MatchFilter,
  type MatchListView,
  type MatchPage,
  type MatchView,
} from '../../actors/matches/views.ts'
import type { EngineView, GamesView, MarketView } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import type { HandleForm, VenueKey } from '../../engine/ids.ts'
import { MATCH_SCORE } from '../../engine/matching/veto/vetoes.ts'
import { SPORTS } from '../../engine/sports/leagues.ts'
import type { VenueFacts, VenueTable } from '../../engine/venue-table.ts'
import { answerPage, listAnswer, pageRefusals } from '../pages/lists.ts'
import type { MarketRecords } from '../records/markets.ts'
import {
  CONFIDENCES,
  type ListedMatch,
  listedMatches,
  matchSchemas,
  matchText,
  RELATIONS,
} from '../records/matches.ts'
import { ListCursors } from '../request/cursor.ts'
import { gamesOn } from '../request/find-market.ts'
import type { Answer } from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'
import { partsAnswer, separated } from '../request/time-slices.ts'
import { choice, parameters } from '../schemas.ts'
import { venueAliases } from '../validation/query.ts'

interface MatchRouteParts {
  readonly clock: Clock
  readonly engine: Pick<EngineView, 'sports'> & { readonly matches: MatchListView }
  readonly records: Pick<MarketRecords, 'bytes'>
  readonly names: VenueTable
  /** The name of this process in its cluster, or null. */
  readonly issuer?: string | null
}

export function matchRoutes(parts: MatchRouteParts): readonly Route[] {
  const cursors = new ListCursors(parts.issuer)
  const { names } = parts
  const schemas = matchSchemas(names)
  const list = listQuery(names)
  const day = Type.Object({
    date: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  })
  return [
    route(
      'GET /v1/matching-markets',
      {
        group: 'Cross-Platform',
        summary:
          'Markets that ask the same on both venues, the surest first unless sorted otherwise',
        description:
          'score / 100 is the chance that Yes means Yes; 80 and above is `high`. A market is in ' +
          'one match at most. `vetoes` are the reasons that capped a score: what contradicts, or `not_said` ' +
          'where the texts leave open what would decide (`explanation` names it). `price_gap` is the ' +
          'midpoint of the second venue less that of the first. `min_gap` and `sort_by=price_gap` ask ' +
          'for its width, either way; `volume` is that of both markets over 24 hours. ' +
          '`sort_by=price_gap` lists `identical` pairs with a score of at least 80, unless `relation`, ' +
          '`min_score` or `confidence` selects others. `status` selects pairs by the state of their markets: ' +
          'a pair of the same question with a score of at least 80 stays listed for 30 days after both results, and `settled` has ' +
          'what each venue pays for the outcome that the first market quotes.',
        answer: schemas.list,
        isNamed: true,
        refusals: { 400: pageRefusals[400] },
        query: list,
      },
      (_, query) => listMatches(parts, cursors, query),
    ),
    route(
      'GET /v1/matching-markets/sports/{sport}',
      {
        group: 'Cross-Platform',
        summary: 'Games of one sport and day that both venues list, with their matches',
        description:
          'The date is the US Eastern day of the game, today unless given. `total` counts the matches.',
        answer: schemas.games,
        isNamed: true,
        refusals: { 400: 'a date that no calendar has' },
        path: Type.Object({ sport: choice(SPORTS) }),
        query: day,
      },
      ({ path }, query) => gamesOf(parts, path('sport'), query.date),
    ),
  ]
}

const listQuery = (names: VenueTable) =>
  Type.Object({
    min_score: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
    search: parameters.search(),
    market_slug: parameters.list(...venueAliases(names, 'slug')),
    event_ticker: parameters.list(...venueAliases(names, 'ticker')),
    confidence: Type.Optional(choice(CONFIDENCES)),
    relation: Type.Optional(choice(RELATIONS)),
    status: choice(MATCH_STATUSES, { default: 'open' }),
    min_gap: Type.Number({ minimum: 0, maximum: 1, default: 0 }),
    sort_by: choice(MATCH_ORDERS, { default: 'score' }),
    limit: parameters.limit(200, 20),
    offset: parameters.offset(),
    cursor: parameters.cursor(),
  })

const namedBy = (names: VenueTable, form: HandleForm): readonly VenueFacts[] =>
  names.all.filter(({ handles }) => handles === form)
const keysOf = (names: VenueTable, form: HandleForm): readonly VenueKey[] =>
  namedBy(names, form).map(({ key }) => key)

function listMatches(
  parts: MatchRouteParts,
  cursors: ListCursors,
  query: Static<ReturnType<typeof listQuery>>,
): Answer | Promise<Answer> {
  const search = query.search?.trim() ?? ''
  const { min_score: scoreMin, relation = null } = query
  // A gap between different questions is no price difference, so such pairs must be requested.
  const isSameOnly =
    query.sort_by === 'price_gap' &&
    scoreMin === undefined &&
    query.confidence === undefined &&
    (relation === null || relation === 'identical')
  const filter: MatchFilter = {
    status: query.status,
    scoreMin: scoreMin ?? (isSameOnly ? MATCH_SCORE : 0),
    search: search === '' ? null : search,
    slugs: { venues: keysOf(parts.names, 'slug'), texts: query.market_slug ?? [] },
    events: { venues: keysOf(parts.names, 'ticker'), texts: query.event_ticker ?? [] },
    confidence: query.confidence ?? null,
    relation: isSameOnly ? 'identical' : relation,
    gapMin: query.min_gap,
  }
  const { clock } = parts
  const { limit, sort_by: sortBy } = query
  return answerPage<MatchPage>({
    cursors,
    query,
    binding: () => `${sortBy} ${JSON.stringify(filter)}`,
    read: (position) => parts.engine.matches.listMatches({ filter, sortBy, limit, ...position }),
    answer: ({ matches, total }, cursor) => {
      const nowMs = clock.nowMs()
      const write = (listed: ListedMatch) => matchText(parts, listed, nowMs)
      return listAnswer(clock, {
        name: 'matches',
        rows: listedMatches(matches),
        total,
        cursor,
        write,
      })
    },
  })
}

async function gamesOf(
  parts: MatchRouteParts,
  sportName: string,
  requestedDate: string | undefined,
): Promise<Answer> {
  const { engine, clock, names } = parts
  const { sport, date, games } = await gamesOn(engine.sports, sportName, requestedDate)
  const shared = sharedGames(games)
  const matches = matchesIn(engine.matches, shared)
  const listings = Object.fromEntries(
    shared.map(([key, markets]) => [key, entriesOf(markets, names)]),
  )
  const nowMs = clock.nowMs()
  const texts = [
    `{"markets":${JSON.stringify(listings)},"sport":"${sport}","date":"${date}","matches":[`,
    ...separated(listedMatches(matches)),
    `],"total":${matches.length}}`,
  ]
  return partsAnswer(clock, texts, (listed) => matchText(parts, listed, nowMs))
}

type Game = readonly [key: string, markets: readonly MarketView[]]

function sharedGames(games: GamesView): readonly Game[] {
  return [...games].flatMap(([key, { markets }]) => {
    const venues = new Set(markets.map(({ ref }) => ref.venue))
    return venues.size >= 2 ? [[key, markets] as const] : []
  })
}

/** Highest confidence first. */
function matchesIn(view: MatchListView, games: readonly Game[]): readonly MatchView[] {
  const found = new Set<MatchView>()
  for (const [, markets] of games) {
    for (const { ref } of markets) {
      const match = view.matchOfFirst(ref.number)
      if (match !== null) found.add(match)
    }
  }
  return [...found].sort(
    (one, other) =>
      other.pairScore.score - one.pairScore.score || one.a.ref.number - other.a.ref.number,
  )
}

/** An entry per event of venues that use tickers, followed by an entry per market of venues that use slugs. */
function entriesOf(markets: readonly MarketView[], names: VenueTable): readonly object[] {
  const events = new Map<
    string,
    { platform: string; event_ticker: string; market_tickers: string[] }
  >()
  const entries: object[] = []
  for (const { ref, summary } of markets) {
    if (names.of(ref.venue).handles === 'slug') {
      const token_ids = summary.outcomes.map(({ id }) => id)
      entries.push({ platform: ref.platform, market_slug: summary.slug, token_ids })
      continue
    }
    const event_ticker = summary.event ?? ref.nativeId
    const existing = events.get(event_ticker)
    if (existing !== undefined) existing.market_tickers.push(ref.nativeId)
    else {
      const market_tickers = [ref.nativeId]
      events.set(event_ticker, { platform: ref.platform, event_ticker, market_tickers })
    }
  }
  return [...events.values(), ...entries]
}
