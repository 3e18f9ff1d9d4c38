// The part of the storage's contract that concerns whale rows: what storage.ts is for all other tables.
// Upholds WHALE8, WHALE9.

import type { Whale } from '../../engine/events.ts'
import type { NativeMarketId, VenueKey } from '../../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { OffsetQuery, SliceQuery } from './storage.ts'

/** A whale row on disk, with the run and stamp of its message. */
export interface StoredWhale extends Whale {
  /** Our time of its first fill. */
  readonly receivedAtMs: TimeMs
  /** Which run published it; null, like its stamp, while it was not published. */
  readonly run: number | null
  readonly offset: number | null
  readonly seq: number | null
}

/** Whose whale it is; by native id too, since whales outlive their markets in the catalogue. */
export type WhaleMarket = Pick<MarketRef, 'number' | 'venue' | 'nativeId'>

export interface WhaleRow {
  readonly market: MarketNumber
  readonly venue: VenueKey
  readonly nativeMarket: NativeMarketId
  readonly whale: StoredWhale
}

/** Whale rows, kept for ever; their ordinals count all whales of a millisecond, of whatever market. */
export interface WhaleTable {
  /** By its id, which is that of its first fill. */
  get(market: MarketNumber, nativeId: string): StoredWhale | null
  /** Stores a whale and gives it its ordinal. The caller has asked `get`; a repeat throws (our bug). */
  put(market: WhaleMarket, whale: Omit<StoredWhale, 'ordinal'>): StoredWhale
  /**
   * Replaces the stored whale of the same id, time and ordinal: more fills, or published at last. Does
   * nothing for one that is not stored (a full disk took no puts).
   */
  replace(market: WhaleMarket, whale: StoredWhale): void
  /** Whales of [fromMs, toMs] strictly behind `after`, of all markets, at most `limit`. */
  range(query: SliceQuery): readonly WhaleRow[]
  /** The same of one market. */
  rangeOfMarket(query: SliceQuery & { readonly market: MarketNumber }): readonly WhaleRow[]
  /** Whales published in a run with offset above `offset`, by offset; for resuming streams. */
  rangeByOffset(query: OffsetQuery): readonly WhaleRow[]
  /** The newest offset of a run's whales; 0 when it has none. */
  newestOffset(run: number): number
  /** Time of the oldest whale; null when there is none. */
  oldestMs(): TimeMs | null
  count(): number
}
