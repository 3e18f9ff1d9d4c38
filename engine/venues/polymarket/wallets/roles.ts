// Taker or maker: `/activity` does not say, but `/trades` lists takers alone. A fill that is in that list is a
// taker's; one that is not is a maker's, if the list was whole. Upholds WALLETREAD6.

import type { WalletAddress } from '../../../ids.ts'
import type { WalletRole } from '../../../wallet.ts'
import type { Intake } from '../intake.ts'
import { isTrade } from '../messages.ts'
import { readTrade } from '../trades/trades.ts'
import { type JsonHost, listOf } from './pages.ts'

export interface RolesAsked {
  readonly address: WalletAddress
  /** Unix seconds, both inclusive. */
  readonly startS: number
  readonly endS: number
  /** Of each fill in question, as readTrade makes them. */
  readonly keys: readonly string[]
}

const PAGE_ROWS = 1_000
/** The most the venue gives in one page; for seconds with more fills than a usual page. */
const PAGE_ROWS_MAX = 10_000
/** The venue refuses offsets from here on. */
const OFFSET_END = 3_000

/**
 * The roles of the fills, in the order of `keys`; of equal fills the first are the takers. Null where it cannot
 * be told: the list was cut short or not to be had. Rejects only when `signal` is aborted.
 */
export async function readRoles(
  parts: { readonly data: JsonHost; readonly intake: Intake },
  asked: RolesAsked,
  signal: AbortSignal,
): Promise<readonly WalletRole[]> {
  if (asked.keys.length === 0) return []
  const left = new Map<string, number>()
  for (const key of asked.keys) left.set(key, (left.get(key) ?? 0) + 1)
  const takers = new Map<string, number>()
  let isWhole = false
  try {
    isWhole = await readTakers(parts, { ...asked, left, takers }, signal)
  } catch (error) {
    if (signal.aborted) throw error
    parts.intake.trouble('roles_not_read', String(error))
  }
  return asked.keys.map((key) => {
    const count = takers.get(key) ?? 0
    if (count === 0) return isWhole ? 'maker' : null
    takers.set(key, count - 1)
    return 'taker'
  })
}

/** Counts into `takers` the fills that are still `left`; whether the list is whole, or nothing is left. */
async function readTakers(
  { data, intake }: { readonly data: JsonHost; readonly intake: Intake },
  asked: RolesAsked & { left: Map<string, number>; takers: Map<string, number> },
  signal: AbortSignal,
): Promise<boolean> {
  const limit = asked.keys.length * 2 > PAGE_ROWS ? PAGE_ROWS_MAX : PAGE_ROWS
  // Whether the bounds are inclusive is not documented; a key holds its transaction, which has one second.
  const range = { start: asked.startS - 1, end: asked.endS + 1 }
  let leftCount = asked.keys.length
  const prints = new Set<string>()
  let isReadable = true
  for (let offset = 0; offset < OFFSET_END; ) {
    const query = { user: asked.address, takerOnly: true, limit, offset, ...range }
    const page = listOf(await data.getJson('/trades', query, { signal }), '/trades')
    // Pages may be capped at any length: only an empty one is surely beyond the last.
    if (page.length === 0) return isReadable
    const keys = page.map((wire) => takerKey(wire, intake))
    const print = keys.join()
    // The venue does not heed the offset, or gives an old answer.
    if (prints.has(print)) break
    prints.add(print)
    for (const key of keys) {
      if (key === '') isReadable = false
      const count = asked.left.get(key) ?? 0
      if (count === 0) continue
      asked.left.set(key, count - 1)
      asked.takers.set(key, (asked.takers.get(key) ?? 0) + 1)
      leftCount -= 1
    }
    if (leftCount === 0) return true
    offset += page.length
  }
  intake.trouble('roles_cut_short', `${asked.keys.length} fills from second ${asked.startS}`)
  return false
}

function takerKey(wire: unknown, intake: Intake): string {
  const row = isTrade(wire) ? readTrade(wire) : 'bad_trade'
  if (typeof row !== 'string') return row.key
  intake.reject(row, 'a taker row of the Data API')
  return ''
}
