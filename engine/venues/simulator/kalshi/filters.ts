// Parses the filters of venue b's queries for markets, events and trades, and checks which may be combined.

import { type TimeMs, toSeconds } from '../../../units.ts'
import type { SimEvent, SimMarket, SimStatus } from '../model.ts'
import type { ListedMarket, ListedTrade } from './combos.ts'
import { badRequest, type QueryReader } from './paging.ts'
import { comboEvent, isBlock } from './terms.ts'

const STATUSES = ['unopened', 'open', 'paused', 'closed', 'settled'] as const
type QueryStatus = (typeof STATUSES)[number]

/** Query status → simulator status. `closed` covers everything past its close that is not final. */
const SELECTED: Readonly<Record<QueryStatus, readonly SimStatus[]>> = {
  unopened: ['unopened'],
  open: ['open'],
  paused: [],
  closed: ['closed', 'determined'],
  settled: ['resolved'],
}

/** Statuses that each family of time filters allows, besides none. */
const FAMILIES = [
  { name: 'created', statuses: ['unopened', 'open'] },
  { name: 'close', statuses: ['closed'] },
  { name: 'settled', statuses: ['settled'] },
] as const

type Family = (typeof FAMILIES)[number]['name']

/** Parses the filters of `/markets`. */
export function marketFilter(
  reader: QueryReader,
  metadataMs: (market: SimMarket) => TimeMs,
): (listed: ListedMarket) => boolean {
  const status = reader.oneOf('status', STATUSES)
  const combos = reader.oneOf('mve_filter', ['only', 'exclude'])
  const event = reader.text('event_ticker')
  const series = reader.text('series_ticker')
  const tickers = reader.commaSeparated('tickers')
  const range = readRange(reader, status)
  const minUpdated = reader.seconds('min_updated_ts')
  if (minUpdated !== null) {
    const isMixed = status !== null || event !== null || tickers !== null || range !== null
    if (isMixed || combos === 'only') {
      throw badRequest('min_updated_ts only goes with mve_filter=exclude and series_ticker')
    }
  }
  return ({ market, combo }) => {
    if (status !== null && !SELECTED[status].includes(market.status)) return false
    if (event !== null && event !== (combo === null ? market.event.nativeId : comboEvent(combo)))
      return false
    if (series !== null && market.event.series !== series) return false
    if (tickers !== null && !tickers.has(combo ?? market.listing.nativeId)) return false
    const isOne = combo !== null || isCombo(market.event)
    if (combos !== null && isOne !== (combos === 'only')) return false
    if (minUpdated !== null && toSeconds(metadataMs(market)) < minUpdated) return false
    return range === null || isInRange(market, range)
  }
}

/** Parses the filters of `/events`. An event has no status: it matches if any child has the status. */
export function eventFilter(
  reader: QueryReader,
  metadataMs: (market: SimMarket) => TimeMs,
): (event: SimEvent) => boolean {
  const status = reader.oneOf('status', ['unopened', 'open', 'closed', 'settled'])
  const series = reader.text('series_ticker')
  const tickers = reader.commaSeparated('tickers')
  const minClose = reader.seconds('min_close_ts')
  const minUpdated = reader.seconds('min_updated_ts')
  return (event) => {
    if (isCombo(event)) return false
    if (series !== null && event.series !== series) return false
    if (tickers !== null && !tickers.has(event.nativeId)) return false
    const { markets } = event
    if (status !== null && !markets.some((m) => SELECTED[status].includes(m.status))) return false
    if (minClose !== null && !markets.some((m) => toSeconds(m.listing.closeMs) >= minClose)) {
      return false
    }
    return minUpdated === null || markets.some((m) => toSeconds(metadataMs(m)) >= minUpdated)
  }
}

/** Parses the time filters of `/markets/trades`. Both ends are inclusive. */
export function tradeFilter(reader: QueryReader): {
  isMatch: (listed: ListedTrade) => boolean
  isBeyond: (listed: ListedTrade) => boolean
} {
  const minSeconds = reader.seconds('min_ts') ?? 0
  const maxSeconds = reader.seconds('max_ts') ?? Number.POSITIVE_INFINITY
  const wanted = reader.has('is_block_trade') ? reader.flag('is_block_trade') : null
  return {
    isMatch: ({ trade }) =>
      (wanted === null || isBlock(trade) === wanted) && toSeconds(trade.atMs) <= maxSeconds,
    // Newest first: the first trade before the range ends the scan.
    isBeyond: ({ trade }) => toSeconds(trade.atMs) < minSeconds,
  }
}

function isCombo(event: SimEvent): boolean {
  return event.nativeId.startsWith('KXMVE')
}

interface Range {
  readonly family: Family
  readonly min: number
  readonly max: number
}

/** The one family of time filters in use. Null: none. */
function readRange(reader: QueryReader, status: QueryStatus | null): Range | null {
  let range: Range | null = null
  for (const { name, statuses } of FAMILIES) {
    const min = reader.seconds(`min_${name}_ts`)
    const max = reader.seconds(`max_${name}_ts`)
    if (min === null && max === null) continue
    if (range !== null) throw badRequest('timestamp filters are mutually exclusive')
    const isAllowed = status === null || statuses.some((allowed) => allowed === status)
    if (!isAllowed) throw badRequest(`${name} timestamp filters do not go with status ${status}`)
    range = { family: name, min: min ?? 0, max: max ?? Number.POSITIVE_INFINITY }
  }
  return range
}

function isInRange({ listing, status }: SimMarket, range: Range): boolean {
  if (range.family === 'settled' && status !== 'resolved') return false
  const atMs = {
    created: listing.createdMs,
    close: listing.closeMs,
    settled: listing.resolveMs,
  }[range.family]
  const seconds = toSeconds(atMs)
  return seconds >= range.min && seconds <= range.max
}
