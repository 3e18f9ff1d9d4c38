// Parses the filters of venue b's queries for markets, events and trades. Refuses filters that the venue does not
// combine.

import { type TimeMs, toSeconds } from '../../../units.ts'
import type { SimEvent, SimMarket, SimStatus } from '../model.ts'
import type { ListedMarket, ListedTrade } from './combos.ts'
import { badRequest, type QueryReader } from './paging.ts'

const STATUSES = ['unopened', 'open', 'paused', 'closed', 'settled'] as const

/** Query status → simulator status. `closed` includes markets with a result that is not final. */
const SELECTED: Readonly<Record<(typeof STATUSES)[number], readonly SimStatus[]>> = {
  unopened: ['unopened'],
  open: ['open'],
  paused: [],
  closed: ['closed', 'determined'],
  settled: ['resolved'],
}

/** Parses the filters of `/markets`. */
export function marketFilter(
  reader: QueryReader,
  metadataMs: (market: SimMarket) => TimeMs,
): (listed: ListedMarket) => boolean {
  const status = reader.oneOf('status', STATUSES)
  const combos = reader.oneOf('mve_filter', ['only', 'exclude'])
  const tickers = reader.commaSeparated('tickers')
  const minSettled = reader.seconds('min_settled_ts')
  const minUpdated = reader.seconds('min_updated_ts')
  if (minSettled !== null && status !== null && status !== 'settled') {
    throw badRequest(`settled timestamp filters do not go with status ${status}`)
  }
  if (minUpdated !== null) {
    const isMixed = status !== null || tickers !== null || minSettled !== null
    if (isMixed || combos === 'only') {
      throw badRequest('min_updated_ts only goes with mve_filter=exclude and series_ticker')
    }
  }
  return ({ market, combo }) => {
    const { listing, event } = market
    if (status !== null && !SELECTED[status].includes(market.status)) return false
    if (tickers !== null && !tickers.has(combo ?? listing.nativeId)) return false
    const isOne = combo !== null || isCombo(event)
    if (combos !== null && isOne !== (combos === 'only')) return false
    if (minUpdated !== null && toSeconds(metadataMs(market)) < minUpdated) return false
    if (minSettled === null) return true
    return market.status === 'resolved' && toSeconds(listing.resolveMs) >= minSettled
  }
}

/** Parses the filters of `/events`. An event matches a status if any of its markets has it. */
export function eventFilter(reader: QueryReader): (event: SimEvent) => boolean {
  const status = reader.oneOf('status', ['unopened', 'open', 'closed', 'settled'])
  const tickers = reader.commaSeparated('tickers')
  return (event) => {
    if (isCombo(event) || (tickers !== null && !tickers.has(event.nativeId))) return false
    return status === null || event.markets.some((each) => SELECTED[status].includes(each.status))
  }
}

/** Parses the time filters of `/markets/trades`. Both times are inclusive. */
export function tradeFilter(reader: QueryReader): {
  isMatch: (listed: ListedTrade) => boolean
  isBeyond: (listed: ListedTrade) => boolean
} {
  const minSeconds = reader.seconds('min_ts') ?? 0
  const maxSeconds = reader.seconds('max_ts') ?? Number.POSITIVE_INFINITY
  return {
    isMatch: ({ trade }) => toSeconds(trade.atMs) <= maxSeconds,
    // Rows are newest first, so the first trade before the range ends the scan.
    isBeyond: ({ trade }) => toSeconds(trade.atMs) < minSeconds,
  }
}

/** Whether an event is a multivariate one ("combo"). */
function isCombo(event: SimEvent): boolean {
  return event.nativeId.startsWith('KXMVE')
}
