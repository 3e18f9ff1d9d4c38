// The folder that `npm run export` writes. A file appears under its name only when it is complete. A finished file is
// never overwritten: a record with its size and checksum tells a later run whether it is unchanged.

import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Clock, nextTick } from '../../clock.ts'
import { isRecord } from '../../json-record.ts'
import { parseObject, readText, writeDurably } from '../../process/durable-file.ts'
import type { FileChunks } from './export-source.ts'

/** A file below the folder. */
export interface OutputFile {
  /** Relative path. */
  readonly path: string
  readonly chunks: FileChunks
}

/** Files that are exported together: one table of one hour. */
export interface OutputUnit {
  /** Name of the record. */
  readonly name: string
  /** Identifies the content of the hour. Null: the hour is not final. */
  readonly content: string | null
}

interface FileEntry {
  readonly path: string
  readonly bytes: number
  /** SHA-256, hex. */
  readonly sha256: string
}

interface UnitRecord {
  readonly content: string | null
  readonly files: readonly FileEntry[]
}

export type UnitResult =
  | { readonly status: 'written' | 'verified'; readonly files: readonly FileEntry[] }
  /** A file exists that differs. It is left as it is. */
  | { readonly status: 'refused'; readonly detail: string }

const RECORDS = '.twinbook-export'

export class OutputFolder {
  readonly #folder: string
  readonly #clock: Pick<Clock, 'soon'>
  readonly #signal: AbortSignal

  /** `signal` ends a write between two chunks: it then rejects with the signal's reason. */
  constructor(folder: string, clock: Pick<Clock, 'soon'>, signal: AbortSignal) {
    this.#folder = folder
    this.#clock = clock
    this.#signal = signal
  }

  /**
   * `files` is read only if the unit is not finished, each file to its end before the next. Null: a pause. The files get
   * their names when all are complete.
   */
  async write(unit: OutputUnit, files: Iterable<OutputFile | null>): Promise<UnitResult> {
    const recordPath = join(this.#folder, RECORDS, `${unit.name}.json`)
    const record = readRecord(recordPath)
    const result = record === null ? null : await this.#verify(unit, record)
    if (result !== null) return result
    const entries: FileEntry[] = []
    const temporary = new Map<string, string>()
    try {
      for (const file of files) {
        await this.#pause()
        if (file === null) continue
        entries.push(await this.#writeFile(file, temporary))
      }
      for (const { path, sha256 } of entries) {
        const existing = await sha256Of(join(this.#folder, path))
        if (existing !== null && existing !== sha256) {
          return differs(path, 'it is not what this export would write')
        }
      }
      for (const [from, to] of temporary) await rename(from, to)
    } finally {
      for (const path of temporary.keys()) await rm(path, { force: true })
    }
    mkdirSync(dirname(recordPath), { recursive: true })
    const written: UnitRecord = { content: unit.content, files: entries }
    writeDurably(recordPath, `${JSON.stringify(written)}\n`)
    return { status: 'written', files: entries }
  }

  /** Null: the unit must be written again, because a file is missing or may now exist. */
  async #verify({ content }: OutputUnit, record: UnitRecord): Promise<UnitResult | null> {
    let isComplete = record.files.length > 0 || (content !== null && record.content === content)
    for (const { path, sha256 } of record.files) {
      this.#signal.throwIfAborted()
      const found = await sha256Of(join(this.#folder, path))
      if (found === null) isComplete = false
      else if (found !== sha256) return differs(path, 'it was changed after its export')
      else if (record.content === null) return differs(path, 'its hour was not final at its export')
      else if (record.content !== content) return differs(path, 'it is of another tape')
    }
    return isComplete ? { status: 'verified', files: record.files } : null
  }

  /** Adds the temporary path with the final one to `temporary`. */
  async #writeFile(
    { path, chunks }: OutputFile,
    temporary: Map<string, string>,
  ): Promise<FileEntry> {
    const target = join(this.#folder, path)
    mkdirSync(dirname(target), { recursive: true })
    const beside = join(dirname(target), `.${basename(target)}.${process.pid}.partial`)
    temporary.set(beside, target)
    return { path, ...(await this.#copy(chunks, beside)) }
  }

  /** Reading a tape is synchronous, so signals are handled here. */
  async #pause(): Promise<void> {
    await nextTick(this.#clock)
    this.#signal.throwIfAborted()
  }

  async #copy(chunks: FileChunks, path: string): Promise<Omit<FileEntry, 'path'>> {
    const hash = createHash('sha256')
    let bytes = 0
    const file = await open(path, 'w')
    try {
      for await (const chunk of chunks) {
        await this.#pause()
        if (chunk === null) continue
        hash.update(chunk)
        bytes += chunk.length
        await file.writeFile(chunk)
      }
      await file.sync()
    } finally {
      await file.close()
    }
    return { bytes, sha256: hash.digest('hex') }
  }
}

const differs = (path: string, why: string): UnitResult => ({
  status: 'refused',
  detail: `${path} is not overwritten: ${why}; remove it, or choose another folder`,
})

/** Null: there is no file. */
async function sha256Of(path: string): Promise<string | null> {
  if (!existsSync(path)) return null
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Null: there is no record, or it is malformed. */
function readRecord(path: string): UnitRecord | null {
  const text = readText(path)
  const { content, files } = text === null ? {} : parseObject(text)
  if (typeof content !== 'string' && content !== null) return null
  return Array.isArray(files) && files.every(isEntry) ? { content, files } : null
}

const isEntry = (value: unknown): value is FileEntry =>
  isRecord(value) &&
  typeof value.path === 'string' &&
  typeof value.bytes === 'number' &&
  typeof value.sha256 === 'string'
