// Live list of large trades, merged from REST and the stream without duplicates, newest first, with a bounded
// length.

import { request } from '../../api.ts'
import { useLiveList } from '../lists/live-list.ts'

/** A large trade. Price and side are in terms of the market's first outcome (parts/traded.ts converts them). */
export interface WhaleRow {
  readonly id: string
  readonly marketId: string
  readonly platform: string
  readonly question: string
  readonly side: string
  /** In dollars, 0 to 1. */
  readonly price: number
  /** Contracts. */
  readonly size: number
  readonly usd: number
  /** The traded outcome; null: unknown. */
  readonly outcome: string | null
  /** The taker's wallet; null: unknown. */
  readonly wallet: string | null
  readonly atMs: number
  /** Received from the stream while the page was shown. */
  readonly isLive: boolean
}

/** An empty string matches all. */
interface WhaleFilter {
  readonly usdMin: number
  readonly platform: string
  readonly side: string
}

export const WHALE_ROWS_MAX = 200

interface Answer {
  readonly trades: readonly Readonly<Record<string, unknown>>[]
}

const NONE: readonly WhaleRow[] = []
const PAGE_ROWS = 100

/** Large trades that match the filter; `again` reloads. */
export function useWhales(filter: WhaleFilter) {
  const { usdMin, platform, side } = filter
  return useLiveList(
    {
      channel: 'whales',
      none: NONE,
      load: (signal) => fetchWhales(filter, signal),
      applyMessage: (rows, message) => {
        const row = message.type === 'whale' ? whaleRow(message.data, true) : null
        return row === null || !passes(row, filter) ? rows : merged([row], rows)
      },
      join: merged,
    },
    [usdMin, platform, side],
  )
}

async function fetchWhales(
  { usdMin, platform, side }: WhaleFilter,
  signal: AbortSignal,
): Promise<readonly WhaleRow[]> {
  const query = {
    min_usd: usdMin,
    platform: platform === '' ? null : platform,
    side: side === '' ? null : side,
    limit: PAGE_ROWS,
  }
  const { trades } = await request<Answer>('/v1/whales', { query, signal })
  return trades.flatMap((record) => whaleRow(record, false) ?? [])
}

/** Converts a record to a row; null if it is invalid. */
export function whaleRow(
  record: Readonly<Record<string, unknown>>,
  isLive: boolean,
): WhaleRow | null {
  const { id, market_id, platform, question, side, price, size, size_usd, timestamp_ms } = record
  const texts = [id, market_id, platform, question, side]
  const numbers = [price, size, size_usd, timestamp_ms]
  if (!texts.every((value) => typeof value === 'string')) return null
  if (!numbers.every((value) => typeof value === 'number')) return null
  return {
    id: String(id),
    marketId: String(market_id),
    platform: String(platform),
    question: String(question),
    side: String(side),
    price: Number(price),
    size: Number(size),
    usd: Number(size_usd),
    outcome: textOrNull(record.outcome),
    wallet: textOrNull(record.wallet),
    atMs: Number(timestamp_ms),
    isLive,
  }
}

export const passes = (row: WhaleRow, { usdMin, platform, side }: WhaleFilter): boolean =>
  row.usd >= usdMin &&
  (platform === '' || row.platform === platform) &&
  (side === '' || row.side === side)

/** Merges two lists without duplicates, newest first, up to the maximum length. */
export function merged(one: readonly WhaleRow[], other: readonly WhaleRow[]): readonly WhaleRow[] {
  const byId = new Map([...other, ...one].map((row) => [row.id, row]))
  return [...byId.values()].sort((a, b) => b.atMs - a.atMs).slice(0, WHALE_ROWS_MAX)
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
