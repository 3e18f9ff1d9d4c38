// Writes the tape of all venues: one file per venue, hour and run. A batch goes to the journal at once, so that a killed
// process loses none that was handed over. When the journal has enough rows for a block, they are compressed and
// appended to the file. Runs in a worker thread and in tests, and reads no clock: batches have their times.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { TapeDisk } from './disk.ts'
import {
  HOUR_US,
  type HourFolder,
  hourFolder,
  hourOf,
  listHours,
  namesIn,
  partsOf,
} from './layout.ts'
import { lostItem } from './lost.ts'
import { readManifest, writeManifest } from './manifest.ts'
import type { PartHead } from './part.ts'
import { PartWriter } from './part-writer.ts'
import { repairHour, type TapeEnd } from './repair.ts'

const DAY_US = 24 * HOUR_US
/** Free space that the tape leaves: twice what the databases need. */
const RESERVE = { share: 0.04, bytesMin: 128 * 2 ** 20, bytesMax: 2 * 2 ** 30 }

/** Rows of one venue that were published within one hour. */
export interface TapeBatch {
  /** Key of the venue. */
  readonly venue: string
  readonly firstUs: number
  readonly lastUs: number
  /** Encoded head of the batch. */
  readonly head: Uint8Array
  /** Publish times and items alternately, as MessagePack. */
  readonly values: Uint8Array<ArrayBuffer>
}

export interface TapeSettings {
  /** Folder of the tape. */
  readonly folder: string
  readonly epoch: string
  readonly venues: PartHead['names']
  readonly daysMax: number
  readonly bytesMax: number
  /** Names of the items by code. */
  readonly itemNames: ReadonlyMap<number, string>
}

/** Content of the tape. */
export interface TapeSize {
  readonly bytes: number
  readonly hours: number
  /** Begin of the oldest hour. Null: the tape is empty. */
  readonly oldestUs: number | null
}

/** Why a batch was not written. */
export type WriteFailure = 'disk_full' | 'disk_error'

export class TapeWriter {
  readonly #settings: TapeSettings
  readonly #disk: TapeDisk
  readonly #venues = new Map<string, VenueWriter>()
  /** Bytes of each final hour by path. A final hour does not change. */
  readonly #finalBytes = new Map<string, number>()
  /** Publish times of new rows must not be before this one. */
  readonly firstUs: number
  /** Message of the newest error. Null: there was none. */
  lastError: string | null = null
  size: TapeSize = { bytes: 0, hours: 0, oldestUs: null }

  /** Repairs the files of earlier runs, and closes their hours. `nowUs`: the current time. Throws file system errors. */
  constructor(settings: TapeSettings, disk: TapeDisk, nowUs: number) {
    this.#settings = settings
    this.#disk = disk
    disk.createFolder(settings.folder)
    const ends = new Map<string, TapeEnd>()
    let firstUs = nowUs
    for (const hour of listHours(settings.folder)) {
      const manifest = readManifest(hour)
      const end = manifest === null ? repairHour(hour, disk) : endOf(manifest.last_us)
      if (end !== null) ends.set(hour.platform, end)
      const endsUs = manifest === null ? (end?.lastUs ?? 0) : hour.startUs + HOUR_US
      firstUs = Math.max(firstUs, endsUs)
    }
    this.firstUs = firstUs + 1
    try {
      this.#begin(firstUs, ends)
    } catch (error) {
      this.#release()
      throw error
    }
  }

  /** Records how long each venue was not recorded. `ends`: the last row of each venue. */
  #begin(nowUs: number, ends: ReadonlyMap<string, TapeEnd>): void {
    this.#finishHours(hourOf(nowUs))
    for (const { venue, platform } of this.#settings.venues) {
      const writer = new VenueWriter(this.#settings, this.#disk, { venue, platform })
      this.#venues.set(venue, writer)
      const end = ends.get(platform)
      if (end === undefined) continue
      const cause = end.wasKilled ? 'killed' : 'stopped'
      const period = { fromUs: end.lastUs, toUs: nowUs }
      writer.add(nowUs, lostItem({ cause, ...period, offsets: [], rows: null }))
    }
    this.#retain(nowUs)
  }

  /** Writes a batch. Returns why it was not written, or null. */
  append(batch: TapeBatch): WriteFailure | null {
    const writer = this.#venues.get(batch.venue)
    return writer === undefined ? 'disk_error' : this.#failureOf(() => writer.append(batch))
  }

  /** Closes hours that are over, and removes old ones. Called every few seconds. */
  tick(nowUs: number): WriteFailure | null {
    return this.#failureOf(() => {
      for (const writer of this.#venues.values()) writer.closeBefore(hourOf(nowUs))
      this.#finishHours(hourOf(nowUs))
      this.#retain(nowUs)
    })
  }

  /** Whether the disk has too little free space for the tape. */
  isDiskFull(): boolean {
    const { freeBytes, totalBytes } = this.#disk.space(this.#settings.folder)
    const { share, bytesMin, bytesMax } = RESERVE
    return freeBytes < Math.min(bytesMax, Math.max(bytesMin, totalBytes * share))
  }

  /** Closes all files. Returns why a file has no index and must be repaired by the next start, or null. */
  close(): WriteFailure | null {
    const failure = this.#failureOf(() => {
      for (const writer of this.#venues.values()) writer.closeBefore(Number.POSITIVE_INFINITY)
    })
    this.#release()
    return failure
  }

  #release(): void {
    for (const writer of this.#venues.values()) writer.release()
  }

  #failureOf(action: () => void): WriteFailure | null {
    try {
      action()
      return null
    } catch (error) {
      this.lastError = error instanceof Error ? error.message : 'unknown'
      const code = error instanceof Error && 'code' in error ? error.code : null
      return code === 'ENOSPC' || code === 'EDQUOT' ? 'disk_full' : 'disk_error'
    }
  }

  /** Writes the manifests of the hours before a time whose files are closed. */
  #finishHours(beforeUs: number): void {
    const { folder, itemNames } = this.#settings
    for (const hour of listHours(folder)) {
      if (hour.startUs >= beforeUs || this.#finalBytes.has(hour.path)) continue
      const { bytes } = readManifest(hour) ?? writeManifest(hour, itemNames)
      this.#finalBytes.set(hour.path, bytes)
    }
  }

  /** Removes hours beyond the limits of age and size, oldest first. Never removes the current hour. */
  #retain(nowUs: number): void {
    const { folder, daysMax, bytesMax } = this.#settings
    const hours = listHours(folder).map((hour) => {
      return { hour, bytes: this.#finalBytes.get(hour.path) ?? bytesOf(hour) }
    })
    let bytes = hours.reduce((sum, hour) => sum + hour.bytes, 0)
    let removed = 0
    for (const { hour, bytes: some } of hours) {
      const isOld = hour.startUs + HOUR_US < nowUs - daysMax * DAY_US
      const isCurrent = hour.startUs + HOUR_US > nowUs
      if (isCurrent || (!isOld && bytes <= bytesMax)) break
      this.#disk.remove(hour.path)
      this.#finalBytes.delete(hour.path)
      bytes -= some
      removed += 1
    }
    const oldestUs = hours[removed]?.hour.startUs ?? null
    this.size = { bytes, hours: hours.length - removed, oldestUs }
  }
}

/** The open file of one venue. */
class VenueWriter {
  readonly #settings: TapeSettings
  readonly #disk: TapeDisk
  readonly #head: PartHead
  #part: PartWriter | null = null
  #lastUs = 0

  constructor(settings: TapeSettings, disk: TapeDisk, venue: PartHead['names'][number]) {
    this.#settings = settings
    this.#disk = disk
    this.#head = { ...venue, epoch: settings.epoch, names: settings.venues }
  }

  append({ firstUs, lastUs, head, values }: TapeBatch): void {
    // A batch from before the tape was opened, which the loss at its begin already states.
    if (firstUs <= this.#lastUs) throw new Error('a batch is older than the rows before')
    this.#partOf(firstUs).append(head, values)
    this.#lastUs = lastUs
  }

  add(us: number, item: readonly unknown[]): void {
    this.#partOf(us).add(us, item)
    this.#lastUs = us
  }

  /** Closes the file if its hour begins before a time. */
  closeBefore(us: number): void {
    if (this.#part === null || this.#part.hour.startUs >= us) return
    this.#part.close()
    this.#part = null
  }

  /** Closes the file as it is. */
  release(): void {
    this.#part?.release()
    this.#part = null
  }

  #partOf(us: number): PartWriter {
    this.closeBefore(hourOf(us))
    if (this.#part === null) {
      const hour = hourFolder(this.#settings.folder, this.#head.platform, us)
      const number = (partsOf(hour).at(-1) ?? -1) + 1
      const from = { head: this.#head, entries: [], endsAt: 0 }
      this.#part = new PartWriter(this.#disk, hour, number, from)
    }
    return this.#part
  }
}

const endOf = (lastUs: number | null): TapeEnd | null =>
  lastUs === null ? null : { lastUs, wasKilled: false }

/** Bytes of the files of an hour that is not final. */
function bytesOf({ path }: HourFolder): number {
  let bytes = 0
  for (const name of namesIn(path)) {
    bytes += statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0
  }
  return bytes
}
