// Format of a checkpoint: all in-memory data that gateways serve, as of given sequences of all shards, in
// the items of the log. A reader takes the items, then the shards after those sequences. It recognises
// duplicates by `seq` and by the versions of rows.

import { crc32 } from 'node:zlib'
import { VENUE_KEYS, type VenueKey } from '../ids.ts'
import { encoded, writeValue } from '../msgpack-writer.ts'
import { type TimeMs, timeMs } from '../units.ts'
import { decodeItems, isCount, type RawItem } from './batch.ts'
import { SHARDS, type ShardName } from './cluster-log.ts'

const FORMAT = 1
const HEADER_FIELDS = 12
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

/** The bytes of a checkpoint. `items` are encoded already, concatenated. */
export function encodeCheckpoint(header: CheckpointHeader, items: readonly Uint8Array[]): Buffer {
  const parts = [headOf(header), ...items]
  let sum = 0
  for (const part of parts) sum = crc32(part, sum)
  const end = Buffer.alloc(CHECKSUM_BYTES)
  end.writeUInt32BE(sum >>> 0)
  return Buffer.concat([...parts, end])
}

function headOf(header: CheckpointHeader): Uint8Array {
  const { epoch, term, takenAtMs, recordsSinceMs, version, count } = header
  const runs = header.runs.map((run) => [run.number, run.epoch, run.startedAtMs, run.endOffset])
  const names = header.names.flatMap(({ venue, platform }) => [venue, platform])
  const shards = header.shards.flatMap(({ shard, sequence, batch }) => [shard, sequence, batch])
  const offsets = Object.entries(header.offsets).flat()
  const headFields = [FORMAT, epoch, term, takenAtMs, runs, recordsSinceMs, names]
  const losses = header.losses.flatMap(
    ({ run, offset, venue, market, fromMs, toMs, count: lost }) => [
      ...[run, offset, venue, market, fromMs, toMs, lost],
    ],
  )
  const rest = [shards, offsets, version, count, losses]
  return encoded((writer) => writeValue(writer, [...headFields, ...rest]))
}

/** The checkpoint in these bytes. Null unless they are exactly one, undamaged. */
export function decodeCheckpoint(bytes: Uint8Array): Checkpoint | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = buffer.length - CHECKSUM_BYTES
  if (end < 1 || buffer.readUInt32BE(end) !== crc32(buffer.subarray(0, end)) >>> 0) return null
  return decodeItems(buffer.subarray(0, end), readHeader)
}

function readHeader(value: unknown): CheckpointHeader | null {
  if (!Array.isArray(value) || value.length !== HEADER_FIELDS || value[0] !== FORMAT) return null
  const [
    epoch,
    term,
    takenAt,
    runValues,
    since,
    nameValues,
    positionValues,
    offsetValues,
    version,
    count,
    lossValues,
  ]: readonly unknown[] = value.slice(1)
  if (typeof epoch !== 'string' || !isCount(term) || !isCount(takenAt) || !isCount(since))
    return null
  const [runs, names] = [readRuns(runValues), readNames(nameValues)]
  const [shards, offsets] = [readPositions(positionValues), readOffsets(offsetValues)]
  if (runs === null || names === null || shards === null || offsets === null) return null
  const losses = readLosses(lossValues)
  if (!isCount(version) || !isCount(count) || losses === null) return null
  const times = { takenAtMs: timeMs(takenAt), recordsSinceMs: timeMs(since) }
  return { epoch, term, ...times, runs, names, shards, offsets, version, count, losses }
}

function readRuns(value: unknown): readonly EngineRun[] | null {
  if (!Array.isArray(value)) return null
  const runs: EngineRun[] = []
  for (const row of value) {
    if (!Array.isArray(row) || row.length !== 4) return null
    const [number, epoch, startedAt, end]: readonly unknown[] = row
    if (!isCount(number) || typeof epoch !== 'string' || !isCount(startedAt)) return null
    if (end !== null && !isCount(end)) return null
    runs.push({ number, epoch, startedAtMs: timeMs(startedAt), endOffset: end })
  }
  return runs
}

const LOSS_FIELDS = 7

/** An older engine writes null for an empty list. */
function readLosses(value: unknown): readonly AnnouncedLoss[] | null {
  if (value === null) return []
  if (!Array.isArray(value) || value.length % LOSS_FIELDS !== 0) return null
  const losses: AnnouncedLoss[] = []
  for (let index = 0; index < value.length; index += LOSS_FIELDS) {
    const row: readonly unknown[] = value.slice(index, index + LOSS_FIELDS)
    const [run, offset, letter, market, from, to, count] = row
    const venue = VENUE_KEYS.find((key) => key === letter)
    if (!isCount(run) || !isCount(offset) || venue === undefined) return null
    if (!isCount(from) || !isCount(to) || !isCountOrNull(market) || !isCountOrNull(count))
      return null
    losses.push({ run, offset, venue, market, fromMs: timeMs(from), toMs: timeMs(to), count })
  }
  return losses
}

const isCountOrNull = (value: unknown): value is number | null => value === null || isCount(value)

function readNames(value: unknown): CheckpointHeader['names'] | null {
  if (!Array.isArray(value) || value.length % 2 !== 0) return null
  const names: { venue: VenueKey; platform: string }[] = []
  for (let index = 0; index < value.length; index += 2) {
    const [letter, platform]: readonly unknown[] = value.slice(index, index + 2)
    const venue = VENUE_KEYS.find((key) => key === letter)
    if (venue === undefined || typeof platform !== 'string') return null
    names.push({ venue, platform })
  }
  return names
}

function readPositions(value: unknown): readonly ShardPosition[] | null {
  if (!Array.isArray(value) || value.length % 3 !== 0) return null
  const positions: ShardPosition[] = []
  for (let index = 0; index < value.length; index += 3) {
    const [name, sequence, batch]: readonly unknown[] = value.slice(index, index + 3)
    const shard = SHARDS.find((candidate) => candidate === name)
    if (shard === undefined || !isCount(sequence) || !isCount(batch)) return null
    positions.push({ shard, sequence, batch })
  }
  return positions
}

function readOffsets(value: unknown): Readonly<Record<string, number>> | null {
  if (!Array.isArray(value) || value.length % 2 !== 0) return null
  const offsets: Record<string, number> = {}
  for (let index = 0; index < value.length; index += 2) {
    const [channel, offset]: readonly unknown[] = value.slice(index, index + 2)
    if (typeof channel !== 'string' || !isCount(offset)) return null
    offsets[channel] = offset
  }
  return offsets
}
