import { type TimeMs, toSeconds } from '../../../units.ts'
import type { SimEvent, SimMarket, SimStatus, World } from '../model.ts'
import type { ListedMarket, ListedTrade } from './combos.ts'
import { badRequest, type QueryReader } from './paging.ts'

const STATUSES = ['unopened', 'open', 'paused', 'closed', 'settled'] as const

/** Simulator statuses by query status. `closed` includes markets with a result that is not final. */
const SELECTED: Readonly<Record<(typeof STATUSES)[number], readonly SimStatus[]>> = {
  unopened: ['unopened'],
  open: ['open'],
  paused: [],
  closed: ['closed', 'determined'],
  settled: ['resolved'],
}

export function marketFilter(
  reader: QueryReader,
  world: World,
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
  // Compares market objects, because reading each row's ticker is slow in a large world.
  const wanted = tickers === null ? null : foundBy(tickers, (ticker) => world.market('b', ticker))
  const isWanted = ({ market, combo }: ListedMarket): boolean =>
    combo === null ? wanted?.has(market) !== false : tickers?.has(combo) !== false
  return (listed) => {
    const { market, combo } = listed
    const { listing, event } = market
    if (status !== null && !SELECTED[status].includes(market.status)) return false
    if (!isWanted(listed)) return false
    if (minUpdated !== null && toSeconds(metadataMs(market)) < minUpdated) return false
    if (minSettled !== null) {
      if (market.status !== 'resolved' || toSeconds(listing.resolveMs) < minSettled) return false
    }
    return combos === null || (combo !== null || isCombo(event)) === (combos === 'only')
  }
}

export function eventFilter(reader: QueryReader, world: World): (event: SimEvent) => boolean {
  const status = reader.oneOf('status', ['unopened', 'open', 'closed', 'settled'])
  const tickers = reader.commaSeparated('tickers')
  const wanted = tickers === null ? null : foundBy(tickers, (ticker) => world.event('b', ticker))
  return (event) => {
    if (wanted?.has(event) === false) return false
    const isListed = ({ status: each }: SimMarket) =>
      status === null || SELECTED[status].includes(each)
    return (status === null || event.markets.some(isListed)) && !isCombo(event)
  }
}

function foundBy<Row>(
  tickers: ReadonlySet<string>,
  find: (ticker: string) => Row | null,
): ReadonlySet<Row> {
  return new Set([...tickers].flatMap((ticker) => find(ticker) ?? []))
}

/** Both times are inclusive. */
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

function isCombo(event: SimEvent): boolean {
  return event.series.startsWith('KXMVE')
}
