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
  readonly roleOf: (row: TradeRow) => WalletRole
}

/** Maximum wallets. Further wallets are counted and not followed. Their history still contains their fills. */
const FOLLOWED_MAX = 100_000

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

  /** Null if the wallet is not followed. A fill is emitted once per participant. A later sync removes repeats. */
  fill(row: TradeRow, wire: WireTrade, receivedAtMs: TimeMs): WalletFillEvent | null {
    const wallet = this.#addresses.get(row.wallet)
    // Combos are only read by syncs, because the stream does not mark their rows.
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
