// Data types of venue a wallets: synced wallets, their ledgers in packed blocks, their P&L state, and the
// markets that they traded, which may leave the catalogue. All are in `market`, never deleted, and committed with the
// other rows of the event-loop tick.

import type { TimeMs } from '../../engine/units.ts'
import type { WalletMarket, WalletProfile } from '../../engine/wallet.ts'
import type { HourFigures, WalletTotals } from '../../engine/wallets/wallet-figures.ts'

/**
 * First block number of each ledger version. A rewritten ledger is stored beside the old one, so one of them stays
 * complete after a crash; the wallet's row states which is current. `tail` holds events after the ledger's end, which
 * the venue may still change.
 */
export const walletSides = { 0: 0, 1: 2 ** 30, tail: 2 ** 31 } as const
export type WalletSide = 0 | 1

/**
 * Incremented when events of formerly ignored kinds are stored. Wallets synced under a lower number are synced again.
 */
export const WALLET_RULES = 1

/** A wallet's stored facts, except its ledger. The key is `proxy`. */
export interface StoredWallet extends WalletProfile {
  /** The ledger is complete before this time; see WalletReach. */
  readonly settledToMs: TimeMs
  readonly isComplete: boolean
  /** When the wallet was last synced, and when a user last requested it. */
  readonly readAtMs: TimeMs
  readonly requestedAtMs: TimeMs
  /** Events in the ledger, and how many of them the P&L state includes. */
  readonly events: number
  readonly pnlEvents: number
  readonly blocks: number
  /** Location of its blocks; see walletSides. */
  readonly side: WalletSide
  /** Number of stored events that the venue's last response lacks. */
  readonly lacking: number
  /**
   * The WALLET_RULES under which all of the history was synced. Below the current value, events that the venue lists
   * are missing.
   */
  readonly rules: number
  /**
   * Time of the last settled event in the venue's response; 0: there is none; null: that of the ledger's last event.
   */
  readonly listedToMs: TimeMs | null
  /** As last served; used for rankings. */
  readonly totals: WalletTotals
  /** The last 31 days, ascending. */
  readonly hours: readonly HourFigures[]
}

/** Facts of a market that wallets traded, for when the catalogue no longer lists it. */
export interface StoredWalletMarket extends WalletMarket {
  /** A wallet converted it, so its group must come from the venue. The group is null until then. */
  readonly isConverted: boolean
}

/** A wallet without its hours, which are most of its bytes and seldom needed. */
export type WalletHead = Omit<StoredWallet, 'hours'>
