// What the owners let the face see of the logs: trades and whales as they were told, run after run, for
// streams that resume. Part of views.ts, which shows these to http/.

import type { MarketNumber } from '../engine/market/market.ts'
import type { TimeMs } from '../engine/units.ts'
import type {
  HistoryQuery,
  OffsetQuery,
  Run,
  StoredTrade,
  TradeLoss,
  TradeOfMarket,
} from '../storage/contract/storage.ts'
import type { WhaleRow } from '../storage/contract/whales.ts'

export type RunView = Run
export type TradeLossView = TradeLoss
export type WhaleRowView = WhaleRow

/** The trades that were told, by run and offset: what a stream resumes from. */
export interface TradeLogView {
  /** The run that is going on. */
  readonly present: RunView
  /** The kept runs, oldest first, the present one last. Reads the disk. */
  runs(): readonly RunView[]
  /**
   * At most `limit` trades that a run told behind an offset, in order. An offset that is missing has
   * expired; one that the present run has told is there in the same turn.
   */
  range(query: OffsetQuery): readonly TradeOfMarket[]
  /**
   * The same of a few markets among many: `trade` null for the others, whose trades are not read,
   * undefined for one that can no longer be read.
   */
  rangeOf(query: OffsetQuery & { readonly isWanted: (market: MarketNumber) => boolean }): readonly {
    readonly offset: number
    readonly market: MarketNumber
    readonly trade: StoredTrade | null | undefined
  }[]
  /** Trades lost for good, as a run announced them at or behind an offset, in order. */
  losses(query: { run: number; offset: number }): readonly TradeLossView[]
}

/** The whale rows: as they were told, for streams that resume, and as a history, for paging. */
export interface WhaleLogView {
  /** The run that is going on. */
  readonly present: RunView
  /** The kept runs, oldest first, the present one last; `endOffset` is that of their whales. */
  runs(): readonly RunView[]
  /** At most `limit` whales that a run told behind an offset, in order. */
  range(query: OffsetQuery): readonly WhaleRow[]
  /** A slice of all whale rows, told or not, from 1,000 dollars on; filters are the reader's. */
  history(query: HistoryQuery): readonly WhaleRow[]
  historyOfMarket(query: HistoryQuery & { readonly market: MarketNumber }): readonly WhaleRow[]
  /** Where our records begin; null when there are none. */
  oldestMs(): TimeMs | null
}
