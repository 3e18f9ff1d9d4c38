import { type Static, Type } from '@sinclair/typebox'
import type { EngineView, MarketView } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import {
  type Bar,
  barSizeOf,
  barStart,
  CANDLE_MS,
  type CandleInterval,
  invertedBar,
} from '../../engine/market/candle.ts'
import { TIME_ZERO, type TimeMs, timeMs } from '../../engine/units.ts'
import {
  type CandlePage,
  type CandleRange,
  filledCandles,
  pageStart,
  quotedCandles,
  tradedCandles,
} from '../pages/candles.ts'
import {
  cursorText,
  DATA_START,
  timeParameters,
  timeRangeOf,
  withDataStart,
} from '../pages/time-range.ts'
import type { AnswerCache } from '../records/fact-cache.ts'
import { candleText } from '../records/render.ts'
import { findMarket, outcomeIndexOf } from '../request/find-market.ts'
import { type Answer, jsonText } from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'
import { writeInSlices } from '../request/time-slices.ts'
import { CandlesSchema, choice, parameters } from '../schemas.ts'

/** Numeric values of `interval` are minutes. */
const INTERVALS = {
  '1m': '1m',
  '5m': '5m',
  '15m': '15m',
  '1h': '1h',
  '4h': '4h',
  '1d': '1d',
  '1': '1m',
  '5': '5m',
  '15': '15m',
  '60': '1h',
  '240': '4h',
  '1440': '1d',
} as const satisfies Record<string, CandleInterval>

const Query = Type.Object({
  interval: choice(
    ['1m', '5m', '15m', '1h', '4h', '1d', '1', '5', '15', '60', '240', '1440'] as const,
    { default: '1h', synonyms: INTERVALS },
  ),
  start_time: timeParameters.start_time,
  end_time: timeParameters.end_time,
  limit: parameters.limit(1000, 300),
  cursor: timeParameters.cursor,
  outcome: parameters.text(),
  gap_fill: parameters.flag(false),
  history: parameters.flag(false),
})

type CandlesQuery = Static<typeof Query>

interface CandleRouteParts {
  readonly engine: Pick<EngineView, 'catalog' | 'pastPrices'>
  readonly clock: Clock
  readonly answers: AnswerCache
}

export function candleRoutes(parts: CandleRouteParts): readonly Route[] {
  const { catalog } = parts.engine
  return [
    route(
      'GET /v1/markets/{market_id}/candles',
      {
        group: 'Market Data',
        summary: 'Candles of the trades of a market',
        description:
          'A page holds the newest `limit` candles of the range, oldest first; `cursor` is where its first one opens, and leads to older ones. The candle in which `start_time` lies belongs to the range. Where nothing was traded there is no candle, unless `gap_fill=true`: then each one from the first trade to the end of the range or now repeats the close before it; or `history=true`: then each one is made of the prices that the venue remembers, where it does, with `trades_count` 0 and no volume. Intervals of less than an hour are kept as long as trades are, the others for ever.',
        answer: CandlesSchema,
        refusals: {
          400: 'start after end, a foreign cursor, gap_fill and history at once, or an outcome that the market does not have',
          404: 'no such market',
          429: 'too many prices that are not stored yet were requested within a minute',
          503: 'the venue does not answer with its history',
        },
        headers: DATA_START,
        query: Query,
      },
      ({ path, requester }, query) =>
        candles(parts, findMarket(catalog, path('market_id')), query, requester),
    ),
  ]
}

/**
 * An answer is cached until the market trades, its outcomes are renamed or the current candle ends. Answers with the
 * venue's price history are not cached.
 */
function candles(
  parts: CandleRouteParts,
  view: MarketView,
  query: CandlesQuery,
  requester: () => Requester,
): Answer | Promise<Answer> {
  const lengthMs = CANDLE_MS[INTERVALS[query.interval]]
  return parts.answers.getLate(
    `candles ${view.ref.number} ${JSON.stringify(query)}`,
    () => [
      ...[query.history ? null : view.tradesVersion, barStart(parts.clock.nowMs(), lengthMs)],
      ...view.summary.outcomes.map(({ label }) => label),
    ],
    () => writtenCandles(parts, view, query, requester),
  )
}

async function writtenCandles(
  parts: CandleRouteParts,
  view: MarketView,
  query: CandlesQuery,
  requester: () => Requester,
): Promise<Answer> {
  const { engine, clock } = parts
  const interval = INTERVALS[query.interval]
  if (query.gap_fill && query.history) {
    throw new EngineError(
      'BAD_REQUEST',
      'gap_fill and history both say what stands where nothing was traded',
    )
  }
  const lengthMs = CANDLE_MS[interval]
  const outcomeIndex = outcomeIndexOf(view, query.outcome)
  const { fromMs, toMs, after } = timeRangeOf({ ...query, order: 'desc' })
  if (after !== null && after.ordinal !== null) {
    throw new EngineError('BAD_REQUEST', 'the cursor is none of this list')
  }
  const nowMs = clock.nowMs()
  const untilMs = after === null ? toMs : Math.min(toMs, after.timeMs - 1)
  const lastMs = query.gap_fill || query.history ? Math.min(untilMs, nowMs) : untilMs
  const range = {
    lengthMs,
    fromMs: barStart(fromMs, lengthMs),
    lastMs: barStart(lastMs, lengthMs),
    limit: query.limit,
  }
  const page = await (query.history
    ? withHistory(parts, view, range, requester())
    : (query.gap_fill ? filledCandles : tradedCandles)(view, range, clock))
  const write = (bar: Bar) =>
    candleText(outcomeIndex === 0 ? bar : invertedBar(bar), lengthMs, nowMs)
  const list = await writeInSlices(clock, page.candles, write)
  const id = JSON.stringify(view.ref.id)
  const body = `{"market_id":${id},"interval":"${interval}","candles":[${list.join(',')}],${cursorText(cursorOf(page))}}`
  const startMs = () => oldestMs(view, lengthMs) ?? engine.catalog.recordsSinceMs
  return withDataStart(jsonText(body), query.start_time, startMs)
}

/** Adds the venue's prices. Rejects with UNAVAILABLE. */
async function withHistory(
  { engine, clock }: CandleRouteParts,
  view: MarketView,
  range: CandleRange,
  requester: Requester,
): Promise<CandlePage> {
  const { lengthMs: stepMs, lastMs } = range
  const toMs = timeMs(lastMs + stepMs - 1)
  const query = { fromMs: timeMs(pageStart(range)), toMs, stepMs }
  const prices = await engine.pastPrices.range(view, query, requester)
  return quotedCandles(view, range, { clock, prices })
}

const cursorOf = ({ olderMs }: CandlePage): string | null =>
  olderMs === null ? null : String(olderMs)

function oldestMs(view: MarketView, lengthMs: number): TimeMs | null {
  const toMs = timeMs(Number.MAX_SAFE_INTEGER)
  const query = { fromMs: TIME_ZERO, toMs, order: 'asc', limit: 1 } as const
  return view.bars({ size: barSizeOf(lengthMs), ...query })[0]?.openMs ?? null
}
