// Format of a checkpoint: all in-memory data that gateways serve, as of given sequences of all shards, in
// the items of the log. A reader takes the items, then the shards after those sequences. It recognises
// duplicates by `seq` and by the versions of rows.

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

/** The CRC-32 of all preceding bytes, after the items. */
const CHECKSUM_BYTES = 4

/** The name of the object that contains the newest one. */
export const checkpointObject = 'checkpoint'

/** How much of one shard a checkpoint contains. */
export interface ShardPosition {
  readonly shard: ShardName
  /** Sequence of the newest batch that it certainly contains. 0: none. */
  readonly sequence: number
  /** The number of that batch within the epoch. */
  readonly batch: number
}

/** A run of the engine, with which streams resume. */
export interface EngineRun {
  readonly number: number
  readonly epoch: string
  readonly startedAtMs: TimeMs
  /** Null: unknown, or the run is in progress. */
  readonly endOffset: number | null
}

/** Trades that the engine announced as lost, for streams that resume from before the announcement. */
export interface AnnouncedLoss {
  readonly run: number
  /** Offset of the newest trade at that time. */
  readonly offset: number
  readonly venue: VenueKey
  /** Null: any market of the venue. */
  readonly market: number | null
  readonly fromMs: TimeMs
  readonly toMs: TimeMs
  readonly count: number | null
}

export interface CheckpointHeader {
  readonly epoch: string
  readonly term: number
  readonly takenAtMs: TimeMs
  /** The retained runs, oldest first, the current one last. */
  readonly runs: readonly EngineRun[]
  readonly recordsSinceMs: TimeMs
  /** The public name of each venue. */
  readonly names: readonly { readonly venue: VenueKey; readonly platform: string }[]
  readonly shards: readonly ShardPosition[]
  /** The newest offset of each channel when the checkpoint was begun. */
  readonly offsets: Readonly<Record<string, number>>
  /** The newest version of a row when the checkpoint was begun. */
  readonly version: number
  readonly count: number
  /** Losses of the retained runs. */
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

/** The bytes of a checkpoint. `items` are encoded already, concatenated. */
export function encodeCheckpoint(of: CheckpointHeader, items: readonly Uint8Array[]): Buffer {
  const fields = fieldsOf(header, of)
  const parts = [encoded((writer) => writeValue(writer, fields)), ...items]
  let sum = 0
  for (const part of parts) sum = crc32(part, sum)
  const end = Buffer.alloc(CHECKSUM_BYTES)
  end.writeUInt32BE(sum >>> 0)
  return Buffer.concat([...parts, end])
}

/** The checkpoint in these bytes. Null unless they are exactly one, undamaged. */
export function decodeCheckpoint(bytes: Uint8Array): Checkpoint | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = buffer.length - CHECKSUM_BYTES
  if (end < 1 || buffer.readUInt32BE(end) !== crc32(buffer.subarray(0, end)) >>> 0) return null
  return decodeItems(buffer.subarray(0, end), header)
}
