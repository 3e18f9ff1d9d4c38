// The part of the storage's contract that concerns wallets of venue a: the wallets that were asked for, the ledger of each in
// packed blocks, its running tally, and the markets that wallets touched, which the catalogue forgets. All in
// `market`, kept for ever, committed with the other rows of the turn.

import type { NativeMarketId, WalletAddress } from '../../engine/ids.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { WalletMarket, WalletProfile } from '../../engine/wallet.ts'
import type { HourFigures, WalletTotals } from '../../engine/wallets/wallet-figures.ts'

/**
 * A ledger that is written anew is written beside the old one, so that a crash leaves one of the two whole: the row says
 * which. `tail` are the events behind the ledger's end, which the venue may still list otherwise.
 */
export const walletSides = { 0: 0, 1: 2 ** 30, tail: 2 ** 31 } as const
export type WalletSide = 0 | 1

/** Raised when events of kinds that were left out before are kept: what an older number read is read anew. */
export const WALLET_RULES = 1

/** What is kept of a wallet beside its ledger; `proxy` is its key. */
export interface StoredWallet extends WalletProfile {
  /** The ledger holds everything before this; see WalletReach. */
  readonly settledToMs: TimeMs
  readonly isComplete: boolean
  /** When the venue was last asked for it, and when a user last asked for it. */
  readonly readAtMs: TimeMs
  readonly requestedAtMs: TimeMs
  /** Events in the ledger, and how many of these the running tally has in it. */
  readonly events: number
  readonly pnlEvents: number
  readonly blocks: number
  /** Where its blocks are; see walletSides. */
  readonly side: WalletSide
  /** Kept events that the venue's last answer lacks. */
  readonly lacking: number
  /** The rules by which all of the history was read; below WALLET_RULES it lacks events that the venue lists. */
  readonly rules: number
  /** When the last settled event was in the venue's answer; 0: it has none; null: the ledger's last one. */
  readonly listedToMs: TimeMs | null
  /** As last shown, for rankings. */
  readonly totals: WalletTotals
  /** The last 31 days, ascending. */
  readonly hours: readonly HourFigures[]
}

/** What is kept of a market that wallets touched, for when the catalogue no longer knows it. */
export interface StoredWalletMarket extends WalletMarket {
  /** A wallet converted it, so its group must come from the venue itself: null until it did. */
  readonly isConverted: boolean
}

/** A wallet without its hours, which are the most of it and are seldom looked at. */
export type WalletHead = Omit<StoredWallet, 'hours'>

export interface WalletTable {
  /** Every wallet, for the start; in order of address. */
  all(): Iterable<StoredWallet>
  get(proxy: WalletAddress): StoredWallet | null
  /** The same without unpacking the hours, for lists: some 10 µs. */
  head(proxy: WalletAddress): WalletHead | null
  put(wallet: StoredWallet): void
  /** The proxy of an owner's address; null when it was never asked for. */
  proxyOf(eoa: WalletAddress): WalletAddress | null
  putOwner(eoa: WalletAddress, proxy: WalletAddress): void
  count(): number
  /** A block, from the number at which its side begins; null when there is none or it is damaged. The bytes are the caller's to keep. */
  block(proxy: WalletAddress, index: number): Uint8Array<ArrayBuffer> | null
  putBlock(proxy: WalletAddress, index: number, bytes: Uint8Array): void
  /** The running tally; null when none is stored or it is damaged: it is made anew from the ledger. */
  pnlState(proxy: WalletAddress): Uint8Array<ArrayBuffer> | null
  putPnlState(proxy: WalletAddress, bytes: Uint8Array): void
  /** Removes the blocks from a number on, up to the first that there is not. */
  removeBlocks(proxy: WalletAddress, from: number): void
  /** Markets that wallets touched. */
  market(id: NativeMarketId): StoredWalletMarket | null
  putMarket(market: StoredWalletMarket): void
}
