// A stored account taken into memory: a large one is read, checked and opened in turns of the loop of their own, each
// some milliseconds of work. Not for: wallets without one (actors/wallets/callers.ts). Upholds WALLETS13.

import { setImmediate as nextTurn } from 'node:timers/promises'
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
