// A wallet's record, PnlState and ranking figures on disk. A large PnlState is loaded in several ticks of a few
// milliseconds.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { HOUR_MS, TIME_ZERO, type TimeMs, timeMs } from '../../engine/units.ts'
import type { WalletProfile } from '../../engine/wallet.ts'
import { PnlState } from '../../engine/wallets/pnl-state.ts'
import {
  type StoredWallet,
  WALLET_RULES,
  type WalletTable,
} from '../../storage/contract/wallets.ts'

/** A PnlState from disk and its size there. */
export interface OpenedPnlState {
  readonly pnlState: PnlState
  readonly byteLength: number
}

/** The stored PnlState of a wallet; null if there is none or it is damaged. */
export async function loadPnlState(
  table: Pick<WalletTable, 'pnlState'>,
  { proxy, pnlEvents, events }: StoredWallet,
): Promise<OpenedPnlState | null> {
  if (pnlEvents === 0 || pnlEvents > events) return null
  await nextTurn()
  const bytes = table.pnlState(proxy)
  if (bytes === null) return null
  await nextTurn()
  const { byteLength } = bytes
  const pnlState = PnlState.unpack(bytes)
  return pnlState === null ? null : { pnlState, byteLength }
}

/** The record of a wallet with only a profile: at its first request, or after its ledger was dropped. */
export function newRecord(profile: WalletProfile, requestedAtMs: TimeMs): StoredWallet {
  return {
    ...profile,
    ...{ settledToMs: TIME_ZERO, isComplete: false, readAtMs: TIME_ZERO, requestedAtMs },
    ...{ events: 0, pnlEvents: 0, blocks: 0, side: 0, lacking: 0, listedToMs: null },
    rules: WALLET_RULES,
    ...{ totals: PnlState.empty().totals(), hours: [] },
  }
}

/** Hours stored with the record: a window of thirty days needs one more day, because hours begin before it. */
const HOURS_RETAINED = 31 * 24
/** Approximate bytes of a position and an event in a packed PnlState. */
const POSITION_BYTES = 400
const HISTORY_ENTRY_BYTES = 24

/** The totals and hours of the last thirty days, by which a wallet ranks. */
export function rankedFigures(
  pnlState: PnlState,
  nowMs: TimeMs,
): Pick<StoredWallet, 'totals' | 'hours'> {
  const sinceMs = timeMs(Math.max(0, nowMs - HOURS_RETAINED * HOUR_MS))
  return { totals: pnlState.totals(), hours: pnlState.hours(sinceMs) }
}

/** Approximate packed size of a PnlState of this many events, in bytes. */
export function packedBytes(pnlState: PnlState, events: number): number {
  return pnlState.positionCount * POSITION_BYTES + events * HISTORY_ENTRY_BYTES
}
