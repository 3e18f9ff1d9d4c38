// Writes one part: batches to the journal, and blocks to the file. Each step can be repeated after a failed write.

import type { RawItem } from '../cluster/batch.ts'
import { MsgpackWriter, writeValue } from '../msgpack-writer.ts'
import { type BatchHead, decodeBatchHead, encodeBatchHead, summaryOf } from './batch.ts'
import { type BlockEntry, encodeBlock, encodeIndex } from './block.ts'
import type { TapeRows } from './columns.ts'
import type { TapeDisk } from './disk.ts'
import { encodeFrame } from './frame.ts'
import { type HourFolder, partPath } from './layout.ts'
import { addRows, encodePartHead, encodeTrailer, type Journal, type Scanned } from './part.ts'

/** Bytes of batches that form a block. */
export const blockBytes = 256 * 1_024
/** Maximum bytes of the journal while blocks cannot be written. */
const JOURNAL_BYTES_MAX = 16 * blockBytes

export class PartWriter {
  readonly hour: HourFolder
  readonly #disk: TapeDisk
  readonly #file: number
  readonly #journal: number
  readonly #journalPath: string
  readonly #head: Scanned['head']
  /** 0 until the first frame is written. */
  #fileLength: number
  #journalLength = 0
  readonly #entries: BlockEntry[]
  #rows: TapeRows = { us: [], items: [] }
  #heads: Pick<BatchHead, 'offsets'>[] = []

  /** A new file has no entries and ends at 0. Throws file system errors, and then has no open files. */
  constructor(
    disk: TapeDisk,
    hour: HourFolder,
    part: number,
    { head, entries, endsAt }: Pick<Scanned, 'head' | 'entries' | 'endsAt'>,
  ) {
    this.hour = hour
    this.#disk = disk
    this.#journalPath = partPath(hour, part, 'journal')
    disk.createFolder(hour.path)
    this.#file = disk.open(partPath(hour, part, 'tape'))
    try {
      disk.truncate(this.#file, endsAt)
      this.#journal = disk.open(this.#journalPath)
    } catch (error) {
      disk.close(this.#file)
      throw error
    }
    this.#head = head
    this.#entries = [...entries]
    this.#fileLength = endsAt
  }

  /** Appends a batch. Throws, without effect, if it cannot be written. */
  append(head: Uint8Array, values: Uint8Array): void {
    this.#begin()
    const decoded = decodeBatchHead(head)
    const frame = encodeFrame('batch', head, values)
    if (this.#journalLength + frame.length > JOURNAL_BYTES_MAX) this.cutBlock()
    this.#disk.write(this.#journal, frame, this.#journalLength)
    if (decoded === null || !addRows(this.#rows, values)) throw new Error('a batch is malformed')
    this.#heads.push(decoded)
    this.#journalLength += frame.length
    // The rows are safe in the journal. A failed block is written with a later batch.
    if (this.#journalLength >= blockBytes) this.#tryBlock()
  }

  /** Appends a row that the tape itself adds. */
  add(us: number, item: RawItem): void {
    const writer = new MsgpackWriter()
    writer.integer(us)
    writeValue(writer, item)
    this.append(encodeBatchHead({ offsets: [] }), Uint8Array.from(writer.end()))
  }

  /** Moves the rows of this part's journal to a block after a crash. */
  take({ rows, head }: Journal): void {
    this.#rows = rows
    this.#heads = [head]
    this.cutBlock()
  }

  #begin(): void {
    if (this.#fileLength > 0) return
    const head = encodePartHead(this.#head)
    this.#disk.write(this.#file, head, 0)
    this.#fileLength = head.length
  }

  #tryBlock(): void {
    try {
      this.cutBlock()
    } catch {
      // The next append beyond the limit of the journal throws.
    }
  }

  /** Moves the rows of the journal to a block. */
  cutBlock(): void {
    if (this.#rows.items.length > 0) {
      const summary = summaryOf(this.#rows, this.#heads)
      const { bytes, head } = encodeBlock(this.#rows, summary)
      this.#disk.write(this.#file, bytes, this.#fileLength)
      this.#entries.push({ position: this.#fileLength, length: bytes.length, head })
      this.#fileLength += bytes.length
      this.#rows = { us: [], items: [] }
      this.#heads = []
    }
    this.#disk.truncate(this.#journal, 0)
    this.#journalLength = 0
  }

  /** Writes the index and closes the files. Throws file system errors; it can then be called again. */
  close(): void {
    this.#begin()
    this.cutBlock()
    const index = encodeIndex(this.#entries)
    const end = Buffer.concat([index, encodeTrailer(this.#fileLength)])
    this.#disk.write(this.#file, end, this.#fileLength)
    this.#disk.truncate(this.#file, this.#fileLength + end.length)
    this.#disk.sync(this.#file)
    this.#disk.remove(this.#journalPath)
    this.release()
  }

  /** Closes the files as they are. A later start repairs them. */
  release(): void {
    this.#disk.close(this.#file)
    this.#disk.close(this.#journal)
  }
}
