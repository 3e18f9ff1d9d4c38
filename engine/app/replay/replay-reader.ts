// Reads one replay from the tape in chunks.

import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { ReplayChunk, ReplayQuery } from '../../../actors/views.ts'
import { Tape, type TapeRecord } from '../../../storage/tape/tape.ts'
import { countedChannelOf } from '../../events.ts'
import { ReplayMessages } from './replay-messages.ts'

/** Bytes of messages in one chunk. */
const CHUNK_BYTES = 262_144
const LINE_END = Buffer.from('\n')

export class ReplayReader {
  readonly #records: Iterator<TapeRecord | null>
  readonly #messages: ReplayMessages
  readonly #query: ReplayQuery
  readonly #gzip: GzipStream | null
  /** Whether records up to `fromOffset` were skipped. */
  #isPastOffset: boolean
  #firstEpoch: string | null = null
  #epoch: string | null = null
  /**
   * The messages of the newest time, if all messages of a time must be in one chunk. Records of several venues can have
   * the same time.
   */
  readonly #held: Uint8Array[] = []
  #us: number

  constructor(folder: string, query: ReplayQuery) {
    const { fromUs, toUs, selections, isGzip, fromOffset } = query
    this.#records = new Tape(folder).readInSteps({
      ...{ fromUs, toUs, withStates: true, omitsFirstStates: query.states === 'omit' },
      platforms: unionOf(selections.map(({ platforms }) => platforms)),
      markets: unionOf(selections.map(({ markets }) => markets)),
    })
    this.#messages = new ReplayMessages(query)
    this.#query = query
    this.#gzip = isGzip ? new GzipStream() : null
    this.#isPastOffset = fromOffset === null
    this.#us = fromUs
  }

  /** The next messages. Reads at most one block of the tape, so it may return no bytes before the last chunk. */
  next(): ReplayChunk {
    const chunk = new Chunk(this.#query)
    let isLast = false
    while (chunk.length < CHUNK_BYTES) {
      const { done, value } = this.#records.next()
      if (done === true) {
        this.#release(chunk)
        isLast = true
        break
      }
      if (value === null) break
      if (!this.#isPastOffset && this.#isSkipped(value)) continue
      if (value.us > this.#us) this.#release(chunk)
      this.#us = value.us
      this.#epoch = value.epoch
      for (const frame of this.#messages.of(value)) {
        this.#held.push(typeof frame === 'string' ? Buffer.from(frame) : Uint8Array.from(frame))
      }
      // The states at the start have the same time, and they may be many.
      if (this.#query.states !== 'omit') this.#release(chunk)
    }
    const bytes = chunk.bytes()
    const isEmpty = chunk.length === 0 && !isLast
    return {
      bytes: isEmpty || this.#gzip === null ? bytes : this.#gzip.encode(bytes, isLast),
      isLast,
      marks: chunk.marks(),
      endUs: isLast ? this.#query.toUs : this.#us,
      epoch: this.#epoch,
    }
  }

  #release(chunk: Chunk): void {
    for (const message of this.#held) chunk.add(this.#us, message)
    this.#held.length = 0
  }

  close(): void {
    this.#records.return?.()
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

class Chunk {
  length = 0
  readonly #parts: Uint8Array[] = []
  readonly #marks: number[] = []
  readonly #isTimed: boolean
  readonly #isText: boolean

  constructor({ isTimed, format }: Pick<ReplayQuery, 'isTimed' | 'format'>) {
    this.#isTimed = isTimed
    this.#isText = format === 'ndjson' && !isTimed
  }

  add(us: number, message: Uint8Array): void {
    this.#parts.push(message)
    this.length += message.length
    if (this.#isTimed) this.#marks.push(us, this.length)
    if (!this.#isText) return
    this.#parts.push(LINE_END)
    this.length += 1
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#parts, this.length)
  }

  marks(): Float64Array {
    return Float64Array.from(this.#marks)
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
