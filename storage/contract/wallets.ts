// Data types of venue a wallets. All rows are in the environment `market` and are never deleted.

import type { TimeMs } from '../../engine/units.ts'
import type { WalletMarket, WalletProfile } from '../../engine/wallet.ts'
import type { HourFigures, WalletTotals } from '../../engine/wallets/wallet-figures.ts'

/**
 * First block number of each ledger version. A rewritten ledger is stored beside the old one, so that a crash always
 * leaves a complete version. The wallet's row states the current version. `tail` holds the newest events, which the
 * venue may still change.
 */
export const walletSides = { 0: 0, 1: 2 ** 30, tail: 2 ** 31 } as const
export type WalletSide = 0 | 1

/** Increment this when more kinds of events are stored. Wallets that were synced with a lower number are synced again. */
export const WALLET_RULES = 1

export interface StoredWallet extends WalletProfile {
  /** The ledger contains all events before this time; see WalletReach. */
  readonly settledToMs: TimeMs
  readonly isComplete: boolean
  /** Times of the last sync and of the last request by a user. */
  readonly readAtMs: TimeMs
  readonly requestedAtMs: TimeMs
  /** Number of events in the ledger, and number of events that the P&L state includes. */
  readonly events: number
  readonly pnlEvents: number
  readonly blocks: number
  readonly side: WalletSide
  /** Number of stored events that the venue's last response lacked. */
  readonly lacking: number
  /**
   * The value of WALLET_RULES when the complete history was synced. A lower value than the current one means that some
   * events are not stored.
   */
  readonly rules: number
  /**
   * Time of the last settled event in the venue's response. 0: the response had none. Null: equal to the time of the
   * ledger's last event.
   */
  readonly listedToMs: TimeMs | null
  readonly totals: WalletTotals
  /** The last 31 days, ascending. */
  readonly hours: readonly HourFigures[]
}

/** Facts of a market that wallets traded, for markets that the catalogue no longer lists. */
export interface StoredWalletMarket extends WalletMarket {
  /**
   * True if a wallet converted positions of the market. The market's group must then be requested from the venue.
   * `group` is null until then.
   */
  readonly isConverted: boolean
}

export type WalletHead = Omit<StoredWallet, 'hours'>
