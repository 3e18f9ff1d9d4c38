// What goes into a wallet's row: of one of which nothing is known but who it is, since it was asked for the first time or
// its ledger was dropped, and the figures by which it ranks. Not for: what a row holds (storage/contract/wallets.ts).
// Upholds WALLETS7, WALLETS24.

import { HOUR_MS, TIME_ZERO, type TimeMs, timeMs } from '../../engine/units.ts'
import type { WalletProfile } from '../../engine/wallet.ts'
import { WalletAccount } from '../../engine/wallets/account.ts'
import type { StoredWallet } from '../../storage/contract/wallets.ts'

export function newRow(profile: WalletProfile, askedAtMs: TimeMs): StoredWallet {
  return {
    ...profile,
    ...{ settledToMs: TIME_ZERO, isComplete: false, readAtMs: TIME_ZERO, askedAtMs },
    ...{ events: 0, accountEvents: 0, blocks: 0, side: 0, lacking: 0, toldToMs: null },
    ...{ totals: WalletAccount.empty().totals(), hours: [] },
  }
}

/** Whole hours kept with the row: a window of thirty days needs one day more, as hours begin before it. */
const HOURS_KEPT = 31 * 24
/** What a token and a moment take in a packed account, about. */
const POSITION_BYTES = 400
const MOMENT_BYTES = 24

export function rankedFigures(
  account: WalletAccount,
  nowMs: TimeMs,
): Pick<StoredWallet, 'totals' | 'hours'> {
  const sinceMs = timeMs(Math.max(0, nowMs - HOURS_KEPT * HOUR_MS))
  return { totals: account.totals(), hours: account.hours(sinceMs) }
}

/** About what an account of so many events takes packed. */
export function packedBytes(account: WalletAccount, events: number): number {
  return account.positionCount * POSITION_BYTES + events * MOMENT_BYTES
}
