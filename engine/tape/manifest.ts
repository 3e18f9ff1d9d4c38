// The manifest of a final hour: its files with checksums, its rows by kind, and its gaps with their causes.

import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { OffsetRange } from '../cluster/batch.ts'
import { isRecord } from '../json-record.ts'
import { parseObject, readText, writeDurably } from '../process/durable-file.ts'
import { joinOffsets } from './batch.ts'
import { TAPE_CODES } from './item-codes.ts'
import { type HourFolder, MANIFEST_NAME, partPath, partsOf, US_PER_MS } from './layout.ts'
import { type LostCause, readLost } from './lost.ts'
import { openPart, type Part } from './part.ts'

const FORMAT = 1
const CHUNK_BYTES = 1_048_576

/** The content of manifest.json. Times are microseconds since 1970. */
export interface Manifest {
  readonly format: number
  readonly platform: string
  readonly date: string
  readonly hour: number
  /** Rows by kind of item. */
  readonly rows: Readonly<Record<string, number>>
  /** Bytes of all files. */
  readonly bytes: number
  readonly first_us: number | null
  readonly last_us: number | null
  readonly files: readonly ManifestFile[]
  readonly gaps: readonly ManifestGap[]
}

type Offsets = Readonly<Record<string, { readonly first: number; readonly last: number }>>

export interface ManifestFile {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
  readonly epoch: string
  readonly first_us: number | null
  readonly last_us: number | null
  /** First and last offset of each channel. */
  readonly offsets: Offsets
}

/** `venue`: the venue's trades were lost, as announced on the stream. */
export interface ManifestGap {
  readonly cause: LostCause | 'venue'
  readonly from_us: number
  readonly to_us: number
  /** Number of missing rows. For `venue`, number of missing trades. Null: unknown. */
  readonly rows: number | null
  readonly offsets: Offsets
}

/** Null: the hour is not final. */
export function readManifest({ path }: Pick<HourFolder, 'path'>): Manifest | null {
  const text = readText(join(path, MANIFEST_NAME))
  const found = text === null ? {} : parseObject(text)
  return isManifest(found) ? found : null
}

export function isManifest(value: unknown): value is Manifest {
  return (
    isRecord(value) &&
    value.format === FORMAT &&
    typeof value.platform === 'string' &&
    typeof value.date === 'string' &&
    typeof value.hour === 'number' &&
    typeof value.bytes === 'number' &&
    isRecord(value.rows) &&
    Array.isArray(value.files) &&
    Array.isArray(value.gaps)
  )
}

/** The parts of the hour must be closed. `names`: names of the items by code. */
export function writeManifest(hour: HourFolder, names: ReadonlyMap<number, string>): Manifest {
  const files: ManifestFile[] = []
  const gaps: ManifestGap[] = []
  const rows = new Map<string, number>()
  for (const number of partsOf(hour)) {
    const part = openPart(hour, number)
    if (part === null) continue
    try {
      files.push(fileOf(partPath(hour, number, 'tape'), part))
      gaps.push(...gapsOf(part))
      for (const { head } of part.blocks) {
        for (const [code, count] of head.counts) {
          const name = names.get(code) ?? `kind_${code}`
          rows.set(name, (rows.get(name) ?? 0) + count)
        }
      }
    } finally {
      part.close()
    }
  }
  const manifest: Manifest = {
    format: FORMAT,
    platform: hour.platform,
    date: hour.date,
    hour: hour.hour,
    rows: Object.fromEntries([...rows].sort()),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    first_us: files[0]?.first_us ?? null,
    last_us: files.at(-1)?.last_us ?? null,
    files,
    gaps,
  }
  writeDurably(join(hour.path, MANIFEST_NAME), `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

function fileOf(path: string, { head, blocks }: Part): ManifestFile {
  return {
    name: basename(path),
    bytes: statSync(path).size,
    sha256: sha256Of(path),
    epoch: head.epoch,
    first_us: blocks[0]?.head.firstUs ?? null,
    last_us: blocks.at(-1)?.head.lastUs ?? null,
    offsets: byChannel(joinOffsets(blocks.flatMap((block) => block.head.offsets))),
  }
}

function* gapsOf(part: Part): Iterable<ManifestGap> {
  for (const block of part.blocks) {
    const { counts, firstUs, lastUs, rows, offsets } = block.head
    const hasGaps = counts.has(TAPE_CODES.lost) || counts.has(TAPE_CODES.gap)
    if (!hasGaps) continue
    const read = block.read()
    if (read === null) {
      const range = { from_us: firstUs, to_us: lastUs }
      yield { cause: 'damaged', ...range, rows, offsets: byChannel(offsets) }
      continue
    }
    for (const item of read.items) {
      const found = readLost(item)
      if (found !== null) {
        const { cause, fromUs: from_us, toUs: to_us } = found
        yield { cause, from_us, to_us, rows: found.rows, offsets: byChannel(found.offsets) }
      } else if (item[0] === TAPE_CODES.gap) yield venueGap(item)
    }
  }
}

/** An announced loss of trades: `[code, market, venue, platform, from, to, count]`. */
function venueGap([, , , , fromMs, toMs, count]: readonly unknown[]): ManifestGap {
  const us = (ms: unknown) => (typeof ms === 'number' ? ms * US_PER_MS : 0)
  const rows = typeof count === 'number' ? count : null
  return { cause: 'venue', from_us: us(fromMs), to_us: us(toMs), rows, offsets: {} }
}

const byChannel = (ranges: readonly OffsetRange[]): Offsets =>
  Object.fromEntries(ranges.map(({ channel, first, last }) => [channel, { first, last }]))

function sha256Of(path: string): string {
  const hash = createHash('sha256')
  const file = openSync(path, 'r')
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (;;) {
      const count = readSync(file, chunk)
      if (count === 0) break
      hash.update(chunk.subarray(0, count))
    }
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}
