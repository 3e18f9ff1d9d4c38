// Exported hours of the tape: the list of final hours, and their files.

import { Type } from '@sinclair/typebox'
import type { EngineView, ExportsView } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import {
  EXPORT_FORMATS,
  EXPORT_TABLES,
  isExportFormat,
  isExportTable,
} from '../../engine/tape/export-names.ts'
import { DAY_MS } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import { type Answer, jsonText, streamed, withHeader } from '../request/reply.ts'
import { accountOf, type RequestFacts, type Route, requireCaller, route } from '../request/route.ts'
import { choice, field, nullable, parameters } from '../schemas.ts'

interface ExportRouteParts {
  readonly engine: Pick<EngineView, 'exports'>
  readonly clock: Clock
  readonly names: VenueTable
}

const DATE = '^\\d{4}-\\d{2}-\\d{2}$'
const date = () =>
  Type.String({ pattern: DATE, description: 'UTC date, YYYY-MM-DD', examples: ['2026-11-26'] })

const OffsetsSchema = Type.Record(
  Type.String(),
  Type.Object({
    first: field(Type.Integer(), 'first offset', 1),
    last: field(Type.Integer(), 'last offset', 9_000),
  }),
)

const us = (means: string) => field(Type.Integer(), `${means}, microseconds since 1970`, 1.764e15)

const manifestSchema = (venues: readonly string[]) =>
  Type.Object({
    format: field(Type.Integer(), 'version of the tape format', 1),
    platform: choice(venues, { description: 'venue' }),
    date: date(),
    hour: field(Type.Integer(), 'UTC hour, 0 to 23', 15),
    rows: field(Type.Record(Type.String(), Type.Integer()), 'rows of the tape by kind', {
      book: 9,
    }),
    bytes: field(Type.Integer(), 'bytes of the files of the tape', 1_048_576),
    first_us: nullable(us('publish time of the first row')),
    last_us: nullable(us('publish time of the last row')),
    files: Type.Array(
      Type.Object({
        name: field(Type.String(), 'file of the tape', 'part-0000.tape'),
        bytes: field(Type.Integer(), 'size of the file', 1_048_576),
        sha256: field(Type.String(), 'SHA-256 of the file, hex', '9f86d081884c7d65'),
        epoch: field(Type.String(), 'run of the engine that wrote the file', 'k3f9c2'),
        first_us: nullable(us('publish time of the first row')),
        last_us: nullable(us('publish time of the last row')),
        offsets: OffsetsSchema,
      }),
      { description: 'files of the tape, one for each run of the engine' },
    ),
    gaps: Type.Array(
      Type.Object({
        cause: field(
          Type.String(),
          'why rows are missing; `venue`: the venue lost trades',
          'killed',
        ),
        from_us: us('begin of the gap'),
        to_us: us('end of the gap'),
        rows: field(nullable(Type.Integer()), 'missing rows; null: unknown', 12),
        offsets: OffsetsSchema,
      }),
      { description: 'periods of which updates are missing' },
    ),
  })

const hoursSchema = (venues: readonly string[]) =>
  Type.Object({
    tables: Type.Array(choice(EXPORT_TABLES), { description: 'exported tables' }),
    formats: Type.Array(choice(EXPORT_FORMATS), { description: 'endings of the files’ names' }),
    hours: Type.Array(manifestSchema(venues), { description: 'manifests of the final hours' }),
    has_more: Type.Boolean(),
  })

const CONTENT_TYPES = {
  parquet: 'application/vnd.apache.parquet',
  'csv.gz': 'application/gzip',
  'ndjson.gz': 'application/gzip',
} as const

export function exportRoutes({ engine, clock, names }: ExportRouteParts): readonly Route[] {
  const venue = names.all.map(({ name }) => name)
  return [
    route(
      'GET /v1/export',
      {
        group: 'Market Data',
        summary: 'Hours that can be exported',
        description:
          'The final hours of the tape with their manifests, newest first. An hour is final a few seconds after its end.',
        answer: hoursSchema(venue),
        refusals: { 404: 'no tape (`TAPE=off`, or a gateway)' },
        query: Type.Object({
          platform: Type.Optional(choice(venue)),
          date: Type.Optional(date()),
          limit: parameters.limit(1000, 100),
        }),
      },
      async ({ caller }, { platform = null, date: day = null, limit }) => {
        const query = { platform, date: day, limit }
        return jsonText(await exportsOf(engine).list(query, accountOf(caller)))
      },
    ),
    route(
      'GET /v1/export/{venue}/{table}/{date}/{file}',
      {
        group: 'Market Data',
        summary: 'One table of one hour as Parquet, CSV or NDJSON',
        description:
          'The file is `HH.parquet`, `HH.csv.gz` or `HH.ndjson.gz`, with the UTC hour HH. Rows are sorted by market, publish time and seq. At most two exports run at once for an account. A connection that ends before the last chunk is an incomplete file.',
        answer: null,
        contentTypes: [...new Set(Object.values(CONTENT_TYPES))],
        refusals: {
          403: 'the free tier exports the last 24 hours only',
          404: 'no such hour, `detail` names the first and last; or no tape (`TAPE=off`, or a gateway)',
          409: '`not_final`: the hour is still being written, and `partial` is not true',
          429: 'the account runs two exports already',
          503: 'too many exports are running',
        },
        path: Type.Object({
          venue: choice(venue, { description: 'venue' }),
          table: choice(EXPORT_TABLES, { description: 'table' }),
          date: date(),
          file: Type.String({
            pattern: '^([01]\\d|2[0-3])\\.(parquet|csv\\.gz|ndjson\\.gz)$',
            description: 'UTC hour and format',
            examples: ['15.parquet'],
          }),
        }),
        query: Type.Object({
          partial: Type.Boolean({
            default: false,
            description: 'Export an hour that is not final, with the rows that it has so far',
          }),
        }),
      },
      (facts, { partial }) => exported(exportsOf(engine), facts, { clock, isPartial: partial }),
    ),
  ]
}

function exportsOf({ exports }: ExportRouteParts['engine']): ExportsView {
  if (exports !== undefined) return exports
  throw new EngineError('NOT_FOUND', 'this process has no tape; set TAPE=on on the engine')
}

async function exported(
  exports: ExportsView,
  { caller, path }: RequestFacts,
  { clock, isPartial }: { readonly clock: Clock; readonly isPartial: boolean },
): Promise<Answer> {
  const { accountId, tier } = requireCaller(caller)
  const [platform, table, day, file] = [path('venue'), path('table'), path('date'), path('file')]
  const [hourText, format] = [file.slice(0, 2), file.slice(3)]
  if (!isExportTable(table) || !isExportFormat(format)) {
    throw new Error('the route validates table and format')
  }
  const endMs = Date.parse(`${day}T${hourText}:59:59Z`)
  if (tier === 'free' && endMs < clock.nowMs() - DAY_MS) {
    throw new EngineError('FORBIDDEN', 'the free tier exports the last 24 hours only')
  }
  const request = { platform, table, date: day, hour: Number(hourText), format, isPartial }
  const stream = await exports.open(request, accountId)
  const name = `${platform}-${table}-${day}-${hourText}.${format}`
  const disposition = `attachment; filename="${name}"`
  return withHeader(streamed(stream, CONTENT_TYPES[format]), 'Content-Disposition', disposition)
}
