// A wallet's row and account on disk: a stored account taken into memory (a large one is read, checked and opened in
// separate turns of the loop, each some milliseconds of work), the row of a new wallet, and the figures by which a
// wallet ranks. Not for: what a row holds (storage/contract/wallets.ts). Upholds WALLETS7, WALLETS13, WALLETS24.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { HOUR_MS, TIME_ZERO, type TimeMs, timeMs } from '../../engine/units.ts'
import type { WalletProfile } from '../../engine/wallet.ts'
import { WalletAccount } from '../../engine/wallets/account.ts'
import type { StoredWallet, WalletTable } from '../../storage/contract/wallets.ts'

/** An account as it was on disk, and what it took there. */
export interface OpenedAccount {
  readonly account: WalletAccount
  readonly byteLength: number
}

/** Null where there is none, or it is damaged. */
export async function openedAccount(
  table: Pick<WalletTable, 'account'>,
  { proxy, accountEvents, events }: StoredWallet,
): Promise<OpenedAccount | null> {
  if (accountEvents === 0 || accountEvents > events) return null
  await nextTurn()
  const bytes = table.account(proxy)
  if (bytes === null) return null
  await nextTurn()
  const { byteLength } = bytes
  const account = WalletAccount.unpack(bytes)
  return account === null ? null : { account, byteLength }
}

/** The row of a wallet of which only the profile is known: at its first request, or after its ledger was dropped. */
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

/** The totals, and the hours of the last thirty days, by which a wallet ranks. */
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
