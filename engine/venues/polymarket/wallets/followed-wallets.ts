// The wallets whose fills the stream is watched for. A row of another wallet costs one look-up.

import type { WalletFillEvent } from '../../../events.ts'
import type { WalletAddress } from '../../../ids.ts'
import type { TimeMs } from '../../../units.ts'
import type { WalletRole } from '../../../wallet.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import type { WireTrade } from '../messages.ts'
import type { TradeRow } from '../trades/trade-ledger.ts'
import { fillOf, isComboId } from './activity-rows.ts'

interface FollowedWalletsParts {
  readonly counters: VenueCounters
  /** What is known now of the side on which a row's wallet was. */
  readonly roleOf: (row: TradeRow) => WalletRole
}

/** About 15 MB. Full: a further wallet is not followed, which is counted; its history still has its fills. */
const FOLLOWED_MAX = 100_000

/** The set of followed wallets, and their fills as the stream tells them. */
export class FollowedWallets {
  readonly #parts: FollowedWalletsParts
  readonly #addresses = new Map<string, WalletAddress>()

  constructor(parts: FollowedWalletsParts) {
    this.#parts = parts
  }

  follow(address: WalletAddress): void {
    if (this.#addresses.size >= FOLLOWED_MAX && !this.#addresses.has(address)) {
      this.#parts.counters.trouble('wallet_not_followed', { detail: address })
      return
    }
    this.#addresses.set(address, address)
  }

  unfollow(address: WalletAddress): void {
    this.#addresses.delete(address)
  }

  /**
   * A `trades` row of the stream: each participant of a fill has one, the taker too, so that `orders_matched` is
   * not asked. Null: its wallet is not followed. Repeats of the stream are repeats here; the Data API settles them.
   */
  fill(row: TradeRow, wire: WireTrade, receivedAtMs: TimeMs): WalletFillEvent | null {
    const wallet = this.#addresses.get(row.wallet)
    // What was done with combos comes by readings: the stream does not say of a row that it is of one.
    if (wallet === undefined || isComboId(row.market)) return null
    return {
      kind: 'walletFill',
      venue: 'a',
      venueTimeMs: row.timeMs,
      receivedAtMs,
      wallet,
      fill: fillOf(row, wire, this.#parts.roleOf(row)),
    }
  }
}
