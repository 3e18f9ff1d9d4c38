// Batches that the main thread passes to the tape's writer. The writer appends them to the journal unchanged.

import { type OffsetRange, offsetRange } from '../cluster/batch.ts'
import { flat, message, record } from '../codec.ts'
import type { BlockHead } from './block.ts'
import type { TapeRows } from './columns.ts'
import { marketOfItem } from './item-codes.ts'

export interface BatchHead {
  /** First and last offset of the rows in each channel. */
  readonly offsets: readonly OffsetRange[]
}

const batchHead = message(record<BatchHead>({ offsets: flat(offsetRange) }))

export const encodeBatchHead = (head: BatchHead): Uint8Array => batchHead.encode(head)
/** Null unless the bytes are exactly one head. */
export const decodeBatchHead = (bytes: Uint8Array): BatchHead | null => batchHead.decode(bytes)

/** The facts about rows in the head of their block. */
export function summaryOf(
  { items }: TapeRows,
  batches: readonly BatchHead[],
): Pick<BlockHead, 'offsets' | 'counts' | 'markets'> {
  const counts = new Map<number, number>()
  const markets = new Set<number>()
  for (const item of items) {
    const [code] = item
    if (typeof code === 'number') counts.set(code, (counts.get(code) ?? 0) + 1)
    const market = marketOfItem(item)
    if (market !== null) markets.add(market)
  }
  return {
    offsets: joinOffsets(batches.flatMap((batch) => batch.offsets)),
    counts,
    markets: [...markets].sort((one, other) => one - other),
  }
}

/** One range per channel, from the first to the last offset of the channel's ranges. */
export function joinOffsets(ranges: readonly OffsetRange[]): readonly OffsetRange[] {
  const joined = new Map<string, OffsetRange>()
  for (const { channel, first, last } of ranges) {
    const range = joined.get(channel) ?? { channel, first, last }
    joined.set(channel, {
      channel,
      first: Math.min(range.first, first),
      last: Math.max(range.last, last),
    })
  }
  return [...joined.values()]
}
