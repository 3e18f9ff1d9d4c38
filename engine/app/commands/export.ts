// `npm run export` writes hours of the tape to files: from DATA_DIR, also while an engine runs, or from a service.

import { NAUTILUS_TABLES } from '../../../storage/tape/export/nautilus.ts'
import { systemClock } from '../../clock.ts'
import { loadConfig } from '../../config.ts'
import { type Arguments, openProgress, UsageError } from '../../process/command-line.ts'
import {
  EXPORT_FORMATS,
  EXPORT_TABLES,
  type ExportTableName,
  isExportFormat,
} from '../../tape/export-names.ts'
import { HOUR_US, tapeFolder, US_PER_MS } from '../../tape/layout.ts'
import {
  EXPORT_LAYOUTS,
  type ExportLayout,
  type ExportOrder,
  type ExportReport,
  exportHours,
  hourText,
} from '../export/export-run.ts'
import { tapeSource } from '../export/export-source.ts'
import { OutputFolder } from '../export/output-folder.ts'
import { serviceSource } from './export-service.ts'
import { runCommand } from './run-command.ts'

const HOURS_MAX = 366 * 24

const COMMAND = {
  name: 'npm run export',
  about: 'Writes hours of the tape to files, for DuckDB, pandas and polars.',
  usage: ['--from TIME --to TIME --out DIR [--tables NAME ...] [--format NAME] [options]'],
  options: {
    from: { takes: 'TIME', means: 'first hour, UTC, such as 2026-11-26 or 2026-11-26T15' },
    to: { takes: 'TIME', means: 'end, which is not exported; at most 366 days after --from' },
    out: { takes: 'DIR', means: 'where to: DIR/venue=…/table=…/date=…/hour=…/part-0.FORMAT' },
    tables: { takes: 'NAME', means: `${EXPORT_TABLES.join(', ')} (all)`, isMany: true },
    format: { takes: 'NAME', means: `${EXPORT_FORMATS.join(', ')} (parquet)` },
    layout: {
      takes: 'NAME',
      means: 'twinbook, or nautilus: a catalog of nautilus_trader with two tables (twinbook)',
    },
    url: { takes: 'URL', means: 'reads from the service at this address instead of DATA_DIR' },
    key: { takes: 'KEY', means: 'an API key of that service' },
    partial: { takes: null, means: 'also exports hours that are not final, as far as they are' },
    json: { takes: null, means: 'prints one JSON object a line for each file and missing hour' },
  },
  examples: [
    '--from 2026-11-26 --to 2026-11-27 --out exported',
    '--from 2026-11-26T15 --to 2026-11-26T16 --tables trades --format csv.gz --out exported',
    '--from 2026-11-26 --to 2026-11-27 --out exported --url https://example.org --key KEY',
  ],
  notes: [
    'A repeated command continues: it verifies finished files by their checksums and skips them. It overwrites no file.',
    'Exit codes: 0 all hours are exported, 1 some are not (not final, not on the tape, a file that differs, stopped), 2 a bad request.',
  ],
} as const
type Given = Arguments<keyof typeof COMMAND.options>

interface Request extends ExportOrder {
  readonly out: string
  /** Null: the data folder. */
  readonly service: { readonly url: URL; readonly key: string } | null
  readonly isJson: boolean
}

function readRequest(given: Given): Request {
  const out = given.text('out')
  if (out === null) throw new UsageError('--out DIR is missing: the folder for the files')
  const [fromUs, toUs] = [readHour(given, 'from'), readHour(given, 'to')]
  if (fromUs >= toUs) throw new UsageError('--from must be before --to')
  if (toUs - fromUs > HOURS_MAX * HOUR_US) {
    throw new UsageError('--to is too late; it accepts at most 366 days after --from')
  }
  const layout = readLayout(given)
  const format = given.text('format') ?? 'parquet'
  if (!isExportFormat(format)) {
    throw new UsageError(`--format is ${format}; it accepts ${EXPORT_FORMATS.join(', ')}`)
  }
  const service = readService(given)
  if (layout === 'nautilus' && (format !== 'parquet' || service !== null)) {
    throw new UsageError('--layout nautilus writes Parquet from DATA_DIR: omit --format and --url')
  }
  const tables = readTables(given, layout === 'nautilus' ? NAUTILUS_TABLES : EXPORT_TABLES)
  return {
    ...{ fromUs, toUs, out, tables, format, layout, service },
    ...{ isPartial: given.has('partial'), isJson: given.has('json') },
  }
}

const HOUR = /^(\d{4}-\d\d-\d\d)(?:T([01]\d|2[0-3])(?::00)?(?::00)?Z?)?$/

function readHour(given: Given, option: 'from' | 'to'): number {
  const text = given.text(option)
  const accepts = 'a UTC date or hour, such as 2026-11-26 or 2026-11-26T15'
  if (text === null) throw new UsageError(`--${option} TIME is missing; it accepts ${accepts}`)
  const [, date, hour = '00'] = HOUR.exec(text) ?? []
  const us = Date.parse(`${date}T${hour}:00:00Z`) * US_PER_MS
  // V8 accepts the day 31 of any month.
  const isDate = !Number.isNaN(us) && new Date(us / US_PER_MS).toISOString().startsWith(`${date}T`)
  if (!isDate) throw new UsageError(`--${option} is ${text}; it accepts ${accepts}`)
  return us
}

function readLayout(given: Given): ExportLayout {
  const text = given.text('layout') ?? 'twinbook'
  const layout = EXPORT_LAYOUTS.find((name) => name === text)
  if (layout !== undefined) return layout
  throw new UsageError(`--layout is ${text}; it accepts ${EXPORT_LAYOUTS.join(', ')}`)
}

function readTables(
  given: Given,
  accepted: readonly ExportTableName[],
): readonly ExportTableName[] {
  if (!given.has('tables')) return accepted
  const names = given.texts('tables').flatMap((text) => text.split(','))
  return [...new Set(names)].map((name) => {
    const table = accepted.find((other) => other === name)
    if (table !== undefined) return table
    throw new UsageError(`--tables has ${name}; it accepts ${accepted.join(', ')}`)
  })
}

function readService(given: Given): Request['service'] {
  const [text, key] = [given.text('url'), given.text('key')]
  if (text === null && key === null) return null
  if (text === null || key === null) throw new UsageError('--url and --key need each other')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`--url is ${text}; it accepts a URL such as http://127.0.0.1:8080`)
  }
  return { url, key }
}

async function main(given: Given): Promise<number> {
  const request = readRequest(given)
  const stopping = new AbortController()
  const { signal } = stopping
  process.on('SIGINT', () => stopping.abort())
  process.on('SIGTERM', () => stopping.abort())
  const source =
    request.service === null
      ? tapeSource(tapeFolder(loadConfig(process.env).dataDir))
      : serviceSource({ ...request.service, clock: systemClock, signal })
  const output = new OutputFolder(request.out, systemClock, signal)
  const printer = openPrinter(request.isJson)
  try {
    const isComplete = await exportHours(request, { source, output }, (event) =>
      printer.print(event),
    )
    printer.end()
    return isComplete ? 0 : 1
  } catch (error) {
    printer.clear()
    if (!signal.aborted) throw error
    printer.end()
    process.stderr.write('stopped; the same command continues the export\n')
    return 1
  }
}

interface Printer {
  print(event: ExportReport): void
  /** Removes the progress. */
  clear(): void
  /** Prints the sums. */
  end(): void
}

function openPrinter(isJson: boolean): Printer {
  const progress = openProgress()
  const sums = { written: 0, verified: 0, bytes: 0 }
  const summary = () => {
    const megabytes = (sums.bytes / 1e6).toFixed(1)
    return `${sums.written} files written (${megabytes} MB), ${sums.verified} verified`
  }
  const print = (text: string, object: object) => {
    progress.end()
    if (isJson) process.stdout.write(`${JSON.stringify(object)}\n`)
    else if (text !== '') process.stderr.write(`${text}\n`)
  }
  return {
    print(event) {
      if (event.kind === 'progress') return progress.show(`${event.text}; ${summary()}`)
      if (event.kind !== 'table') return print(hoursText(event), hoursObject(event))
      const { result } = event
      print(result.status === 'refused' ? result.detail : '', tableObject(event))
      if (result.status === 'refused') return
      sums[result.status] += result.files.length
      if (result.status === 'written') for (const { bytes } of result.files) sums.bytes += bytes
    },
    clear: () => progress.end(),
    end() {
      progress.end()
      if (!isJson) process.stdout.write(`${summary()}\n`)
    },
  }
}

type HoursReport = Extract<ExportReport, { kind: 'missing' | 'not_final' }>

function hoursText({ kind, platform, hoursUs }: HoursReport): string {
  const [first = 0, last = first] = [hoursUs[0], hoursUs.at(-1)]
  const range = first === last ? hourText(first) : `${hourText(first)} to ${hourText(last)}`
  const hours = hoursUs.length === 1 ? '1 hour is' : `${hoursUs.length} hours are`
  return kind === 'missing'
    ? `${platform}: ${hours} not on the tape (${range})`
    : `${platform}: ${hours} not final (${range}); --partial exports the rows that exist so far`
}

const hoursObject = ({ kind, platform, hoursUs }: HoursReport) => ({
  ...{ venue: platform, status: kind, hours: hoursUs.map(hourText) },
})

function tableObject({ hour, table, result }: Extract<ExportReport, { kind: 'table' }>) {
  const { status } = result
  const what = { venue: hour.platform, hour: hourText(hour.startUs), table, status }
  if (result.status === 'refused') return { ...what, detail: result.detail }
  return { ...what, gaps: hour.manifest?.gaps.length ?? null, files: result.files }
}

await runCommand(COMMAND, main)
