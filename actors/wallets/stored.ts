// A wallet's record and tally on disk: a stored tally taken into memory (a large one is read, checked and opened in
// separate turns of the loop, each some milliseconds of work), the record of a new wallet, and the figures by which a
// wallet ranks.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { HOUR_MS, TIME_ZERO, type TimeMs, timeMs } from '../../engine/units.ts'
import type { WalletProfile } from '../../engine/wallet.ts'
import { WalletTally } from '../../engine/wallets/tally.ts'
import {
  type StoredWallet,
  WALLET_RULES,
  type WalletTable,
} from '../../storage/contract/wallets.ts'

/** A tally from disk, and its size there. */
export interface OpenedTally {
  readonly tally: WalletTally
  readonly byteLength: number
}

/** The stored tally of a wallet; null when there is none, or it is damaged. */
export async function openedTally(
  table: Pick<WalletTable, 'tally'>,
  { proxy, tallyEvents, events }: StoredWallet,
): Promise<OpenedTally | null> {
  if (tallyEvents === 0 || tallyEvents > events) return null
  await nextTurn()
  const bytes = table.tally(proxy)
  if (bytes === null) return null
  await nextTurn()
  const { byteLength } = bytes
  const tally = WalletTally.unpack(bytes)
  return tally === null ? null : { tally, byteLength }
}

/** The record of a wallet of which only the profile is known: at its first request, or after its ledger was dropped. */
export function newRecord(profile: WalletProfile, askedAtMs: TimeMs): StoredWallet {
  return {
    ...profile,
    ...{ settledToMs: TIME_ZERO, isComplete: false, readAtMs: TIME_ZERO, askedAtMs },
    ...{ events: 0, tallyEvents: 0, blocks: 0, side: 0, lacking: 0, listedToMs: null },
    rules: WALLET_RULES,
    ...{ totals: WalletTally.empty().totals(), hours: [] },
  }
}

/** Whole hours kept with the record: a window of thirty days needs one day more, as hours begin before it. */
const HOURS_KEPT = 31 * 24
/** About what a position and an event take in a packed tally. */
const POSITION_BYTES = 400
const MOMENT_BYTES = 24

/** The totals, and the hours of the last thirty days, by which a wallet ranks. */
export function rankedFigures(
  tally: WalletTally,
  nowMs: TimeMs,
): Pick<StoredWallet, 'totals' | 'hours'> {
  const sinceMs = timeMs(Math.max(0, nowMs - HOURS_KEPT * HOUR_MS))
  return { totals: tally.totals(), hours: tally.hours(sinceMs) }
}

/** About what a tally of so many events takes packed. */
export function packedBytes(tally: WalletTally, events: number): number {
  return tally.positionCount * POSITION_BYTES + events * MOMENT_BYTES
}
