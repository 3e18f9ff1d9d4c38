// Reads one replay from the tape in chunks.

import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { ReplayQuery } from '../../../actors/views.ts'
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
  #epoch: string | null = null

  constructor(folder: string, query: ReplayQuery) {
    const { fromUs, toUs, platforms, markets, channels, format, isGzip, fromOffset } = query
    const selected = { fromUs, toUs, platforms, markets, withStates: true }
    this.#records = new Tape(folder).readInSteps(selected)
    this.#messages = new ReplayMessages(new Set(channels), format)
    this.#query = query
    this.#gzip = isGzip ? new GzipStream() : null
    this.#isPastOffset = fromOffset === null
  }

  /** The next messages. Reads at most one block of the tape, so it may return no bytes before the last chunk. */
  next(): { readonly bytes: Uint8Array; readonly isLast: boolean } {
    const isText = this.#query.format === 'ndjson'
    const parts: Uint8Array[] = []
    let length = 0
    let isLast = false
    while (length < CHUNK_BYTES) {
      const { done, value } = this.#records.next()
      if (done === true) {
        isLast = true
        break
      }
      if (value === null) break
      if (!this.#isPastOffset && this.#isSkipped(value)) continue
      for (const frame of this.#messages.of(value)) {
        const bytes = typeof frame === 'string' ? Buffer.from(frame) : Uint8Array.from(frame)
        parts.push(bytes)
        length += bytes.length
        if (!isText) continue
        parts.push(LINE_END)
        length += 1
      }
    }
    const bytes = Buffer.concat(parts, length)
    if (length === 0 && !isLast) return { bytes, isLast }
    return { bytes: this.#gzip?.encode(bytes, isLast) ?? bytes, isLast }
  }

  close(): void {
    this.#records.return?.()
  }

  /** Skips messages of the channel up to the offset, as long as the run is the one of the first record. */
  #isSkipped({ item, epoch }: TapeRecord): boolean {
    this.#epoch ??= epoch
    if (epoch === this.#epoch) {
      if (item.kind !== 'update' || !('offset' in item.update)) return true
      const channel = countedChannelOf(item.update.kind)
      const isOfChannel = channel !== null && channel === this.#query.channels[0]
      if (!isOfChannel || item.update.offset <= (this.#query.fromOffset ?? 0)) return true
    }
    this.#isPastOffset = true
    return false
  }
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
