// One run of `npm run export`: writes each table of each hour of a range to its file.

import { isNautilusTable, nautilusFiles } from '../../../storage/tape/export/nautilus.ts'
import { EngineError } from '../../errors.ts'
import type { ExportFormat, ExportTableName } from '../../tape/export-names.ts'
import { HOUR_US, US_PER_MS } from '../../tape/layout.ts'
import { formatTime, timeMs } from '../../units.ts'
import { contentOf, type ExportSource, type HourRange, type SourceHour } from './export-source.ts'
import type { OutputFolder, UnitResult } from './output-folder.ts'

export const EXPORT_LAYOUTS = ['twinbook', 'nautilus'] as const
export type ExportLayout = (typeof EXPORT_LAYOUTS)[number]

export interface ExportOrder extends HourRange {
  readonly tables: readonly ExportTableName[]
  readonly format: ExportFormat
  /** `nautilus`: a catalog of nautilus_trader, with the tables of NAUTILUS_TABLES as Parquet. */
  readonly layout: ExportLayout
  /** Whether hours that are not final are exported too. */
  readonly isPartial: boolean
}

export type ExportReport =
  | { readonly kind: 'progress'; readonly text: string }
  | {
      readonly kind: 'table'
      readonly hour: SourceHour
      readonly table: ExportTableName
      readonly result: UnitResult
    }
  /** Hours of the range that are not final, or that the tape of the venue does not have. Never empty. */
  | {
      readonly kind: 'not_final' | 'missing'
      readonly platform: string
      readonly hoursUs: readonly number[]
    }

/**
 * Returns whether all hours of the range are exported. Rejects with EngineError NOT_FOUND if there is no tape, with the
 * errors of the source, and with file system errors.
 */
export async function exportHours(
  order: ExportOrder,
  { source, output }: { readonly source: ExportSource; readonly output: OutputFolder },
  report: (event: ExportReport) => void,
): Promise<boolean> {
  report({ kind: 'progress', text: 'reading the list of hours' })
  const platforms = await source.platforms()
  if (platforms.length === 0) {
    throw new EngineError('NOT_FOUND', 'there is no tape; an engine with TAPE=on records one')
  }
  const hours = await source.hours(order)
  const exported = new Set<SourceHour>()
  const notFinal = new Set<SourceHour>()
  let isComplete = true
  for (const [index, hour] of hours.entries()) {
    const name = `${hour.platform} ${hourText(hour.startUs)}`
    try {
      for (const table of order.tables) {
        const text = `${name} ${table}, ${index + 1} of ${hours.length} hours`
        report({ kind: 'progress', text })
        const result = await exportTable(order, { source, output }, { hour, table })
        report({ kind: 'table', hour, table, result })
        if (result.status === 'refused') isComplete = false
      }
      exported.add(hour)
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      if (error.code === 'NOT_FINAL') notFinal.add(hour)
      else if (error.code !== 'NOT_FOUND') throw error
    }
  }
  for (const platform of platforms) {
    const of = (set: ReadonlySet<SourceHour>) =>
      [...set].filter((hour) => hour.platform === platform).map(({ startUs }) => startUs)
    const found = new Set([...of(exported), ...of(notFinal)])
    const missing = rangeHours(order).filter((us) => !found.has(us))
    for (const [kind, hoursUs] of [
      ['not_final', of(notFinal)] as const,
      ['missing', missing] as const,
    ]) {
      if (hoursUs.length === 0) continue
      report({ kind, platform, hoursUs })
      isComplete = false
    }
  }
  return isComplete
}

function exportTable(
  { format, layout, isPartial }: ExportOrder,
  { source, output }: { readonly source: ExportSource; readonly output: OutputFolder },
  { hour, table }: { readonly hour: SourceHour; readonly table: ExportTableName },
): Promise<UnitResult> {
  const { platform, date } = hour
  const hh = String(hour.hour).padStart(2, '0')
  const content = hour.manifest === null ? null : contentOf(hour.manifest)
  if (layout === 'nautilus') {
    const rows = source.rows?.(hour, table, isPartial)
    if (rows === undefined || !isNautilusTable(table)) {
      throw new Error(`the source has no rows of ${table} for a catalog`)
    }
    const unit = { name: `${platform}.${table}.${date}.${hh}.nautilus`, content }
    return output.write(unit, nautilusFiles(rows, table, hour))
  }
  const folder = `venue=${platform}/table=${table}/date=${date}/hour=${hh}`
  const chunks = source.file(hour, { table, format }, isPartial)
  const unit = { name: `${platform}.${table}.${date}.${hh}.${format}`, content }
  return output.write(unit, [{ path: `${folder}/part-0.${format}`, chunks }])
}

const rangeHours = ({ fromUs, toUs }: HourRange): readonly number[] =>
  Array.from({ length: (toUs - fromUs) / HOUR_US }, (_, index) => fromUs + index * HOUR_US)

/** As 2026-11-26T15:00Z. */
export const hourText = (startUs: number): string =>
  `${formatTime(timeMs(startUs / US_PER_MS)).slice(0, 16)}Z`
