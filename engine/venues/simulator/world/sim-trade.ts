// One fill. Its ids are computed on access, because storing the texts would double its memory.

import type { TradeSide } from '../../../events.ts'
import type { PriceMicros, SizeMicros, TimeMs } from '../../../units.ts'
import type { SimMarket, SimTrade, SimWallet } from '../model.ts'
import type { RunIds } from './run-ids.ts'

type Makers = SimTrade['makers']

export class LiveTrade implements SimTrade {
  readonly market: SimMarket
  readonly outcomeIndex: 0 | 1
  readonly side: TradeSide
  readonly price: PriceMicros
  readonly size: SizeMicros
  readonly atMs: TimeMs
  readonly taker: SimWallet
  readonly makers: Makers
  readonly ids: RunIds
  /** Number of this fill in the run of `ids`. */
  readonly fillCount: number
  /** Number of the taker's order in the run of `ids`. All fills of the order have the same number. */
  readonly orderCount: number

  constructor(fields: Omit<LiveTrade, 'id' | 'txHash' | 'isBesideTick'>) {
    this.market = fields.market
    this.outcomeIndex = fields.outcomeIndex
    this.side = fields.side
    this.price = fields.price
    this.size = fields.size
    this.atMs = fields.atMs
    this.taker = fields.taker
    this.makers = fields.makers
    this.ids = fields.ids
    this.fillCount = fields.fillCount
    this.orderCount = fields.orderCount
  }

  get id(): string {
    return this.ids.tradeId(this.fillCount)
  }

  get isBesideTick(): boolean {
    return this.ids.txDigit(this.orderCount) === 0
  }

  get txHash(): string {
    return this.ids.txHash(this.orderCount)
  }
}
