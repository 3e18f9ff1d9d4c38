// A checkpoint contains the engine's in-memory state as log items, and a log position for each shard. A reader applies
// the items, then the log after those positions. `seq` and row version identify items that occur in both.

import { crc32 } from 'node:zlib'
import {
  choice,
  count,
  countMs,
  fieldsOf,
  flat,
  list,
  mapped,
  nested,
  orNull,
  record,
  text,
} from '../codec.ts'
import { VENUE_KEYS, type VenueKey } from '../ids.ts'
import { encoded, writeValue } from '../msgpack-writer.ts'
import type { TimeMs } from '../units.ts'
import { decodeItems, type RawItem, versioned } from './batch.ts'
import { SHARDS, type ShardName } from './cluster-log.ts'

/** A CRC-32 of all preceding bytes is at the end. */
const CHECKSUM_BYTES = 4

export const checkpointObject = 'checkpoint'

/** The checkpoint contains all batches of a shard up to this position. */
export interface ShardPosition {
  readonly shard: ShardName
  /**
   * Sequence of the last batch of which all items are in the checkpoint. 0 if no batch is complete. Items of later
   * batches may be included.
   */
  readonly sequence: number
  /** Number of the same batch within the epoch. */
  readonly batch: number
}

export interface EngineRun {
  readonly number: number
  readonly epoch: string
  readonly startedAtMs: TimeMs
  /** Null: unknown, or the run has not ended. */
  readonly endOffset: number | null
}

export interface AnnouncedLoss {
  readonly run: number
  /** Offset of the newest trade when the loss was announced. */
  readonly offset: number
  readonly venue: VenueKey
  /** Null: the loss concerns all markets of the venue. */
  readonly market: number | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly count: number | null
}

export interface CheckpointHeader {
  readonly epoch: string
  readonly term: number
  readonly takenAtMs: TimeMs
  /** Runs whose trades are retained, oldest first. The last run is the current one. */
  readonly runs: readonly EngineRun[]
  readonly recordsSinceMs: TimeMs
  readonly names: readonly { readonly venue: VenueKey; readonly platform: string }[]
  readonly shards: readonly ShardPosition[]
  readonly offsets: Readonly<Record<string, number>>
  readonly version: number
  readonly count: number
  readonly losses: readonly AnnouncedLoss[]
}

export interface Checkpoint extends CheckpointHeader {
  readonly items: readonly RawItem[]
}

const venue = choice(VENUE_KEYS)
type Offset = readonly [channel: string, offset: number]

const header = versioned<CheckpointHeader>({
  epoch: text,
  term: count,
  takenAtMs: countMs,
  runs: list(
    nested(
      record<EngineRun>({
        number: count,
        epoch: text,
        startedAtMs: countMs,
        endOffset: orNull(count),
      }),
    ),
  ),
  recordsSinceMs: countMs,
  names: flat(record<CheckpointHeader['names'][number]>({ venue, platform: text })),
  shards: flat(record<ShardPosition>({ shard: choice(SHARDS), sequence: count, batch: count })),
  offsets: mapped<readonly Offset[], CheckpointHeader['offsets']>(
    flat({
      put: (to, entry) => to.push(...entry),
      take: (from) => [text.take(from), count.take(from)],
    }),
    Object.entries,
    Object.fromEntries,
  ),
  version: count,
  count,
  losses: flat(
    record<AnnouncedLoss>({
      run: count,
      offset: count,
      venue,
      market: orNull(count),
      fromMs: countMs,
      toMs: countMs,
      count: orNull(count),
    }),
  ),
})

/** `items`: encoded and concatenated items. */
export function encodeCheckpoint(of: CheckpointHeader, items: readonly Uint8Array[]): Buffer {
  const fields = fieldsOf(header, of)
  const parts = [encoded((writer) => writeValue(writer, fields)), ...items]
  let sum = 0
  for (const part of parts) sum = crc32(part, sum)
  const end = Buffer.alloc(CHECKSUM_BYTES)
  end.writeUInt32BE(sum >>> 0)
  return Buffer.concat([...parts, end])
}

/** Null unless the bytes are exactly one undamaged checkpoint. */
export function decodeCheckpoint(bytes: Uint8Array): Checkpoint | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = buffer.length - CHECKSUM_BYTES
  if (end < 1 || buffer.readUInt32BE(end) !== crc32(buffer.subarray(0, end)) >>> 0) return null
  return decodeItems(buffer.subarray(0, end), header)
}
