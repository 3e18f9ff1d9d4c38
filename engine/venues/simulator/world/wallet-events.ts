// The two kinds of ledger rows: a wallet's part of a fill, and its own operations. Hashes are computed on access.

import {
  type SizeMicros,
  sizeMicros,
  type TimeMs,
  USD_ZERO,
  type UsdMicros,
} from '../../../units.ts'
import type { SimMarket, SimTrade, SimWalletEvent, SimWalletEventKind } from '../model.ts'
import { fillFee, fillUsd, participation, shownPrice } from './fill-money.ts'
import type { RunIds } from './run-ids.ts'

export class WalletFill implements SimWalletEvent {
  readonly trade: SimTrade
  readonly participant: number
  readonly size: SizeMicros
  readonly usd: UsdMicros
  readonly fee: UsdMicros

  constructor(fields: Pick<WalletFill, 'trade' | 'participant' | 'size' | 'usd' | 'fee'>) {
    this.trade = fields.trade
    this.participant = fields.participant
    this.size = fields.size
    this.usd = fields.usd
    this.fee = fields.fee
  }

  get kind(): 'TRADE' {
    return 'TRADE'
  }

  get fill(): { readonly trade: SimTrade; readonly participant: number } {
    return this
  }

  get atMs(): TimeMs {
    return this.trade.atMs
  }

  get txHash(): string {
    return this.trade.txHash
  }

  get market(): SimMarket {
    return this.trade.market
  }

  get outcomeIndex(): 0 | 1 {
    return this.trade.outcomeIndex
  }
}

/** The ledger row of a fill's participant. Participant 0 is the taker, the others are makers. */
export function fillEvent(trade: SimTrade, participant: number): WalletFill {
  const size = sizeMicros(participation(trade, participant).size)
  const usd = fillUsd(shownPrice(trade), size)
  return new WalletFill({ trade, participant, size, usd, fee: fillFee(trade, participant) })
}

/** Either an operation's own transaction, or that of the trade to which the operation belongs. */
export interface Transaction {
  readonly txHash: string
}

/** A transaction without a trade. All rows of one conversion share it. */
export class OwnTransaction implements Transaction {
  readonly ids: RunIds
  /** Number of the transaction in its run. */
  readonly count: number
  /** True: the number is that of a trade of an earlier run. */
  readonly isOfTrade: boolean

  constructor(ids: RunIds, count: number, isOfTrade = false) {
    this.ids = ids
    this.count = count
    this.isOfTrade = isOfTrade
  }

  get txHash(): string {
    return this.ids.txHash(this.count)
  }
}

/** A split, merge, redemption, conversion row, migration, reward or rebate. */
export class WalletOperation implements SimWalletEvent {
  readonly kind: Exclude<SimWalletEventKind, 'TRADE'>
  readonly atMs: TimeMs
  readonly market: SimMarket | null
  readonly outcomeIndex: 0 | 1 | null
  readonly size: SizeMicros
  readonly usd: UsdMicros
  readonly transaction: Transaction

  constructor(fields: Omit<WalletOperation, 'fill' | 'fee' | 'txHash'>) {
    this.kind = fields.kind
    this.atMs = fields.atMs
    this.market = fields.market
    this.outcomeIndex = fields.outcomeIndex
    this.size = fields.size
    this.usd = fields.usd
    this.transaction = fields.transaction
  }

  get fill(): null {
    return null
  }

  get fee(): UsdMicros {
    return USD_ZERO
  }

  get txHash(): string {
    return this.transaction.txHash
  }
}

/** Whether a row states its token and number of contracts. About half of the redemptions do not. */
export function isNamed({ kind, txHash }: Pick<SimWalletEvent, 'kind' | 'txHash'>): boolean {
  return kind !== 'REDEEM' || Number.parseInt(txHash.slice(-1), 16) % 2 === 0
}
