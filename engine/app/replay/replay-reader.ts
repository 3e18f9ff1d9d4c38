// Reads one replay from the tape in chunks.

import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { ReplayChunk, ReplayQuery } from '../../../actors/views.ts'
import type { Frame } from '../../../http/ws/encode/encoder.ts'
import { Tape, type TapeRecord } from '../../../storage/tape/tape.ts'
import { countedChannelOf } from '../../events.ts'
import { ReplayMessages } from './replay-messages.ts'

/** Bytes of messages in one chunk. */
const CHUNK_BYTES = 262_144
/** Bytes for the last message of a chunk. The buffer grows for a longer one. */
const MARGIN_BYTES = 65_536
/** Maximum UTF-8 bytes of one UTF-16 code unit. */
const UNIT_BYTES_MAX = 3
const LINE_END = 10

export class ReplayReader {
  readonly #batches: Iterator<readonly TapeRecord[]>
  /** Records that were read, from `#next` on not written. */
  #records: readonly TapeRecord[] = []
  #next = 0
  readonly #messages: ReplayMessages
  readonly #chunk: ChunkWriter
  readonly #query: ReplayQuery
  readonly #gzip: GzipStream | null
  /** Whether records up to `fromOffset` were skipped. */
  #isPastOffset: boolean
  #firstEpoch: string | null = null
  #epoch: string | null = null
  #us: number

  constructor(folder: string, query: ReplayQuery) {
    const { fromUs, toUs, selections, isGzip, fromOffset } = query
    this.#batches = new Tape(folder).readBatches({
      ...{ fromUs, toUs, withStates: true },
      platforms: unionOf(selections.map(({ platforms }) => platforms)),
      markets: unionOf(selections.map(({ markets }) => markets)),
    })
    const chunk = new ChunkWriter(query)
    this.#chunk = chunk
    this.#messages = new ReplayMessages(query, (frame) => chunk.add(frame))
    this.#query = query
    this.#gzip = isGzip ? new GzipStream() : null
    this.#isPastOffset = fromOffset === null
    this.#us = fromUs
  }

  /** The next messages. Reads at most one block of the tape, so it may return no bytes before the last chunk. */
  next(): ReplayChunk {
    const chunk = this.#chunk
    const isLast = this.#next >= this.#records.length && !this.#read()
    while (this.#next < this.#records.length && chunk.length < CHUNK_BYTES) {
      const record = this.#records[this.#next]
      this.#next += 1
      if (record === undefined || (!this.#isPastOffset && this.#isSkipped(record))) continue
      if (record.us > this.#us) chunk.release(this.#us)
      // A record of unreadable rows follows later rows of its block.
      this.#us = Math.max(this.#us, record.us)
      this.#epoch = record.epoch
      this.#messages.write(record)
      // The states at the start have the same time, and they may be many.
      if (this.#query.states !== 'omit') chunk.release(this.#us)
    }
    if (isLast) chunk.release(this.#us)
    const { bytes, marks } = chunk.take()
    const isEmpty = bytes.length === 0 && !isLast
    return {
      bytes: isEmpty || this.#gzip === null ? bytes : this.#gzip.encode(bytes, isLast),
      isLast,
      marks,
      endUs: isLast ? this.#query.toUs : this.#us,
      epoch: this.#epoch,
    }
  }

  /** Reads the next records, which may be none. False: there are no more. */
  #read(): boolean {
    const { done, value } = this.#batches.next()
    this.#records = done === true ? [] : value
    this.#next = 0
    return done !== true
  }

  close(): void {
    this.#batches.return?.()
  }

  /** Skips messages of the channel up to the offset, as long as the run is the one of the first record. */
  #isSkipped({ item, epoch }: TapeRecord): boolean {
    this.#firstEpoch ??= epoch
    if (epoch === this.#firstEpoch) {
      if (item.kind !== 'update' || !('offset' in item.update)) return true
      const channel = countedChannelOf(item.update.kind)
      const isOfChannel = channel !== null && channel === this.#query.selections[0]?.channel
      if (!isOfChannel || item.update.offset <= (this.#query.fromOffset ?? 0)) return true
    }
    this.#isPastOffset = true
    return false
  }
}

/** Messages in one buffer. Text is written without an intermediate copy of each message. */
class ChunkWriter {
  #buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES + MARGIN_BYTES)
  #length = 0
  readonly #isTimed: boolean
  readonly #isLines: boolean
  /** End of the messages that the chunk contains. Those after it have the newest time. */
  #released = 0
  /** Ends of the messages of the newest time, if timed. */
  readonly #ends: number[] = []
  readonly #marks: number[] = []

  constructor({ isTimed, format }: Pick<ReplayQuery, 'isTimed' | 'format'>) {
    this.#isTimed = isTimed
    this.#isLines = format === 'ndjson' && !isTimed
  }

  get length(): number {
    return this.#released
  }

  add(frame: Frame): void {
    this.#reserve(frame.length * UNIT_BYTES_MAX + 1)
    const buffer = this.#buffer
    if (typeof frame === 'string') this.#length += buffer.write(frame, this.#length)
    else {
      buffer.set(frame, this.#length)
      this.#length += frame.length
    }
    if (this.#isLines) {
      buffer[this.#length] = LINE_END
      this.#length += 1
    }
    if (this.#isTimed) this.#ends.push(this.#length)
  }

  /** Adds the messages of a time to the chunk. All of them must be in one chunk. */
  release(us: number): void {
    this.#released = this.#length
    for (const end of this.#ends) this.#marks.push(us, end)
    this.#ends.length = 0
  }

  /** Returns the chunk and begins a new one. */
  take(): Pick<ReplayChunk, 'bytes' | 'marks'> {
    const end = this.#released
    const bytes = Uint8Array.from(this.#buffer.subarray(0, end))
    const marks = Float64Array.from(this.#marks)
    this.#buffer.copyWithin(0, end, this.#length)
    for (const [index, held] of this.#ends.entries()) this.#ends[index] = held - end
    this.#length -= end
    this.#released = 0
    this.#marks.length = 0
    return { bytes, marks }
  }

  #reserve(count: number): void {
    const buffer = this.#buffer
    if (this.#length + count <= buffer.length) return
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, this.#length + count))
    buffer.copy(this.#buffer, 0, 0, this.#length)
  }
}

/** All values of several lists. Null: everything. */
function unionOf(lists: readonly (readonly string[] | null)[]): readonly string[] | null {
  const given = lists.filter((list) => list !== null)
  return given.length < lists.length ? null : [...new Set(given.flat())]
}

/** A gzip stream (RFC 1952) whose chunks are compressed independently, so that each can be sent at once. */
class GzipStream {
  #crc = 0
  #length = 0
  #hasBegun = false

  encode(bytes: Uint8Array, isLast: boolean): Uint8Array {
    this.#crc = crc32(bytes, this.#crc)
    this.#length = (this.#length + bytes.length) % 2 ** 32
    const finishFlush = constants.Z_SYNC_FLUSH
    const parts = [deflateRawSync(bytes, { level: 4, finishFlush })]
    if (!this.#hasBegun) parts.unshift(Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255))
    this.#hasBegun = true
    if (isLast) {
      const end = Buffer.alloc(10)
      // An empty final block.
      end[0] = 3
      end.writeUInt32LE(this.#crc >>> 0, 2)
      end.writeUInt32LE(this.#length, 6)
      parts.push(end)
    }
    return Buffer.concat(parts)
  }
}
