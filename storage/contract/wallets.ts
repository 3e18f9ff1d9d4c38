// Data types of venue a wallets: synced wallets, their ledgers in packed blocks, their P&L state, and the markets that
// they traded. These markets may no longer be in the catalogue. All rows are in `market` and are never deleted.

import type { TimeMs } from '../../engine/units.ts'
import type { WalletMarket, WalletProfile } from '../../engine/wallet.ts'
import type { HourFigures, WalletTotals } from '../../engine/wallets/wallet-figures.ts'

/**
 * First block number of each ledger version. A rewritten ledger is stored beside the old one, so that one of them is
 * complete after a crash. The wallet's row states which one is current. `tail` holds the newest events, which the venue
 * may still change.
 */
export const walletSides = { 0: 0, 1: 2 ** 30, tail: 2 ** 31 } as const
export type WalletSide = 0 | 1

/**
 * Incremented when a release stores kinds of events that were ignored before. Wallets with a lower number are synced
 * again.
 */
export const WALLET_RULES = 1

/** A wallet's stored facts, except its ledger. The key is `proxy`. */
export interface StoredWallet extends WalletProfile {
  /** The ledger contains all events before this time; see WalletReach. */
  readonly settledToMs: TimeMs
  readonly isComplete: boolean
  /** Time of the last sync, and of the last request by a user. */
  readonly readAtMs: TimeMs
  readonly requestedAtMs: TimeMs
  /** Number of events in the ledger, and number of those that the P&L state includes. */
  readonly events: number
  readonly pnlEvents: number
  readonly blocks: number
  /** The ledger version whose blocks are current; see walletSides. */
  readonly side: WalletSide
  /** Number of stored events that were missing from the venue's last response. */
  readonly lacking: number
  /**
   * The WALLET_RULES under which the complete history was synced. If it is below the current value, some events of the
   * venue are not stored.
   */
  readonly rules: number
  /** Time of the last settled event in the venue's response. 0: no such event. Null: same as the ledger's last event. */
  readonly listedToMs: TimeMs | null
  /** Totals as last served. Rankings use them. */
  readonly totals: WalletTotals
  /** Hourly figures of the last 31 days, ascending. */
  readonly hours: readonly HourFigures[]
}

/** Facts of a market that wallets traded. They are used when the catalogue no longer lists it. */
export interface StoredWalletMarket extends WalletMarket {
  /**
   * True if a wallet converted positions of it. Its group must then be requested from the venue; it is null before
   * that.
   */
  readonly isConverted: boolean
}

/** A wallet without its hourly figures, which use most of its bytes and are rarely needed. */
export type WalletHead = Omit<StoredWallet, 'hours'>
