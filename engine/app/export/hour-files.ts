// Finds the hours of the tape that can be exported.

import type { ExportRequest, HoursQuery } from '../../../actors/views.ts'
import { Tape, type TapeHour } from '../../../storage/tape/tape.ts'
import { EXPORT_FORMATS, EXPORT_TABLES } from '../../tape/export-names.ts'
import { type HourFolder, hourFolder, partsOf, US_PER_MS } from '../../tape/layout.ts'
import { readManifest } from '../../tape/manifest.ts'
import type { Refusal } from './export-task.ts'

type HourRequest = Pick<ExportRequest, 'platform' | 'date' | 'hour' | 'isPartial'>

/** The hour of a request, or why it is not exported. */
export function requestedHour(
  folder: string,
  { platform, date, hour, isPartial }: HourRequest,
): HourFolder | Refusal {
  const startMs = Date.parse(`${date}T${String(hour).padStart(2, '0')}:00:00Z`)
  // V8 accepts the day 31 of any month.
  if (Number.isNaN(startMs) || !new Date(startMs).toISOString().startsWith(`${date}T`)) {
    const detail = `${date} is no date; it accepts YYYY-MM-DD`
    return { kind: 'refused', code: 'BAD_REQUEST', detail }
  }
  const found = hourFolder(folder, platform, startMs * US_PER_MS)
  if (partsOf(found).length === 0) {
    const detail = `the tape has no such hour; ${existing(folder, platform)}`
    return { kind: 'refused', code: 'NOT_FOUND', detail }
  }
  if (readManifest(found) !== null || isPartial) return found
  const detail = 'not_final: the hour is still being written; partial=true exports what there is'
  return { kind: 'refused', code: 'NOT_FINAL', detail }
}

/** States which hours of a venue exist. */
function existing(folder: string, platform: string): string {
  const hours = new Tape(folder).hours().filter((hour) => hour.platform === platform)
  const [first, last] = [hours[0], hours.at(-1)]
  if (first === undefined || last === undefined) return `it has no hours of ${platform}`
  return `it has ${hours.length} hours of ${platform}, from ${nameOf(first)} to ${nameOf(last)} UTC`
}

const nameOf = ({ date, hour }: TapeHour): string => `${date}/${String(hour).padStart(2, '0')}`

/** JSON of the final hours with their manifests, newest first. */
export function hoursText(folder: string, { platform, date, limit }: HoursQuery): string {
  const selected = new Tape(folder)
    .hours()
    .filter(({ manifest }) => manifest !== null)
    .filter((hour) => platform === null || hour.platform === platform)
    .filter((hour) => date === null || hour.date === date)
    .reverse()
  const hours = selected.slice(0, limit).map(({ manifest }) => manifest)
  const names = { tables: EXPORT_TABLES, formats: EXPORT_FORMATS }
  return JSON.stringify({ ...names, hours, has_more: selected.length > limit })
}
