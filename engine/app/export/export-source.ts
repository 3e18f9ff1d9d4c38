// The hours that `npm run export` reads: those of a data folder's tape, or those of a running service.

import { createHash } from 'node:crypto'
import type { Row } from '../../../storage/tape/export/columns.ts'
import { type ExportChoice, exportFile } from '../../../storage/tape/export/export-file.ts'
import { hourRows } from '../../../storage/tape/export/hour-rows.ts'
import { Tape } from '../../../storage/tape/tape.ts'
import { EngineError } from '../../errors.ts'
import type { ExportTableName } from '../../tape/export-names.ts'
import { type HourFolder, listHours } from '../../tape/layout.ts'
import { type Manifest, readManifest } from '../../tape/manifest.ts'
import { requestedHour } from './hour-files.ts'

/** [fromUs, toUs): whole hours, in microseconds since 1970. */
export interface HourRange {
  readonly fromUs: number
  readonly toUs: number
}

export interface SourceHour {
  /** Public name of the venue. */
  readonly platform: string
  /** UTC date, as 2026-11-26. */
  readonly date: string
  /** UTC hour, 0..23. */
  readonly hour: number
  /** Start of the hour in microseconds since 1970. */
  readonly startUs: number
  /** Null: the hour may not be final. */
  readonly manifest: Manifest | null
}

/** The file in chunks. Null: a pause in which other work can be done. */
export type FileChunks = Iterable<Uint8Array | null> | AsyncIterable<Uint8Array | null>

export interface ExportSource {
  /** Public names of the venues that have hours. Empty: there is no tape. */
  platforms(): Promise<readonly string[]>
  /** The hours of a range, oldest first. An hour without manifest may not exist. */
  hours(range: HourRange): Promise<readonly SourceHour[]>
  /** Reading the chunks throws EngineError: NOT_FINAL, NOT_FOUND if there is no such hour, and others. */
  file(hour: SourceHour, choice: ExportChoice, isPartial: boolean): FileChunks
  /** The rows of a table, with the errors of `file`. Null: a pause. Absent: the source has files only. */
  rows?(hour: SourceHour, table: ExportTableName, isPartial: boolean): Iterable<Row | null>
}

/** Identifies the content of a final hour: SHA-256 over the checksums of its files. */
export function contentOf({ files }: Manifest): string {
  return createHash('sha256')
    .update(files.map(({ sha256 }) => sha256).join('\n'))
    .digest('hex')
}

/** Reads the tape in `folder`. An engine may write it at the same time. */
export function tapeSource(folder: string): ExportSource {
  return {
    platforms: async () => [...new Set(listHours(folder).map(({ platform }) => platform))].sort(),
    hours: async ({ fromUs, toUs }) =>
      listHours(folder)
        .filter(({ startUs }) => startUs >= fromUs && startUs < toUs)
        .map((hour) => ({ ...hour, manifest: readManifest(hour) })),
    file: (hour, choice, isPartial) =>
      readHour(folder, { ...hour, isPartial }, (tape, found) => exportFile(tape, found, choice)),
    rows: (hour, table, isPartial) =>
      readHour(folder, { ...hour, isPartial }, (tape, found) => hourRows(tape, found, table)),
  }
}

function* readHour<Part>(
  folder: string,
  hour: SourceHour & { readonly isPartial: boolean },
  read: (tape: Tape, hour: HourFolder) => Iterable<Part>,
): Generator<Part> {
  const found = requestedHour(folder, hour)
  if ('kind' in found) throw new EngineError(found.code, found.detail)
  yield* read(new Tape(folder), found)
  const manifest = readManifest(found)
  const isSame = hour.manifest === null || (manifest !== null && sameContent(manifest, hour))
  if (isSame) return
  throw new EngineError('UNAVAILABLE', 'the hour was deleted from the tape during the export')
}

const sameContent = (manifest: Manifest, hour: SourceHour): boolean =>
  hour.manifest !== null && contentOf(manifest) === contentOf(hour.manifest)
