// Items of the tape: those of the cluster's log, with the same codec, and three kinds that only the tape has.

import type { RawItem } from '../../engine/cluster/batch.ts'
import {
  boolean,
  choice,
  constant,
  count,
  type Field,
  fieldsOf,
  NEWEST,
  number,
  readExactly,
  record,
  text,
  time,
} from '../../engine/codec.ts'
import type { Trade } from '../../engine/events.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { type MsgpackWriter, writeValue } from '../../engine/msgpack-writer.ts'
import type { TradeCompletion } from '../../engine/publisher.ts'
import { TAPE_CODES } from '../../engine/tape/item-codes.ts'
import { type Lost, lost } from '../../engine/tape/lost.ts'
import { type FindMarket, itemNames, type LogItem, readItem, writeItem } from './log-items.ts'

/** Published updates are missing on the tape. */
export interface LostItem extends Lost {
  readonly kind: 'lost'
}

/** A wallet of an earlier trade became known. */
export interface CompletedItem
  extends Pick<TradeCompletion, 'role' | 'wallet'>,
    Pick<Trade, 'nativeId' | 'timeMs' | 'ordinal'> {
  readonly kind: 'completed'
  readonly market: MarketNumber
}

/**
 * The end of a sweep, which writes the states of markets. Together with the rows since its begin, the states give the
 * market data at any later time.
 */
export interface SweptItem {
  readonly kind: 'swept'
  /** Begin of the sweep, in microseconds. Its states follow. */
  readonly fromUs: number
  /** Whether it wrote all markets. Otherwise only those that changed since the begin of the sweep before. */
  readonly isFull: boolean
}

type TapeOnlyItem = LostItem | CompletedItem | SweptItem
export type TapeItem = LogItem | TapeOnlyItem

/** A decoded item, or the reason why it cannot be decoded. */
export type ReadTapeItem = TapeItem | 'damaged' | 'unknown_market'

const completed = record<CompletedItem>({
  kind: constant('completed'),
  market: number,
  nativeId: text,
  timeMs: time,
  ordinal: count,
  role: choice<TradeCompletion['role']>(['maker', 'taker']),
  wallet: text,
})
const swept = record<SweptItem>({ kind: constant('swept'), fromUs: count, isFull: boolean })
const lostFields: Field<LostItem> = {
  put: (to, item) => lost.put(to, item),
  take: (from) => ({ kind: 'lost', ...lost.take(from) }),
}

/** Names of all kinds of items and updates by code. */
export const tapeItemNames: ReadonlyMap<number, string> = new Map([
  ...itemNames,
  [TAPE_CODES.lost, 'lost'],
  [TAPE_CODES.completed, 'completed'],
  [TAPE_CODES.swept, 'swept'],
])

/** Appends an item to the writer's buffer. */
export function writeTapeItem(to: MsgpackWriter, item: TapeItem): void {
  if (item.kind === 'lost') writeValue(to, [TAPE_CODES.lost, ...fieldsOf(lostFields, item)])
  else if (item.kind === 'completed') {
    writeValue(to, [TAPE_CODES.completed, ...fieldsOf(completed, item)])
  } else if (item.kind === 'swept') writeValue(to, [TAPE_CODES.swept, ...fieldsOf(swept, item)])
  else writeItem(to, item)
}

/** Decodes the fields of an item. `find` looks up the markets to which updates refer. */
export function readTapeItem(raw: RawItem, find: FindMarket): ReadTapeItem {
  const [code] = raw
  if (code === TAPE_CODES.lost) return exactly(lostFields, raw)
  if (code === TAPE_CODES.completed) return exactly(completed, raw)
  if (code === TAPE_CODES.swept) return exactly(swept, raw)
  return readItem(raw, find)
}

function exactly(field: Field<TapeOnlyItem>, raw: RawItem): TapeOnlyItem | 'damaged' {
  try {
    return readExactly(field, raw, NEWEST, 1)
  } catch {
    return 'damaged'
  }
}
