// Answers about one wallet. They fetch from the wallet actor, read events and positions in time slices, and report
// whether the wallet's data is complete.

import { type Static, Type } from '@sinclair/typebox'
import type { CatalogView, EngineView } from '../../actors/views.ts'
import type { WalletEventView, WalletIssue, WalletView } from '../../actors/wallets/views.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import { type NativeMarketId, nativeMarketId, type WalletAddress } from '../../engine/ids.ts'
import { USD_ZERO } from '../../engine/units.ts'
import type { WalletEventKind } from '../../engine/wallet.ts'
import { answerPage } from '../pages/lists.ts'
import { answerTimePage, cursorText, timeParameters, timeRangeOf } from '../pages/time-range.ts'
import type { ListCursors } from '../request/cursor.ts'
import { type Answer, json, jsonText, withHeader } from '../request/reply.ts'
import type { RouteParts } from '../request/route.ts'
import { writeInSlices } from '../request/time-slices.ts'
import { choice, parameters } from '../schemas.ts'
import {
  ACTIVITY_KINDS,
  ACTIVITY_TYPES,
  firstOutcomeSide,
  walletActivityRecord,
  walletTakerSide,
  walletTradeRecord,
} from './events.ts'
import type { WalletPins } from './pins.ts'
import {
  NO_POSITIONS,
  POSITION_ORDERS,
  POSITION_STATUSES,
  type PositionPage,
  positionRecord,
  readPositions,
} from './positions.ts'
import { GRANULARITIES, pnlRecord, profileRecord } from './records.ts'

/** Maximum events read per event-loop tick, whatever the page size: about 2 ms. */
const ROWS_PER_TICK = 128
const TRADE_KINDS: ReadonlySet<WalletEventKind> = new Set(['buy', 'sell'])

export interface WalletParts extends RouteParts {
  readonly engine: Pick<EngineView, 'wallets'>
}

export interface WalletRequest<Query> {
  readonly address: WalletAddress
  readonly query: Query
  readonly signal: AbortSignal
  readonly requester: Requester
}

/** Shared state of position pages. */
interface PositionLists {
  readonly cursors: ListCursors
  readonly pins: WalletPins
}

const { cursor, start_time, end_time, order } = timeParameters
const market_id = parameters.id()

export const TradesQuery = Type.Object({
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

export const PositionsQuery = Type.Object({
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

export const PnlQuery = Type.Object({
  granularity: choice(GRANULARITIES, { default: 'all' }),
  ...{ start_time, end_time },
})

export const ActivityQuery = Type.Object({
  type: Type.Optional(Type.Array(choice(ACTIVITY_TYPES), { maxItems: 16 })),
  market_id,
  ...{ start_time, end_time, order },
  limit: parameters.limit(500, 100),
  cursor,
})

/** The profile. Throws NOT_FOUND if the wallet has no trades, at the venue or locally. */
export async function profileAnswer(
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

export async function tradesAnswer(
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
 * A page of the ledger. Rows are filtered here: with a filter for rare rows, the actor would scan the complete ledger
 * in one tick.
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
  // Refuses an invalid range before the wallet is opened.
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

export async function positionsAnswer(
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

export async function pnlAnswer(
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

/** The market of `market_id`. Null: any market; 'none': a market in which no wallet can have traded. */
function marketOf(catalog: CatalogView, id: string | undefined): NativeMarketId | null | 'none' {
  if (id === undefined) return null
  const parts = catalog.names.split(id)
  if (parts === null || !catalog.names.of(parts.venue).hasWallets) return 'none'
  // The market may have been evicted from the catalogue; its venue writes ids in lower case.
  return catalog.find(id)?.ref.nativeId ?? nativeMarketId(parts.native.toLowerCase())
}

/** `null`: the wallet has no trades, at the venue or locally. Its data is complete. */
function withCompleteness(answer: Answer, view: WalletView | null): Answer {
  const marked = withHeader(answer, 'X-Data-Complete', String(view?.isComplete ?? true))
  if (view === null) return marked
  const dated = withHeader(marked, 'X-Data-As-Of', String(view.asOfMs))
  return view.isComplete
    ? dated
    : withHeader(dated, 'X-Data-Incomplete', incompleteReasonsText(view))
}

/** `code: sentence` for each reason. */
function incompleteReasonsText({ issues: reasons, lacking }: WalletView): string {
  const texts = reasons.map((reason) => `${reason}: ${INCOMPLETE_REASONS[reason]}`)
  return `${texts.join('; ')}${lacking === 0 ? '' : ` (events: ${lacking})`}`
}

/** User-facing text of each issue; plain ASCII, because it goes into a header. */
export const INCOMPLETE_REASONS: Readonly<Record<WalletIssue, string>> = {
  venue_lacks_kept: 'the venue no longer tells events that are kept here',
  venue_unsure: "the venue's last answers did not fit together",
  venue_withheld: 'the venue withheld a part, or rows of it cannot be read',
  venue_late: 'the venue did not answer in time, this is what was known before',
  venue_counts_otherwise: "the venue's own count of positions is another one",
  not_read_whole: 'the history is still being read for the first time',
  not_told_yet: "events are shown that the venue's history does not tell, or not yet",
  figures_behind: 'figures are being made anew',
  group_unknown: 'the venue does not tell the group of a market that was converted',
  combos: 'bets on several markets at once are in no figure but combo_realized_pnl, and in no list',
  no_live_fills:
    "the venue's stream that names wallets has ended: fills of the last minutes may be missing",
}
