// What crosses the thread of wallets, both ways, and how a task is done.

import type { NativeMarketId } from '../ids.ts'
import type { WalletMarket } from '../wallet.ts'
import { LedgerBlock } from './ledger-block.ts'
import { PnlState } from './pnl-state.ts'

/** To bring a tally forward by blocks of events, in order. All bytes are given away: they are empty afterwards. */
export interface WalletTask {
  /** The packed tally that the blocks follow; null: they begin with the wallet's first event. */
  readonly base: Uint8Array | null
  readonly blocks: readonly Uint8Array[]
  /** What is known of markets, those that the base holds and that were resolved since included. */
  readonly markets: readonly WalletMarket[]
}

/**
 * The packed tally. `rebuild`: the base cannot be carried forward (damaged, or made when less was known): ask again
 * with all blocks and without it. `damaged`: a block is, so the ledger must be read anew.
 */
export type WalletResult = Uint8Array<ArrayBuffer> | 'rebuild' | 'damaged'

export function isWalletResult(value: unknown): value is WalletResult {
  return value === 'rebuild' || value === 'damaged' || value instanceof Uint8Array
}

export function runWalletTask(task: WalletTask): WalletResult {
  const pnlState = task.base === null ? PnlState.empty() : PnlState.unpack(task.base)
  if (pnlState === null) return 'rebuild'
  const facts = new Map<NativeMarketId, WalletMarket>()
  for (const market of task.markets) facts.set(market.nativeId, market)
  const find = (id: NativeMarketId): WalletMarket | null => facts.get(id) ?? null
  let isStale = false
  for (const bytes of task.blocks) {
    const block = LedgerBlock.open(bytes, { hasHashes: false })
    if (block === null) return 'damaged'
    for (const event of block.events()) {
      if (pnlState.apply(event, find) === 'rebuild') isStale = true
    }
  }
  for (const market of task.markets) if (pnlState.resolve(market) === 'rebuild') isStale = true
  // Without a base the task already had all blocks: making it again would give the same.
  return isStale && task.base !== null ? 'rebuild' : pnlState.pack()
}
