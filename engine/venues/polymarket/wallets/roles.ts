// Determines the roles of fills, which `/v2/activity` lacks. `/v2/trades` lists takers, one row per transaction, token
// and side. If the list is complete, the wallet is the maker of every other fill.

import type { WalletAddress } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import type { WalletRole } from '../../../wallet.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { DATA_ROWS_MAX, type DataApi, type DataRequest } from '../data-api.ts'

interface RolesRequest {
  readonly address: WalletAddress
  /** First and last second of the range (Unix time, inclusive). */
  readonly startS: number
  readonly endS: number
  readonly keys: ReadonlySet<string>
}

/** Maximum pages: 100,000 transactions. Fills of further transactions have no role. */
const PAGES_MAX = 100

/** Text of the fields that a taker's row and the wallet's own fill share. Null if the row is not a fill. */
export function roleKey(wire: unknown): string | null {
  if (!isRecord(wire)) return null
  const { transaction_hash: hash, token_id: token, side } = wire
  if (typeof hash !== 'string' || typeof token !== 'string' || typeof side !== 'string') return null
  return `${hash.toLowerCase()} ${token} ${side}`
}

/** The roles by key. Null if the list is incomplete. Rejects only if `signal` is aborted. */
export async function readRoles(
  parts: { readonly data: DataApi; readonly counters: VenueCounters },
  request: RolesRequest,
  signal: AbortSignal,
): Promise<(key: string) => WalletRole> {
  const takers = new Set<string>()
  let isComplete = false
  try {
    isComplete = await readTakers(parts, request, takers, signal)
  } catch (error) {
    if (signal.aborted) throw error
    parts.counters.trouble('roles_not_read', { detail: String(error) })
  }
  return (key) => {
    if (takers.has(key)) return 'taker'
    return isComplete ? 'maker' : null
  }
}

/** Collects the requested keys that are takers. Returns true if the list is complete or all keys were found. */
async function readTakers(
  { data, counters }: { readonly data: DataApi; readonly counters: VenueCounters },
  { address, startS, endS, keys }: RolesRequest,
  takers: Set<string>,
  signal: AbortSignal,
): Promise<boolean> {
  const range = { start: startS, end: endS, limit: DATA_ROWS_MAX }
  const query = { user: address, taker_only: true, ...range }
  const request: DataRequest = { path: '/v2/trades', query, kind: 'wallet' }
  let isReadable = true
  for await (const rows of data.pages(request, PAGES_MAX, { signal })) {
    for (const wire of rows) {
      const key = roleKey(wire)
      if (key === null) {
        isReadable = false
        counters.rejected('bad_wallet_trade', 'a taker row of the Data API')
      } else if (keys.has(key)) takers.add(key)
    }
    if (takers.size === keys.size) return true
  }
  return isReadable
}
