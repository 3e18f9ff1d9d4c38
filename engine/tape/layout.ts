// Names of the tape's folders and files:
//
//   DATA_DIR/tape/venue=venue_a/date=2026-11-26/hour=15/part-0000.tape
//                                                       part-0000.journal   rows that are not in a block yet
//                                                       manifest.json       the hour is final

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isErrorCode } from '../process/durable-file.ts'

export const US_PER_MS = 1_000
export const HOUR_US = 3_600_000_000

export const MANIFEST_NAME = 'manifest.json'

export interface HourFolder {
  readonly platform: string
  /** UTC date, as 2026-11-26. */
  readonly date: string
  /** UTC hour, 0..23. */
  readonly hour: number
  /** Start of the hour in microseconds since 1970. */
  readonly startUs: number
  readonly path: string
}

/** The tape's folder in a data folder. */
export const tapeFolder = (dataDir: string): string => join(dataDir, 'tape')

/** Start of the hour that contains a time. Both in microseconds since 1970. */
export const hourOf = (us: number): number => us - (us % HOUR_US)

export function hourFolder(tape: string, platform: string, us: number): HourFolder {
  const startUs = hourOf(us)
  const iso = new Date(startUs / US_PER_MS).toISOString()
  const [date, hour] = [iso.slice(0, 10), iso.slice(11, 13)]
  const path = join(tape, `venue=${platform}`, `date=${date}`, `hour=${hour}`)
  return { platform, date, hour: Number(hour), startUs, path }
}

/** All hours of the tape, oldest first, and by venue within an hour. Ignores other folders. */
export function listHours(tape: string): readonly HourFolder[] {
  const hours: HourFolder[] = []
  for (const [platform, venuePath] of foldersOf(tape, /^venue=([\w-]+)$/)) {
    for (const [date, datePath] of foldersOf(venuePath, /^date=(\d{4}-\d\d-\d\d)$/)) {
      for (const [hour, path] of foldersOf(datePath, /^hour=([01]\d|2[0-3])$/)) {
        const startUs = Date.parse(`${date}T${hour}:00:00Z`) * US_PER_MS
        if (Number.isNaN(startUs)) continue
        hours.push({ platform, date, hour: Number(hour), startUs, path })
      }
    }
  }
  const order = (one: HourFolder, other: HourFolder) =>
    one.startUs - other.startUs || (one.platform < other.platform ? -1 : 1)
  return hours.sort(order)
}

function foldersOf(path: string, pattern: RegExp): readonly (readonly [string, string])[] {
  return namesIn(path).flatMap((name) => {
    const value = pattern.exec(name)?.[1]
    return value === undefined ? [] : [[value, join(path, name)] as const]
  })
}

export function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if (isErrorCode(error, 'ENOENT') || isErrorCode(error, 'ENOTDIR')) return []
    throw error
  }
}

/** Numbers of the parts of an hour, ascending. Each run of the engine writes its own part. */
export function partsOf({ path }: Pick<HourFolder, 'path'>): readonly number[] {
  const parts = new Set<number>()
  for (const name of namesIn(path)) {
    const part = /^part-(\d{4})[.](?:tape|journal)$/.exec(name)?.[1]
    if (part !== undefined) parts.add(Number(part))
  }
  return [...parts].sort((one, other) => one - other)
}

export function partPath(
  { path }: Pick<HourFolder, 'path'>,
  part: number,
  kind: 'tape' | 'journal',
): string {
  return join(path, `part-${String(part).padStart(4, '0')}.${kind}`)
}
