// Reads one file of the tape with its journal. If a file has no index because it was not closed, its frames are
// searched. Damaged and incomplete frames are skipped.

import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { isItem, unpackAll } from '../cluster/batch.ts'
import { count, flat, message, record, text, where } from '../codec.ts'
import { isErrorCode } from '../process/durable-file.ts'
import { type BatchHead, decodeBatchHead, summaryOf } from './batch.ts'
import {
  type BlockEntry,
  type BlockHead,
  decodeBlock,
  decodeBlockHead,
  decodeIndex,
} from './block.ts'
import type { TapeRows } from './columns.ts'
import { encodeFrame, type Frame, findFrame, readFrame } from './frame.ts'
import { type HourFolder, partPath } from './layout.ts'

const FORMAT = 1
/** Position of the index as a 64-bit float, then the magic number. */
const TRAILER_BYTES = 12
const TRAILER_MAGIC = 0x54_50_45_31

/** First frame of each file. */
export interface PartHead {
  /** Key of the venue, a letter. */
  readonly venue: string
  readonly platform: string
  /** The engine run that published the rows. */
  readonly epoch: string
  /** Venues by key, because rows may refer to markets of other venues. */
  readonly names: readonly { readonly venue: string; readonly platform: string }[]
}

const partHead = message(
  record<PartHead & { readonly format: number }>({
    format: where(count, (format) => format === FORMAT),
    venue: text,
    platform: text,
    epoch: text,
    names: flat(record<PartHead['names'][number]>({ venue: text, platform: text })),
  }),
)

export const encodePartHead = (head: PartHead): Buffer =>
  encodeFrame('file', partHead.encode({ format: FORMAT, ...head }))

export function encodeTrailer(indexAt: number): Buffer {
  const trailer = Buffer.alloc(TRAILER_BYTES)
  trailer.writeDoubleBE(indexAt, 0)
  trailer.writeUInt32BE(TRAILER_MAGIC, 8)
  return trailer
}

/** Rows of a block, or the rows that the journal has after the last block. */
export interface PartBlock {
  readonly head: BlockHead
  /** Null: the block is damaged. */
  read(): TapeRows | null
}

/** Bytes of a file that no intact frame contains. */
export interface DamagedRange {
  readonly position: number
  readonly length: number
}

export interface Scanned {
  readonly head: PartHead
  readonly entries: readonly BlockEntry[]
  /** A file with an index will not change. */
  readonly isClosed: boolean
  /** Ranges that were skipped. Always empty for a file with an index, because its damaged blocks have index entries. */
  readonly damaged: readonly DamagedRange[]
  /** End of the last intact frame. */
  readonly endsAt: number
}

export interface Part extends Pick<Scanned, 'head' | 'isClosed'> {
  readonly scanned: Scanned
  /** Rows that are not in a block. Null: there are none. */
  readonly journal: Journal | null
  /** The blocks, then the rows of the journal that are not in a block. */
  readonly blocks: readonly PartBlock[]
  close(): void
}

/** Null if there is no file, or if its first frame is incomplete. The caller must close the part. */
export function openPart(hour: Pick<HourFolder, 'path'>, part: number): Part | null {
  // The journal is read first: its rows move to the file before it is emptied.
  const journalBytes = readJournalFile(partPath(hour, part, 'journal'))
  const file = openFile(partPath(hour, part, 'tape'))
  if (file === null) return null
  const close = () => closeSync(file)
  try {
    const scanned = scanFile(file)
    if (scanned === null) {
      close()
      return null
    }
    const { head, entries, isClosed } = scanned
    const blocks: PartBlock[] = entries.map((entry) => ({
      head: entry.head,
      read: () => readBlock(file, entry),
    }))
    const lastUs = blocks.at(-1)?.head.lastUs ?? 0
    const journal = isClosed ? null : decodeJournal(journalBytes, lastUs)
    if (journal !== null) blocks.push({ head: journal.head, read: () => journal.rows })
    return { head, blocks, isClosed, scanned, journal, close }
  } catch (error) {
    close()
    throw error
  }
}

function openFile(path: string): number | null {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return null
    throw error
  }
}

/** Finds the blocks of a file by its index. Without an index, searches them. Null if the first frame is incomplete. */
function scanFile(file: number): Scanned | null {
  const { size } = fstatSync(file)
  return scanIndex(file, size) ?? scanFrames(readAt(file, 0, size))
}

function scanIndex(file: number, size: number): Scanned | null {
  const trailer = readAt(file, Math.max(0, size - TRAILER_BYTES), TRAILER_BYTES)
  if (trailer.length < TRAILER_BYTES || trailer.readUInt32BE(8) !== TRAILER_MAGIC) return null
  const indexAt = trailer.readDoubleBE(0)
  const indexLength = size - TRAILER_BYTES - indexAt
  if (!Number.isSafeInteger(indexAt) || indexAt < 0 || indexLength < 0) return null
  const frame = readFrame(readAt(file, indexAt, indexLength))
  const entries = frame?.kind === 'index' ? decodeIndex(frame) : null
  const first = entries?.[0]?.position ?? indexAt
  const head = headOf(readFrame(readAt(file, 0, first)))
  if (entries === null || head === null) return null
  return { head, entries, isClosed: true, damaged: [], endsAt: size }
}

function scanFrames(bytes: Buffer): Scanned | null {
  const first = readFrame(bytes)
  const head = headOf(first)
  if (first === null || head === null) return null
  const entries: BlockEntry[] = []
  const damaged: DamagedRange[] = []
  let [at, endsAt] = [first.length, first.length]
  while (at < bytes.length) {
    const frame = readFrame(bytes.subarray(at))
    if (frame === null) {
      const next = findFrame(bytes, at + 1)
      damaged.push({ position: at, length: (next ?? bytes.length) - at })
      if (next === null) break
      at = next
      continue
    }
    const blockHead = frame.kind === 'block' ? decodeBlockHead(frame.head) : null
    if (blockHead !== null) entries.push({ position: at, length: frame.length, head: blockHead })
    at += frame.length
    endsAt = at
  }
  return { head, entries, isClosed: false, damaged, endsAt }
}

const headOf = (frame: Frame | null): PartHead | null =>
  frame?.kind === 'file' ? partHead.decode(frame.head) : null

function readBlock(file: number, { position, length }: BlockEntry): TapeRows | null {
  const frame = readFrame(readAt(file, position, length))
  return frame?.kind === 'block' ? decodeBlock(frame) : null
}

/** Reads at most `length` bytes. Returns fewer at the end of the file. */
function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const count = readSync(file, bytes, done, length - done, position + done)
    if (count === 0) break
    done += count
  }
  return bytes.subarray(0, done)
}

/** The batches of a journal as a block. */
export interface Journal {
  readonly head: BlockHead
  readonly rows: TapeRows
}

/** Reads the file of a journal. Empty if it does not exist. */
export function readJournalFile(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return Buffer.alloc(0)
    throw error
  }
}

/**
 * The rows of a journal after `lastUs`, the time of the last row in a block. Stops at the first incomplete or damaged
 * batch. Publish times increase within a part. Null: no rows.
 */
export function decodeJournal(bytes: Buffer, lastUs: number): Journal | null {
  const all: TapeRows = { us: [], items: [] }
  const batches: BatchHead[] = []
  for (let at = 0; ; ) {
    const frame = readFrame(bytes.subarray(at))
    const batch = frame?.kind === 'batch' ? decodeBatchHead(frame.head) : null
    if (frame === null || batch === null || !addRows(all, frame.body)) break
    batches.push(batch)
    at += frame.length
  }
  const from = all.us.findIndex((us) => us > lastUs)
  if (from < 0) return null
  const rows = { us: all.us.slice(from), items: all.items.slice(from) }
  const head = { rows: rows.items.length, firstUs: rows.us[0] ?? 0, lastUs: rows.us.at(-1) ?? 0 }
  return { rows, head: { ...head, ...summaryOf(rows, batches) } }
}

/** Adds the rows of a batch: times and items alternately. Returns false and adds nothing for other values. */
export function addRows(to: TapeRows, values: Uint8Array): boolean {
  const found = unpackAll(values)
  if (found === null || found.length % 2 !== 0) return false
  const [us, items]: [number[], (readonly unknown[])[]] = [[], []]
  for (const value of found) {
    if (us.length === items.length && typeof value === 'number') us.push(value)
    else if (us.length > items.length && isItem(value)) items.push(value)
    else return false
  }
  for (const time of us) to.us.push(time)
  for (const item of items) to.items.push(item)
  return true
}
