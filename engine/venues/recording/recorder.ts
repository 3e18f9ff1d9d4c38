// Writes received frames to a file for replay-feed.ts (format: recording.ts). It never delays the parser.

import { createWriteStream, type WriteStream } from 'node:fs'
import type { Clock } from '../../clock.ts'
import type { VenueKey } from '../../ids.ts'
import type { FrameTap } from '../socket-feed.ts'
import type { CatalogPage } from '../venue.ts'
import { catalogLine, frameLine, headerLine } from './recording.ts'

/** Maximum bytes of text that waits for the disk. Above the maximum new frames are dropped and counted. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024

export class Recorder {
  readonly #stream: WriteStream
  #error: Error | null = null
  #frameCount = 0
  #droppedCount = 0
  #isStopped = false

  /** Creates or truncates `file`. `stop` rejects if the file could not be written. */
  constructor(options: { file: string; clock: Clock }) {
    this.#stream = createWriteStream(options.file, { encoding: 'utf8' })
    this.#stream.on('error', (error) => {
      this.#error = error
    })
    this.#write(headerLine(options.clock.nowMs()))
  }

  readonly tap: FrameTap = (frame, venue, stream) => {
    if (this.#isStopped) return
    if (this.#error !== null || this.#stream.writableLength > WAITING_BYTES_MAX) {
      this.#droppedCount += 1
      return
    }
    this.#frameCount += 1
    this.#write(frameLine(frame, venue, stream))
  }

  /** Writes listings, so that a replay has the markets of the frames. Must be called before the first frame. */
  addCatalog(venue: VenueKey, page: CatalogPage): void {
    if (!this.#isStopped && this.#error === null) this.#write(catalogLine(venue, page))
  }

  get frameCount(): number {
    return this.#frameCount
  }

  get droppedCount(): number {
    return this.#droppedCount
  }

  /** Resolves when all data is on disk. Rejects if the file could not be written. */
  stop(): Promise<void> {
    this.#isStopped = true
    return new Promise((resolve, reject) => {
      if (this.#error !== null) return reject(this.#error)
      this.#stream.once('error', reject)
      this.#stream.end((error?: Error | null) => (error ? reject(error) : resolve()))
    })
  }

  #write(line: string): void {
    this.#stream.write(`${line}\n`)
  }
}
