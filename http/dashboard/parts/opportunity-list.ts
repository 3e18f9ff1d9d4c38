import { ApiError, request } from '../api.ts'
import { monotonicMs } from '../browser.ts'
import type { Opportunity } from '../records.ts'
import { useLiveList } from './requests.ts'
import type { Order } from './tables.ts'

export interface OpportunityRow {
  readonly one: Opportunity
  /** Why the opportunity closed; null while it is open. */
  readonly ended: string | null
  readonly isFresh: boolean
  /** Monotonic time of the last stream message; null if REST delivered the row. */
  readonly receivedMs: number | null
}

export type OpportunityRows = ReadonlyMap<string, OpportunityRow>

/** An empty `kind` matches both kinds. */
interface OpportunityFilter {
  readonly profitMin: number
  readonly kind: '' | Opportunity['kind']
}

/** Maximum loaded rows, the most profitable first, and maximum shown rows. */
export const OPPORTUNITY_ROWS_MAX = 200
/** Ended rows are evicted first, then the least profitable. */
const CACHED_ROWS_MAX = 1_000

/** Opportunities that match the filter, and the opportunity with id `opened`. `again` reloads. */
export function useOpportunities(filter: OpportunityFilter, opened: string | null) {
  const { profitMin, kind } = filter
  return useLiveList<OpportunityRows>(
    {
      channel: 'arbitrage',
      none: new Map(),
      load: async (signal) => {
        const query = {
          min_profit_usd: profitMin,
          kind: kind === '' ? null : kind,
          sort_by: 'profit',
          limit: OPPORTUNITY_ROWS_MAX,
        }
        const { opportunities } = await request<{ readonly opportunities: readonly Opportunity[] }>(
          '/v1/arbitrage',
          { query, signal },
        )
        const isListed = opened === null || opportunities.some(({ id }) => id === opened)
        const others = isListed ? [] : await fetchOpened(opened, signal)
        return new Map([...opportunities, ...others].map((one) => [one.id, rowOf(one)]))
      },
      applyMessage: (rows, message) =>
        message.type === 'arbitrage' ? withMessage(rows, message.data, monotonicMs()) : rows,
      join: joined,
    },
    [profitMin, kind],
  )
}

async function fetchOpened(id: string, signal: AbortSignal): Promise<readonly Opportunity[]> {
  try {
    return [await request<Opportunity>(`/v1/arbitrage/${encodeURIComponent(id)}`, { signal })]
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return []
    throw error
  }
}

const rowOf = (one: Opportunity): OpportunityRow => ({
  ...{ one, ended: null, isFresh: false, receivedMs: null },
})

/** Returns the same object if the message concerns no opportunity. */
export function withMessage(
  rows: OpportunityRows,
  data: Readonly<Record<string, unknown>>,
  nowMs: number,
): OpportunityRows {
  if (!isOpportunity(data)) return rows
  const { event, close_reason: reason } = data
  const ended = event === 'closed' ? String(reason) : null
  const isFresh = event === 'opened' || rows.get(data.id)?.isFresh === true
  return bounded(new Map([...rows, [data.id, { one: data, ended, isFresh, receivedMs: nowMs }]]))
}

/**
 * Merges a REST response. Rows that the stream updated since the request take precedence. Rows missing from the
 * response have ended and are dropped.
 */
export function joined(
  current: OpportunityRows,
  answer: OpportunityRows,
  requestedMs: number,
): OpportunityRows {
  const since = [...current].filter(
    ([, { receivedMs }]) => receivedMs !== null && receivedMs >= requestedMs,
  )
  return bounded(new Map([...answer, ...since]))
}

function bounded(rows: OpportunityRows): OpportunityRows {
  if (rows.size <= CACHED_ROWS_MAX) return rows
  const isOver = ({ ended }: OpportunityRow) => Number(ended !== null)
  const retained = [...rows.values()].sort(
    (one, other) => isOver(one) - isOver(other) || other.one.profit_usd - one.one.profit_usd,
  )
  return new Map(retained.slice(0, CACHED_ROWS_MAX / 2).map((row) => [row.one.id, row]))
}

export const OPPORTUNITY_ORDERS = [
  'profit',
  'gap',
  'return',
  'cost',
  'size',
  'opened',
  'closes',
  'score',
] as const
export type OpportunityColumn = (typeof OPPORTUNITY_ORDERS)[number]

const VALUES: Readonly<Record<OpportunityColumn, (one: Opportunity) => number | null>> = {
  profit: ({ profit_usd: usd }) => usd,
  gap: (one) => gapOf(one),
  return: ({ return: share }) => share,
  cost: ({ cost_usd: usd }) => usd,
  size: ({ contracts }) => contracts,
  opened: ({ opened_at_ms: atMs }) => atMs,
  closes: ({ closes_at: seconds }) => seconds,
  score: ({ match_score: score }) => score,
}

/** Sorts the open rows that match the filter, unknown values last. Always includes the row `openedId`. */
export function shownRows(
  rows: OpportunityRows,
  { profitMin, kind }: OpportunityFilter,
  { column, isDown }: Order<OpportunityColumn>,
  openedId: string | null,
): readonly OpportunityRow[] {
  const rank = ({ one }: OpportunityRow) => VALUES[column](one)
  return [...rows.values()]
    .filter(
      ({ one, ended }) =>
        one.id === openedId ||
        (ended === null && one.profit_usd >= profitMin && (kind === '' || one.kind === kind)),
    )
    .sort((one, other) => {
      const [first, second] = [rank(one), rank(other)]
      if (first === null || second === null) return Number(first === null) - Number(second === null)
      return (
        (isDown ? second - first : first - second) || one.one.opened_at_ms - other.one.opened_at_ms
      )
    })
    .slice(0, OPPORTUNITY_ROWS_MAX)
}

/** Keeps the order of existing rows and appends new rows, so that rows do not move under the pointer. */
export function heldRows(
  rows: readonly OpportunityRow[],
  before: readonly string[],
): readonly OpportunityRow[] {
  const positions = new Map(before.map((id, index) => [id, index]))
  const positionOf = ({ one }: OpportunityRow) => positions.get(one.id) ?? before.length
  return rows.toSorted((one, other) => positionOf(one) - positionOf(other))
}

/** Payout per contract minus the sum of the legs' best prices, in dollars and before fees. */
export function gapOf({ legs, payout_usd: payout, contracts }: Opportunity): number {
  const price = legs.reduce((sum, leg) => sum + leg.best_price, 0)
  return Math.round((payout / contracts - price) * 1e6) / 1e6
}

function isOpportunity(
  data: Readonly<Record<string, unknown>>,
): data is Opportunity & Readonly<Record<string, unknown>> {
  const { id, question, legs, profit_usd: profit, contracts } = data
  return (
    [typeof id, typeof question].every((type) => type === 'string') &&
    [typeof profit, typeof contracts].every((type) => type === 'number') &&
    Array.isArray(legs)
  )
}
