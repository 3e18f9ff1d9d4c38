// Reads the positions that the venue computed for a wallet, for the comparison with the local positions.

import { outcomeId, type WalletAddress } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import { roundPrice, roundSize, roundUsd, SIZE_ZERO } from '../../../units.ts'
import type { VenuePosition } from '../../../wallet.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { conditionId } from '../condition-id.ts'
import { DATA_ROWS_MAX, type DataApi, type DataRequest } from '../data-api.ts'

interface WalletPositionsParts {
  readonly data: DataApi
  readonly counters: VenueCounters
}

/**
 * Requests all open positions. By default the venue omits positions below 0.1 contracts. Whether it respects 0 is
 * unknown.
 */
const OPEN = { query: { status: 'OPEN', filter_amount: 0 }, pagesMax: 11 } as const
/** Requests the newest 2,000 closed positions. Older closed positions are not compared. */
const CLOSED = {
  query: { status: 'CLOSED', sort_by: 'TIMESTAMP', sort_direction: 'DESC' },
  pagesMax: 2,
} as const

/** Rejects with FetchError or SuspectAnswerError. */
export async function readPositions(
  parts: WalletPositionsParts,
  address: WalletAddress,
  signal: AbortSignal,
): Promise<readonly VenuePosition[]> {
  const open = await readList(parts, OPEN, address, signal)
  return [...open, ...(await readList(parts, CLOSED, address, signal))]
}

async function readList(
  { data, counters }: WalletPositionsParts,
  list: typeof OPEN | typeof CLOSED,
  address: WalletAddress,
  signal: AbortSignal,
): Promise<readonly VenuePosition[]> {
  const query = { user: address, ...list.query, limit: DATA_ROWS_MAX }
  const request: DataRequest = { path: '/v2/positions', query, kind: 'wallet' }
  const positions = new Map<string, VenuePosition>()
  let pageCount = 0
  for await (const rows of data.pages(request, list.pagesMax + 1, { signal })) {
    for (const row of rows) {
      const position = readPosition(row, list === CLOSED)
      if (position === null) counters.rejected('bad_position', JSON.stringify(row) ?? '')
      else positions.set(position.token, position)
    }
    pageCount += 1
    if (pageCount === list.pagesMax) break
  }
  return [...positions.values()]
}

function readPosition(row: unknown, isClosed: boolean): VenuePosition | null {
  if (!isRecord(row) || typeof row.token_id !== 'string' || row.token_id === '') return null
  if (typeof row.condition_id !== 'string') return null
  const size = isClosed ? SIZE_ZERO : roundSize(Number(row.current_size))
  const bought = roundSize(Number(row.total_size))
  const realized = roundUsd(Number(row.realized_pnl))
  const price = roundPrice(Number(row.current_price))
  if (size === null || bought === null || realized === null || price === null) return null
  return {
    token: outcomeId(row.token_id),
    market: conditionId(row.condition_id),
    size,
    bought,
    realized,
    price,
    isClosed,
  }
}
