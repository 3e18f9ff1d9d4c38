// Lists a wallet's positions. A pin stores their order, so that later pages follow the order of the first page but show
// current figures. A position that resolved worthless is closed, even if the wallet still holds it.

import { Type } from '@sinclair/typebox'
import { LRUCache } from 'lru-cache'
import { sortedPositions } from '../../actors/rows/sort.ts'
import type { PositionView, WalletView } from '../../actors/wallets/views.ts'
import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId, OutcomeId } from '../../engine/ids.ts'
import { MICROS, toSeconds } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { PagePosition } from '../pages/lists.ts'
import type { ListPosition } from '../request/cursor.ts'
import { forEachInSlices, nextMeasuredTick } from '../request/time-slices.ts'
import { pageFields, WalletPositionSchema } from '../schemas.ts'
import { namesOf, outcomeLabel } from './events.ts'
import { ratio } from './records.ts'

export const walletPositionsSchema = Type.Object({
  address: Type.String(),
  positions: Type.Array(WalletPositionSchema),
  summary: Type.Object({
    open_positions: Type.Integer({ minimum: 0 }),
    total_value: Type.Number(),
    total_initial_value: Type.Number(),
    realized_pnl: Type.Number(),
    unrealized_pnl: Type.Number(),
    total_pnl: Type.Number(),
  }),
  total: Type.Integer({ minimum: 0 }),
  ...pageFields,
})

export const POSITION_ORDERS = [
  'current_value',
  'balance',
  'initial_value',
  'realized_pnl',
  'unrealized_pnl',
  'total_pnl',
  'percent_pnl',
  'opened_at',
  'updated_at',
  'question',
] as const
export type PositionOrder = (typeof POSITION_ORDERS)[number]

export const POSITION_STATUSES = ['open', 'closed', 'all'] as const

export interface PositionFilter {
  readonly status: (typeof POSITION_STATUSES)[number]
  readonly market: NativeMarketId | null | 'none'
  /** In contracts. Applies only to open positions, because the balance of a closed position has no value. */
  readonly balanceMin: number
  readonly sortBy: PositionOrder
  readonly order: 'asc' | 'desc'
}

/** `isMergeable`: the wallet also holds another outcome of the market. */
interface PositionRow {
  readonly position: PositionView
  readonly isMergeable: boolean
}

export interface PositionPage {
  readonly rows: readonly PositionRow[]
  readonly summary: ReturnType<typeof summaryRecord>
  /** Positions that matched the filter when the order was pinned. */
  readonly total: number
  readonly next: ListPosition | null
}

const PIN_TTL_MS = 300_000
/** About 32 MiB of token ids. Each is a text of up to 78 digits. */
const PINNED_ROWS_MAX = 262_144
const PINS_MAX = 4_096

/**
 * Stores orders of positions. A client that pages receives each position exactly once, although figures change. A pin
 * is the integer id of an order. It expires five minutes after `add` last returned it.
 */
export class WalletPins {
  readonly #pins: LRUCache<
    number,
    { readonly binding: string; readonly tokens: readonly OutcomeId[] }
  >
  readonly #newest = new Map<string, number>()
  #lastPin = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>, rowsMax = PINNED_ROWS_MAX) {
    this.#pins = new LRUCache({
      max: PINS_MAX,
      ttl: PIN_TTL_MS,
      ttlResolution: 0,
      perf: { now: () => clock.monotonicMs() },
      // An oversized order counts as `rowsMax`, so that it is stored. Otherwise its client could not read the next
      // page.
      maxSize: rowsMax,
      sizeCalculation: ({ tokens }) => Math.max(1, Math.min(tokens.length, rowsMax)),
      dispose: ({ binding }, pin) => {
        if (this.#newest.get(binding) === pin) this.#newest.delete(binding)
      },
    })
  }

  /** Returns the pin of the newest order of `binding` if the order is equal. */
  add(binding: string, tokens: readonly OutcomeId[]): number {
    const newest = this.#newest.get(binding) ?? 0
    const existing = this.#pins.get(newest)
    const isSame =
      existing?.tokens.length === tokens.length &&
      existing.tokens.every((token, index) => token === tokens[index])
    const pin = isSame ? newest : this.#lastPin + 1
    this.#lastPin = Math.max(this.#lastPin, pin)
    this.#newest.set(binding, pin)
    this.#pins.set(pin, isSame ? existing : { binding, tokens })
    return pin
  }

  /** Null if the pin has expired. */
  resume(pin: number): readonly OutcomeId[] | null {
    return this.#pins.peek(pin)?.tokens ?? null
  }
}

/** Sums over all positions of the wallet. Filters do not affect them. */
interface Sums {
  openCount: number
  value: number
  initial: number
}

const NOTHING: Sums = { openCount: 0, value: 0, initial: 0 }

export const NO_POSITIONS: PositionPage = {
  rows: [],
  summary: summaryRecord(NOTHING, { realized: 0, unrealized: 0 }),
  total: 0,
  next: null,
}

/** Reads one page in time slices. `binding` is the text that identifies the list in cursors. */
export async function readPositions(
  parts: { readonly clock: Clock; readonly pins: WalletPins },
  view: WalletView,
  request: {
    readonly filter: PositionFilter
    readonly binding: string
    readonly pagePosition: PagePosition
    readonly limit: number
  },
): Promise<PositionPage | 'expired'> {
  const { clock, pins } = parts
  const { filter, binding, pagePosition, limit } = request
  const { pin, offset } = pagePosition
  const pinned = pin === null ? null : pins.resume(pin)
  if (pin !== null && pinned === null) return 'expired'
  const end = offset + limit
  const paged = pinned === null ? null : new Set<OutcomeId>(pinned.slice(offset, end))
  const profits = { realized: view.totals.realized, unrealized: view.unrealized }
  const found: PositionView[] = []
  const heldCounts = new Map<NativeMarketId, number>()
  const sums = { ...NOTHING }
  await forEachInSlices(clock, await view.positions(), (position) => {
    add(sums, position)
    const { market, balance, token } = position
    if (balance > 0) heldCounts.set(market, (heldCounts.get(market) ?? 0) + 1)
    if (paged === null ? admits(filter, position) : paged.has(token)) found.push(position)
  })
  const listed = pinned === null ? await inOrder(clock, found, filter) : null
  const count = pinned?.length ?? found.length
  const page = listed?.slice(offset, end) ?? inTokenOrder(found, pinned?.slice(offset, end) ?? [])
  const rows = page.map((position) => {
    const { balance, market } = position
    return { position, isMergeable: balance > 0 && (heldCounts.get(market) ?? 0) > 1 }
  })
  const next = () => {
    const tokens = pinned ?? listed?.map(({ token }) => token) ?? []
    return { pin: pin ?? pins.add(binding, tokens), offset: end }
  }
  const summary = summaryRecord(sums, profits)
  return { rows, summary, total: count, next: end < count ? next() : null }
}

function inTokenOrder(
  positions: readonly PositionView[],
  tokens: readonly OutcomeId[],
): readonly PositionView[] {
  const byToken = new Map(positions.map((position) => [position.token, position] as const))
  return tokens.flatMap((token) => {
    const position = byToken.get(token)
    return position === undefined ? [] : [position]
  })
}

function add(sums: Sums, position: PositionView): void {
  if (!isOpen(position)) return
  sums.openCount += 1
  sums.value += currentValue(position)
  sums.initial += position.cost
}

function isOpen({ amount }: PositionView): boolean {
  return amount > 0
}

function currentValue({ cost, unrealized }: PositionView): number {
  return cost + unrealized
}

function admits({ status, market, balanceMin }: PositionFilter, position: PositionView): boolean {
  if (market !== null && position.market !== market) return false
  if (!isOpen(position)) return status !== 'open'
  return status !== 'closed' && position.balance >= Math.round(balanceMin * MICROS)
}

/** Unknown figures come last. Equal figures stay in the wallet's order. */
async function inOrder(
  clock: Clock,
  positions: readonly PositionView[],
  { sortBy, order }: PositionFilter,
): Promise<readonly PositionView[]> {
  // A long list is read, sorted and copied in separate event-loop ticks.
  const isLong = positions.length > SHORT_LIST
  if (isLong) await nextMeasuredTick(clock)
  const keys =
    sortBy === 'question'
      ? await textRanks(
          clock,
          positions.map((position) => namesOf(position).question),
        )
      : numbersOf(positions, KEYS[sortBy])
  if (isLong) await nextMeasuredTick(clock)
  const listed: PositionView[] = []
  for (const index of sortedPositions(keys, keys.length, order)) {
    const position = positions[index]
    if (position !== undefined) listed.push(position)
  }
  if (isLong) await nextMeasuredTick(clock)
  return listed
}

/** Three times as fast as `Float64Array.from`. */
function numbersOf(
  positions: readonly PositionView[],
  figure: (position: PositionView) => number,
): Float64Array {
  const numbers = new Float64Array(positions.length)
  let index = 0
  for (const position of positions) {
    numbers[index] = figure(position)
    index += 1
  }
  return numbers
}

const SHORT_LIST = 1_000
/** Larger percentages are clamped, because sort keys must be integers of at most 53 bits. */
const PERCENT_KEY_MAX = 2 ** 51

/** Sort keys are integers; NaN: unknown. */
const KEYS: Readonly<Record<Exclude<PositionOrder, 'question'>, (row: PositionView) => number>> = {
  current_value: currentValue,
  balance: ({ balance }) => balance,
  initial_value: ({ cost }) => cost,
  realized_pnl: ({ realized }) => realized,
  unrealized_pnl: ({ unrealized }) => unrealized,
  total_pnl: ({ realized, unrealized }) => realized + unrealized,
  percent_pnl: ({ cost, unrealized }) => {
    if (cost <= 0) return Number.NaN
    const key = Math.round((unrealized / cost) * 100 * MICROS)
    return Math.max(-PERCENT_KEY_MAX, Math.min(PERCENT_KEY_MAX, key))
  },
  opened_at: ({ openedAtMs }) => openedAtMs,
  updated_at: ({ updatedAtMs }) => updatedAtMs,
}

function summaryRecord(
  { openCount, value, initial }: Sums,
  { realized, unrealized }: { readonly realized: number; readonly unrealized: number },
) {
  return {
    open_positions: openCount,
    total_value: value / MICROS,
    total_initial_value: initial / MICROS,
    realized_pnl: realized / MICROS,
    unrealized_pnl: unrealized / MICROS,
    total_pnl: (realized + unrealized) / MICROS,
  }
}

export function positionRecord({ position, isMergeable }: PositionRow, names: VenueTable) {
  const { view, facts, market, token, price, balance, amount, cost } = position
  const { realized, unrealized, bought, boughtUsd } = position
  const { question, slug, eventSlug } = namesOf(position)
  const isResolved = (facts?.payout ?? null) !== null || view?.summary.status === 'resolved'
  return {
    market_id: names.marketId(names.ofWallets.key, market),
    condition_id: market,
    token_id: token,
    ...{ question, slug, event_slug: eventSlug },
    outcome: outcomeLabel(position, position.outcomeIndex),
    balance: balance / MICROS,
    avg_entry_price: amount > 0 ? ratio(cost, amount) : ratio(boughtUsd, bought),
    current_price: price === null ? null : price / MICROS,
    initial_value: cost / MICROS,
    current_value: currentValue(position) / MICROS,
    realized_pnl: realized / MICROS,
    unrealized_pnl: unrealized / MICROS,
    total_pnl: (realized + unrealized) / MICROS,
    percent_pnl: ratio(unrealized, cost, 100),
    redeemable: isResolved && balance > 0,
    mergeable: isMergeable,
    neg_risk: facts === null ? null : facts.group !== null,
    status: isOpen(position) ? 'open' : 'closed',
    opened_at: toSeconds(position.openedAtMs),
    updated_at: toSeconds(position.updatedAtMs),
    cost_basis_known: position.isCostKnown,
  }
}

/** Texts sorted in one event-loop tick, which takes a fraction of a millisecond. */
const RUN_TEXTS = 512

/** Ranks in the order of code units. Equal texts have equal ranks; NaN for null. */
export async function textRanks(
  clock: Clock,
  texts: readonly (string | null)[],
): Promise<Float64Array> {
  const ranks = new Map<string, number>()
  await forEachInSlices(clock, texts, (text) => {
    if (text !== null) ranks.set(text, 0)
  })
  const sorted = await sortedTexts(clock, [...ranks.keys()])
  let rank = 0
  await forEachInSlices(clock, sorted, (text) => {
    ranks.set(text, rank)
    rank += 1
  })
  const keys = new Float64Array(texts.length).fill(Number.NaN)
  let index = 0
  await forEachInSlices(clock, texts, (text) => {
    if (text !== null) keys[index] = ranks.get(text) ?? Number.NaN
    index += 1
  })
  return keys
}

async function sortedTexts(clock: Clock, texts: readonly string[]): Promise<readonly string[]> {
  let runs: (readonly string[])[] = []
  for (let start = 0; start < texts.length; start += RUN_TEXTS) {
    if (start > 0) await nextMeasuredTick(clock)
    runs.push(texts.slice(start, start + RUN_TEXTS).sort())
  }
  while (runs.length > 1) {
    const merged: (readonly string[])[] = []
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(await mergedRuns(clock, runs[index] ?? [], runs[index + 1] ?? []))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function mergedRuns(
  clock: Clock,
  one: readonly string[],
  other: readonly string[],
): Promise<readonly string[]> {
  if (other.length === 0) return one
  await nextMeasuredTick(clock)
  const merged: string[] = []
  let otherCount = 0
  await forEachInSlices(clock, one, (text) => {
    for (
      let next = other[otherCount];
      next !== undefined && next < text;
      next = other[otherCount]
    ) {
      merged.push(next)
      otherCount += 1
    }
    merged.push(text)
  })
  for (; otherCount < other.length; otherCount += 1) merged.push(other[otherCount] ?? '')
  return merged
}
