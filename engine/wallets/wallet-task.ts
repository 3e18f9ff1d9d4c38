import type { NativeMarketId } from '../ids.ts'
import type { WalletMarket } from '../wallet.ts'
import { unpackBlock } from './ledger-block.ts'
import { PnlState } from './pnl-state.ts'

/**
 * Advances a P&L state by blocks of events in order. All bytes are transferred, so the sender's arrays are empty
 * afterwards.
 */
export interface WalletTask {
  /** The packed P&L state to advance. Null: the blocks begin with the wallet's first event. */
  readonly base: Uint8Array | null
  readonly blocks: readonly Uint8Array[]
  /** Known facts of markets, including markets of the base that have been resolved since. */
  readonly markets: readonly WalletMarket[]
}

/**
 * The packed P&L state. `rebuild`: the base is damaged or lacks facts, so the task must be run again without it and
 * with all blocks. `damaged`: a block is damaged.
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
    const events = unpackBlock(bytes)
    if (events === null) return 'damaged'
    for (const event of events) {
      if (pnlState.apply(event, find) === 'rebuild') isStale = true
    }
  }
  for (const market of task.markets) if (pnlState.resolve(market) === 'rebuild') isStale = true
  // Without a base, the task had all blocks, so a rebuild would have the same result.
  return isStale && task.base !== null ? 'rebuild' : pnlState.pack()
}
