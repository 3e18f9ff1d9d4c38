// One reading of a wallet's history from the venue: what is settled goes to the ledger as it comes, a block's worth at
// a time, what is not is handed back. It ends early without loss: whatever came before is in the ledger, and the next
// reading goes on behind it. Not for: when a wallet is read (wallets.ts). Upholds WALLETS3, WALLETS6.

import type { WalletAddress } from '../engine/ids.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import type { VenueWallets, WalletEvent } from '../engine/wallet.ts'
import { blockEvents } from './wallet-ledger.ts'
import type { FetchGroup, FetchMarkets } from './wallet-markets.ts'

/**
 * Events so young are kept back while a reading lasts: the venue may still tell their seconds otherwise. Twice what it
 * says itself (WalletReach), so that nothing goes to the ledger that is not settled at the end.
 */
const YOUNG_MS = 120_000

/** What a reading asks of the venue. */
export interface WalletSource {
  readonly wallets: Pick<VenueWallets, 'history'>
  readonly fetchMarkets: FetchMarkets
  readonly fetchGroup: FetchGroup
}

export interface ReadingTask {
  readonly address: WalletAddress
  readonly fromMs: TimeMs
  /** Of the last event known; null: none. */
  readonly lastMs: TimeMs | null
  readonly nowMs: TimeMs
  /** Takes settled events; everything before `settledToMs` is known then. Awaited, so that it can slow the reading. */
  readonly settle: (events: readonly WalletEvent[], settledToMs: TimeMs) => Promise<void>
}

export interface ReadingResult {
  readonly settledToMs: TimeMs
  /** Of what became settled, and of what follows: see WalletReach. */
  readonly isComplete: boolean
  readonly isTailWhole: boolean
  /** It was no further than before, though there may be something: the venue does not tell what is known any more. */
  readonly isStuck: boolean
  /** From `settledToMs` on, in order. */
  readonly unsettled: readonly WalletEvent[]
  /** These, and the last settled ones: what live fills are compared with. */
  readonly recent: readonly WalletEvent[]
}

/** Rejects as VenueWallets.history does, with what came before in the ledger. */
export async function readWallet(
  venue: Pick<VenueWallets, 'history'>,
  { address, fromMs, lastMs, nowMs, settle }: ReadingTask,
  signal: AbortSignal,
): Promise<ReadingResult> {
  const youngFromMs = nowMs - YOUNG_MS
  let settledToMs = fromMs
  /** In order; bounded by a block, one call's events, and what two minutes bring. */
  let kept: WalletEvent[] = []
  let recent: readonly WalletEvent[] = []
  const settleBefore = async (endMs: number): Promise<void> => {
    const end = kept.findIndex((event) => event.timeMs >= endMs)
    const settled = end < 0 ? kept : kept.slice(0, end)
    const last = settled.at(-1)
    if (last === undefined) return
    kept = end < 0 ? [] : kept.slice(end)
    recent = settled.slice(-blockEvents)
    settledToMs = timeMs(Math.max(settledToMs, last.timeMs + 1_000))
    await settle(settled, settledToMs)
  }
  const take = async (events: readonly WalletEvent[]): Promise<void> => {
    for (const event of events) if (event.timeMs >= settledToMs) kept.push(event)
    const first = kept[blockEvents - 1]
    if (first !== undefined && first.timeMs < youngFromMs) await settleBefore(youngFromMs)
  }
  try {
    const reach = await venue.history({ address, fromMs, lastMs }, take, signal)
    await settleBefore(reach.settledToMs)
    settledToMs = timeMs(Math.max(settledToMs, reach.settledToMs))
    await settle([], settledToMs)
    const isRecent = ({ timeMs: atMs }: WalletEvent) => atMs >= settledToMs - YOUNG_MS
    const { isComplete, isTailWhole } = reach
    return {
      ...{ settledToMs, isComplete, isTailWhole, unsettled: kept },
      isStuck: !isTailWhole && settledToMs === fromMs,
      recent: [...recent.filter(isRecent), ...kept],
    }
  } catch (error) {
    // Seconds come whole: those that are over will not be told otherwise.
    await settleBefore(youngFromMs)
    throw error
  }
}
