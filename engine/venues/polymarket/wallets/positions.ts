// What the venue itself counts as a wallet's positions, for comparing with ours. Not for: showing, or for sums.
// Upholds WALLETREAD11.

import { nativeMarketId, outcomeId, type WalletAddress } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import { roundPrice, roundSize, roundUsd, SIZE_ZERO } from '../../../units.ts'
import type { VenuePosition } from '../../../wallet.ts'
import type { Intake } from '../intake.ts'
import { type JsonHost, listOf } from './pages.ts'

export interface WalletPositionsParts {
  readonly data: JsonHost
  readonly intake: Intake
}

/** By default the venue leaves out positions below one contract. */
const OPEN = { path: '/positions', query: { sizeThreshold: 0 }, limit: 500, pagesMax: 21 } as const
/**
 * The newest 2,000: a comparison needs no more, and the venue gives 50 at once and 15 pages a second. Beyond it is
 * stopped, without a word: what is not among them is not compared.
 */
const CLOSED = {
  path: '/closed-positions',
  query: { sortBy: 'TIMESTAMP', sortDirection: 'DESC' },
  limit: 50,
  pagesMax: 40,
} as const

/** Open positions, then closed ones. Rejects with FetchError. */
export async function readPositions(
  parts: WalletPositionsParts,
  address: WalletAddress,
  signal: AbortSignal,
): Promise<readonly VenuePosition[]> {
  const open = await readList(parts, OPEN, address, signal)
  return [...open, ...(await readList(parts, CLOSED, address, signal))]
}

async function readList(
  { data, intake }: WalletPositionsParts,
  list: typeof OPEN | typeof CLOSED,
  address: WalletAddress,
  signal: AbortSignal,
): Promise<readonly VenuePosition[]> {
  // Rows move between pages while the list changes, and a venue may not heed the offset.
  const positions = new Map<string, VenuePosition>()
  let offset = 0
  for (let page = 0; page < list.pagesMax; page += 1) {
    const query = { user: address, ...list.query, limit: list.limit, offset }
    const rows = listOf(await data.getJson(list.path, query, { signal }), list.path)
    const knownCount = positions.size
    for (const row of rows) {
      const position = readPosition(row, list === CLOSED)
      if (position === null) intake.reject('bad_position', JSON.stringify(row) ?? '')
      else positions.set(position.token, position)
    }
    // A short page need not be the last: the venue may cap pages lower than we ask.
    if (rows.length === 0 || positions.size === knownCount) break
    offset += rows.length
  }
  return [...positions.values()]
}

function readPosition(row: unknown, isClosed: boolean): VenuePosition | null {
  if (!isRecord(row) || typeof row.asset !== 'string' || row.asset === '') return null
  if (typeof row.conditionId !== 'string') return null
  const size = isClosed ? SIZE_ZERO : roundSize(Number(row.size))
  const bought = roundSize(Number(row.totalBought))
  const realized = roundUsd(Number(row.realizedPnl))
  const price = roundPrice(Number(row.curPrice))
  if (size === null || bought === null || realized === null || price === null) return null
  return {
    token: outcomeId(row.asset),
    market: nativeMarketId(row.conditionId),
    size,
    bought,
    realized,
    price,
    isClosed,
  }
}
