// Routes of wallets. Handlers read events and positions in time slices. Each answer states whether the wallet's data is
// complete.

import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import type { CatalogView, EngineView } from '../../actors/views.ts'
import {
  WALLET_WINDOWS,
  type WalletEventView,
  type WalletIssue,
  type WalletView,
} from '../../actors/wallets/views.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import {
  type NativeMarketId,
  nativeMarketId,
  type VenueKey,
  type WalletAddress,
  walletAddress,
} from '../../engine/ids.ts'
import { USD_ZERO } from '../../engine/units.ts'
import type { WalletEventKind } from '../../engine/wallet.ts'
import { answerPage, pageRefusals } from '../pages/lists.ts'
import { answerTimePage, cursorText, timeParameters, timeRangeOf } from '../pages/time-range.ts'
import { ListCursors } from '../request/cursor.ts'
import { type Answer, failure, json, jsonText, withHeader } from '../request/reply.ts'
import { type Route, type RouteDocument, type RouteParts, route } from '../request/route.ts'
import { writeInSlices } from '../request/time-slices.ts'
import { choice, parameters } from '../schemas.ts'
import {
  ACTIVITY_KINDS,
  ACTIVITY_TYPES,
  firstOutcomeSide,
  walletActivityRecord,
  walletActivitySchema,
  walletTakerSide,
  walletTradeRecord,
  walletTradesSchema,
} from '../wallets/events.ts'
import {
  NO_POSITIONS,
  POSITION_ORDERS,
  POSITION_STATUSES,
  type PositionPage,
  positionRecord,
  readPositions,
  WalletPins,
  walletPositionsSchema,
} from '../wallets/positions.ts'
import {
  GRANULARITIES,
  PNL_POINTS_MAX,
  pnlRecord,
  pnlSchema,
  profileRecord,
  profileSchema,
  rankedRecord,
  rankingSchema,
  WALLET_ORDERS,
} from '../wallets/records.ts'

/** Text of each issue for users. The texts are plain ASCII, because a header contains them. */
const INCOMPLETE_REASONS: Readonly<Record<WalletIssue, string>> = {
  venue_lacks_kept: 'the venue no longer reports events that are stored here',
  venue_unsure: "the venue's last answers contradict each other",
  venue_withheld: 'the venue withheld a part of the history, or some of its rows cannot be read',
  venue_late: 'the venue did not answer in time, so the answer contains older data',
  venue_counts_otherwise: 'the venue reports different position sizes',
  not_read_whole: 'the history is still being read for the first time',
  not_told_yet: "the venue's last answer lacks events that are shown here",
  figures_behind: 'figures are being recalculated',
  group_unknown: 'the venue does not report the group of a converted market',
  combos:
    'bets on several markets at once are counted in combo_realized_pnl only and are in no list',
  no_live_fills:
    "the venue's stream that names wallets has ended: fills of the last minutes may be missing",
}

const DATA_COMPLETE = {
  'X-Data-Complete':
    '`true`: the answer contains everything that the venue reported up to `X-Data-As-Of`, a few seconds ago at most; ' +
    '`false`: something may be missing, or sums may be wrong, and `X-Data-Incomplete` says why',
  'X-Data-As-Of':
    'when the venue was last queried, Unix milliseconds. Later events are not in the answer, except fills from the ' +
    'stream. Absent for a wallet that has not traded',
  'X-Data-Incomplete':
    'why the answer may not be complete, `code: sentence`, separated by `; `, and how many events the venue lacks. ' +
    `${Object.entries(INCOMPLETE_REASONS)
      .map(([code, text]) => `\`${code}\`: ${text}`)
      .join('. ')}. Absent from complete answers`,
}
const ADDRESS = Type.Object({ address: parameters.address() })

const RankingQuery = Type.Object({
  window: choice(WALLET_WINDOWS, { default: 'all_time' }),
  sort_by: choice(WALLET_ORDERS, { default: 'realized_pnl' }),
  limit: parameters.limit(200, 50),
  offset: parameters.offset(),
  cursor: parameters.cursor(),
})

export function walletRoutes(parts: WalletParts): readonly Route[] {
  const { clock } = parts
  const all = { ...parts, cursors: new ListCursors(), pins: new WalletPins(clock) }
  const refusals = { 503: 'the venue does not answer and nothing is known yet, or too many wait' }
  const rangeRefusal = 'start after end, or a foreign cursor'
  const tooFew = `${refusals[503]}; or too few rows pass the filters to find a page in time`
  return [
    ranking(parts),
    ofWallet(all, '', Type.Object({}), profileAnswer, {
      summary: 'Who a wallet is, and its figures',
      description:
        'Wins and losses are markets closed for the wallet with a realised profit or loss after fees. ' +
        'Windows end now. Fees and income (rewards, rebates, yield) are no part of profits but of the ' +
        'net ones. Fees that were withheld in contracts, before 28 April 2026, count at the price of their fill.',
      answer: profileSchema,
      refusals: { ...refusals, 404: 'the wallet has not traded' },
    }),
    ofWallet(all, '/trades', TradesQuery, tradesAnswer, {
      summary: 'The trades of a wallet',
      description:
        '`price` and `side` are quoted for the first outcome. `outcome` is the one that the wallet traded. `side` is ' +
        'what the wallet did, as taker or maker (`role`, null where the venue does not say). `taker_side` is ' +
        'what the taker did with that outcome: null where `role` is null.',
      answer: walletTradesSchema,
      refusals: { 400: rangeRefusal, 503: tooFew },
    }),
    ofWallet(all, '/positions', PositionsQuery, positionsAnswer, {
      summary: 'The positions of a wallet',
      description:
        'Profits by weighted average cost. `initial_value` is what is held cost, ' +
        '`percent_pnl` the unrealised profit in hundredths of it. A loser of a resolved market is ' +
        'closed, also before it is redeemed. `summary` is of the whole wallet, whatever the filters. ' +
        'Pages keep the order of the first one, with figures as of now.',
      answer: walletPositionsSchema,
      refusals: { ...refusals, 400: 'a cursor of another list or an expired one' },
    }),
    ofWallet(all, '/pnl', PnlQuery, pnlAnswer, {
      summary: 'Profits of a wallet, in all and over time',
      description:
        'Realised figures, fees and income are those of the range, unrealised profit and wins those of ' +
        'now. The series is before fees. ' +
        `Granularity \`all\` has a point for each moment at which something was realised, at most ` +
        `${PNL_POINTS_MAX.toLocaleString('en')}: of more, evenly chosen ones, the last among them, ` +
        'each with what was realised since the one before. `pnl_to_date` counts from the beginning ' +
        'of the wallet.',
      answer: pnlSchema,
      refusals: { ...refusals, 400: 'start after end' },
    }),
    ofWallet(all, '/activity', ActivityQuery, activityAnswer, {
      summary: 'Splits, merges, redemptions and conversions of a wallet',
      description: 'A conversion stands under the first of the markets that it converted.',
      answer: walletActivitySchema,
      refusals: { 400: rangeRefusal, 503: tooFew },
    }),
  ]
}

/** Also rejects market ids of other venues, which the schema cannot do. */
function ofWallet<Q extends TProperties, P extends WalletParts>(
  parts: P,
  path: string,
  query: TObject<Q>,
  handle: (parts: P, request: WalletRequest<Static<TObject<Q>>>) => Promise<Answer>,
  document: Omit<RouteDocument, 'group' | 'headers'>,
): Route {
  const { catalog } = parts
  const { names } = catalog
  const others = names.all.filter(({ hasWallets }) => !hasWallets)
  const foreign = `an id of ${others.map(({ name }) => name).join(' or ')}`
  const { 400: badRequest, ...refusals } = document.refusals ?? {}
  const refusal = `${foreign} instead of an address`
  const inner = route(
    `GET /v1/wallets/{address}${path}`,
    {
      ...document,
      group: 'Wallets',
      headers: DATA_COMPLETE,
      refusals: {
        ...refusals,
        429: 'too many wallets that are not stored yet were requested within a minute',
        400: badRequest === undefined ? refusal : `${badRequest}; ${refusal}`,
      },
      path: ADDRESS,
      query,
    },
    (facts, values) =>
      handle(parts, {
        address: addressOf(facts.path('address')),
        query: values,
        signal: facts.signal(),
        requester: facts.requester(),
      }),
  )
  return {
    ...inner,
    respond: (facts, raw, body) =>
      others.some(({ key }) => isIdOf(key, catalog, facts.path('address')))
        ? failure(
            'BAD_REQUEST',
            `a wallet is an address of ${names.ofWallets.name}; this is ${foreign}`,
          )
        : inner.respond(facts, raw, body),
  }
}

/** True for an id with the venue's prefix and for a native id in the catalogue. */
function isIdOf(venue: VenueKey, catalog: CatalogView, text: string): boolean {
  const { names } = catalog
  if (names.split(text)?.venue === venue) return true
  return catalog.find(names.marketId(venue, nativeMarketId(text))) !== null
}

function addressOf(text: string): WalletAddress {
  const address = walletAddress(text)
  if (address === null) throw new Error(`the path's schema accepted the invalid address ${text}`)
  return address
}

function ranking({ engine }: WalletParts): Route {
  const cursors = new ListCursors()
  return route(
    'GET /v1/wallets',
    {
      group: 'Wallets',
      summary: 'The ranking of wallets that were ever asked for',
      description:
        'By realised profit or volume of a window; shorter windows than all time count whole UTC ' +
        'hours. Wins, losses and the last trade are those of all time. The ranking is cut at most every 5 s.',
      answer: rankingSchema,
      refusals: { 400: pageRefusals[400] },
      query: RankingQuery,
    },
    (_, query) => {
      const { window, sort_by, limit } = query
      return answerPage({
        ...{ cursors, query: query, binding: () => `${window} ${sort_by}` },
        read: (position) => engine.wallets.ranking({ window, sortBy: sort_by, limit, ...position }),
        answer: ({ wallets, total }, cursor) =>
          json({
            ...{ wallets: wallets.map(rankedRecord), total, window, sort_by },
            ...{ cursor, has_more: cursor !== null },
          }),
      })
    },
  )
}

/** Maximum events read per event-loop tick: about 2 ms. */
const ROWS_PER_TICK = 128
const TRADE_KINDS: ReadonlySet<WalletEventKind> = new Set(['buy', 'sell'])

interface WalletParts extends RouteParts {
  readonly engine: Pick<EngineView, 'wallets'>
}

interface WalletRequest<Query> {
  readonly address: WalletAddress
  readonly query: Query
  readonly signal: AbortSignal
  readonly requester: Requester
}

interface PositionLists {
  readonly cursors: ListCursors
  readonly pins: WalletPins
}

const { cursor, start_time, end_time, order } = timeParameters
const market_id = parameters.id()

const TradesQuery = Type.Object({
  market_id,
  side: Type.Optional(
    choice(['buy', 'sell'] as const, {
      description: 'Only trades in which the wallet did this, in terms of the first outcome.',
    }),
  ),
  taker_side: parameters.side(),
  ...{ start_time, end_time, order },
  limit: parameters.limit(500, 100),
  cursor,
})

const PositionsQuery = Type.Object({
  status: choice(POSITION_STATUSES, {
    default: 'open',
    description: 'Open positions have a value that is not realised yet.',
  }),
  market_id,
  min_balance: Type.Number({
    minimum: 0,
    default: 0.01,
    description: 'Only open positions of at least so many contracts.',
  }),
  sort_by: choice(POSITION_ORDERS, { default: 'current_value' }),
  order: parameters.order(),
  limit: parameters.limit(500, 100),
  cursor: parameters.cursor(),
})

const PnlQuery = Type.Object({
  granularity: choice(GRANULARITIES, { default: 'all' }),
  ...{ start_time, end_time },
})

const ActivityQuery = Type.Object({
  type: Type.Optional(Type.Array(choice(ACTIVITY_TYPES), { maxItems: 16 })),
  market_id,
  ...{ start_time, end_time, order },
  limit: parameters.limit(500, 100),
  cursor,
})

/** Throws NOT_FOUND if neither the venue nor this server has trades of the wallet. */
async function profileAnswer(
  { engine, catalog }: WalletParts,
  { address, signal, requester }: WalletRequest<object>,
): Promise<Answer> {
  const view = await engine.wallets.open(address, signal, requester)
  if (view === null) {
    const { name } = catalog.names.ofWallets
    throw new EngineError('NOT_FOUND', `this wallet has not traded on ${name}`)
  }
  return withCompleteness(json(profileRecord(address, view)), view)
}

async function tradesAnswer(
  parts: WalletParts,
  request: WalletRequest<Static<typeof TradesQuery>>,
): Promise<Answer> {
  const { side, taker_side: takerSide } = request.query
  const accepts = (row: WalletEventView) =>
    (side === undefined || firstOutcomeSide(row) === side) &&
    (takerSide === undefined || walletTakerSide(row) === takerSide)
  const { names } = parts.catalog
  return events(parts, request, {
    ...{ kinds: TRADE_KINDS, accepts, listName: 'trades' },
    record: (row, view) => walletTradeRecord(row, { names, proxy: view.profile.proxy }),
  })
}

/** A page of splits, merges, redemptions and conversions. */
export async function activityAnswer(
  parts: WalletParts,
  request: WalletRequest<Static<typeof ActivityQuery>>,
): Promise<Answer> {
  const types = request.query.type ?? []
  const wanted = types.length === 0 ? ACTIVITY_TYPES : types
  const kinds = new Set(wanted.map((type) => ACTIVITY_KINDS[type]))
  const { names } = parts.catalog
  return events(parts, request, {
    ...{ kinds, accepts: () => true, listName: 'activities' },
    record: (row) => walletActivityRecord(row, names),
  })
}

/**
 * A page of the ledger. Filters rows here instead of in the actor, which would scan the complete ledger in one tick if
 * few rows match.
 */
async function events(
  { engine, catalog, clock }: WalletParts,
  { address, query, signal, requester }: WalletRequest<Omit<Static<typeof ActivityQuery>, 'type'>>,
  rules: {
    readonly kinds: ReadonlySet<WalletEventKind>
    readonly accepts: (row: WalletEventView) => boolean
    readonly listName: string
    readonly record: (row: WalletEventView, view: WalletView) => object
  },
): Promise<Answer> {
  const { kinds, accepts, listName, record } = rules
  const market = marketOf(catalog, query.market_id)
  const begunAtMs = clock.monotonicMs()
  // Throws for an invalid range before the wallet is opened.
  timeRangeOf(query)
  const view = await engine.wallets.open(address, signal, requester)
  const isEmpty = view === null || market === 'none'
  const answer = await answerTimePage<WalletEventView>({
    ...{ query, clock, signal, requester, begunAtMs, listName, rowsPerTick: ROWS_PER_TICK },
    head: `"address":"${address}",`,
    read: (slice) => (isEmpty ? [] : view.events(slice)),
    positionOf: (row) => row,
    accepts: (row) =>
      market !== 'none' && kinds.has(row.event.kind) && isIn(market, row) && accepts(row),
    write: (row) => JSON.stringify(view === null ? null : record(row, view)),
  })
  return withCompleteness(answer, view)
}

function isIn(market: NativeMarketId | null, { event }: WalletEventView): boolean {
  return market === null || event.market === market || event.converted.includes(market)
}

async function positionsAnswer(
  { engine, catalog, clock, cursors, pins }: WalletParts & PositionLists,
  { address, query, signal, requester }: WalletRequest<Static<typeof PositionsQuery>>,
): Promise<Answer> {
  const { status, min_balance: balanceMin, sort_by: sortBy, order, limit } = query
  const market = marketOf(catalog, query.market_id)
  const filter = { status, market, balanceMin, sortBy, order }
  const binding = JSON.stringify([address, filter])
  let found: WalletView | null = null
  return answerPage<PositionPage>({
    ...{ cursors, binding: () => binding, query: { ...query, offset: 0 } },
    read: async (position) => {
      found = await engine.wallets.open(address, signal, requester)
      if (found === null) return NO_POSITIONS
      return readPositions({ clock, pins }, found, {
        filter,
        binding,
        pagePosition: position,
        limit,
      })
    },
    answer: async ({ rows, summary, total }, next) => {
      const texts = await writeInSlices(clock, rows, (row) =>
        JSON.stringify(positionRecord(row, catalog.names)),
      )
      const list = `"positions":[${texts.join(',')}],"summary":${JSON.stringify(summary)},"total":${total}`
      const body = `{"address":"${address}",${list},${cursorText(next)}}`
      return withCompleteness(jsonText(body), found)
    },
  })
}

async function pnlAnswer(
  { engine, clock }: WalletParts,
  { address, query, signal, requester }: WalletRequest<Static<typeof PnlQuery>>,
): Promise<Answer> {
  const { granularity } = query
  const { fromMs, toMs } = timeRangeOf({ ...query, order: 'asc' })
  const view = await engine.wallets.open(address, signal, requester)
  const figures =
    view === null
      ? { ...NO_PROFITS, asOfMs: clock.nowMs() }
      : {
          ...view.pnl({ fromMs, toMs, granularity }),
          ...{ unrealized: view.unrealized, totals: view.totals, asOfMs: view.asOfMs },
        }
  return withCompleteness(json(pnlRecord(address, granularity, figures)), view)
}

const NO_PROFITS = {
  figures: { realized: USD_ZERO, volume: USD_ZERO, trades: 0, fees: USD_ZERO, income: USD_ZERO },
  series: [],
  unrealized: USD_ZERO,
  totals: { wins: 0, losses: 0, comboRealized: USD_ZERO },
}

/** Null: any market. 'none': a market of a venue without wallets. */
function marketOf(catalog: CatalogView, id: string | undefined): NativeMarketId | null | 'none' {
  if (id === undefined) return null
  const parts = catalog.names.split(id)
  if (parts === null || !catalog.names.of(parts.venue).hasWallets) return 'none'
  // The market may have been evicted from the catalogue. Ids of this venue are in lower case.
  return catalog.find(id)?.ref.nativeId ?? nativeMarketId(parts.native.toLowerCase())
}

function withCompleteness(answer: Answer, view: WalletView | null): Answer {
  const marked = withHeader(answer, 'X-Data-Complete', String(view?.isComplete ?? true))
  if (view === null) return marked
  const dated = withHeader(marked, 'X-Data-As-Of', String(view.asOfMs))
  return view.isComplete
    ? dated
    : withHeader(dated, 'X-Data-Incomplete', incompleteReasonsText(view))
}

/** The reasons as `code: sentence`, separated by semicolons. */
function incompleteReasonsText({ issues: reasons, lacking }: WalletView): string {
  const texts = reasons.map((reason) => `${reason}: ${INCOMPLETE_REASONS[reason]}`)
  return `${texts.join('; ')}${lacking === 0 ? '' : ` (events: ${lacking})`}`
}
