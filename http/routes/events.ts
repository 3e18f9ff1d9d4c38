import { type Static, Type } from '@sinclair/typebox'
import type { EventFilter, EventPage, EventView, MarketView } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import { toNumber } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import { answerPage, pageRefusals, volumeMin } from '../pages/lists.ts'
import { cursorText } from '../pages/time-range.ts'
import { EventSchema, EventsSchema, type MarketRecords } from '../records/markets.ts'
import { ListCursors } from '../request/cursor.ts'
import type { Answer } from '../request/reply.ts'
import { type Route, type RouteParts, route } from '../request/route.ts'
import { partsAnswer, separated } from '../request/time-slices.ts'
import { choice, parameters } from '../schemas.ts'

const LISTED_MARKETS_MAX = 10
const MARKETS_MAX = 500

interface EventRouteParts extends RouteParts {
  readonly records: MarketRecords
}

export function eventRoutes(parts: EventRouteParts): readonly Route[] {
  const { catalog } = parts
  const cursors = new ListCursors(parts.issuer)
  return [
    route(
      'GET /v1/events',
      {
        group: 'Events',
        summary: 'Events of both venues, by 24-hour volume',
        description: `\`markets\` are at most the ${LISTED_MARKETS_MAX} with most 24-hour volume; \`market_count\` is the true number.`,
        answer: EventsSchema,
        isNamed: true,
        refusals: { 400: pageRefusals[400] },
        query: listQuery(catalog.names.platforms),
      },
      (_, query) => listEvents(parts, cursors, query),
    ),
    route(
      'GET /v1/events/{slug}',
      {
        group: 'Events',
        summary: 'One event with its markets',
        description: `\`markets\` are at most the ${MARKETS_MAX} with most 24-hour volume; \`market_count\` is the true number.`,
        answer: EventSchema,
        isNamed: true,
        refusals: { 404: 'no such event' },
        query: Type.Object({ include_markets: parameters.flag(true) }),
      },
      ({ path }, query) => oneEvent(parts, path('slug'), query.include_markets),
    ),
  ]
}

const listQuery = (platforms: readonly string[]) =>
  Type.Object({
    platform: Type.Optional(choice(platforms)),
    status: parameters.status(),
    search: parameters.search(),
    min_volume: parameters.volume(),
    min_total_volume: parameters.volume(),
    category: parameters.text(),
    tags: parameters.list(),
    include_markets: parameters.flag(true),
    limit: parameters.limit(200, 20),
    offset: parameters.offset(),
    cursor: parameters.cursor(),
  })

function listEvents(
  parts: EventRouteParts,
  cursors: ListCursors,
  query: Static<ReturnType<typeof listQuery>>,
): Answer | Promise<Answer> {
  const { catalog } = parts
  const search = query.search?.trim() ?? ''
  const filter: EventFilter = {
    venue: query.platform === undefined ? null : catalog.names.venue(query.platform),
    status: query.status ?? null,
    search: search === '' ? null : search,
    tags: query.tags ?? [],
    category: query.category ?? null,
    volume24hMin: volumeMin(query.min_volume),
    volumeTotalMin: volumeMin(query.min_total_volume),
  }
  const marketsMax = query.include_markets ? LISTED_MARKETS_MAX : 0
  return answerPage<EventPage>({
    cursors,
    query: query,
    binding: () => JSON.stringify(filter),
    read: (position) => catalog.listEvents({ filter, limit: query.limit, ...position }),
    answer: ({ events, total }, cursor) =>
      answerEvents(parts, events, marketsMax, {
        start: '{"events":[',
        end: `],"total":${total},${cursorText(cursor)}}`,
      }),
  })
}

function oneEvent(
  parts: EventRouteParts,
  slug: string,
  isWithMarkets: boolean,
): Answer | Promise<Answer> {
  const event = parts.catalog.eventBySlug(slug)
  if (event === null) throw new EngineError('NOT_FOUND', 'no such event')
  return answerEvents(parts, [event], isWithMarkets ? MARKETS_MAX : 0, ALONE)
}

interface Around {
  readonly start: string
  readonly end: string
}

const ALONE: Around = { start: '', end: '' }

/**
 * Reads the events' figures in this tick. Writes their markets in time slices, since up to 2,000 markets may have
 * descriptions on disk.
 */
function answerEvents(
  { clock, records, catalog }: EventRouteParts,
  events: readonly EventView[],
  marketsMax: number,
  { start, end }: Around,
): Answer | Promise<Answer> {
  const texts: (string | MarketView)[] = [start]
  for (const [index, event] of events.entries()) {
    if (index > 0) texts.push(',')
    texts.push(...eventParts(event, marketsMax, catalog.names))
  }
  texts.push(end)
  const nowMs = clock.nowMs()
  return partsAnswer(clock, texts, (view) => records.bytes(view, nowMs))
}

/** The text before the markets, the markets, and the text after the markets. */
function eventParts(
  event: EventView,
  marketsMax: number,
  names: Pick<VenueTable, 'of'>,
): (string | MarketView)[] {
  const { summary } = event
  const head = JSON.stringify({ slug: summary.slug, title: summary.title, status: event.status })
  const rest = JSON.stringify({
    market_count: event.marketCount,
    total_volume_24h: toNumber(event.volume24h),
    platforms: [event.platform],
    total_volume: toNumber(event.volumeTotal),
    volume_unit: names.of(summary.venue).volumeUnit,
    category: summary.category,
    tags: summary.tags,
  })
  const markets = marketsMax === 0 ? [] : event.markets(marketsMax)
  return [`${head.slice(0, -1)},"markets":[`, ...separated(markets), `],${rest.slice(1)}`]
}
