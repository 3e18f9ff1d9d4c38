import { readFileSync } from 'node:fs'

type Fields = Readonly<Record<string, unknown>>
type RowKind =
  | 'event'
  | 'market'
  | 'clobMarket'
  | 'tag'
  | 'team'
  | 'sport'
  | 'series'
  | 'resolution'

export const FIXED_FIELDS: Readonly<Record<RowKind, Fields>> = JSON.parse(
  readFileSync(new URL('./fixed-fields.json', import.meta.url), 'utf8'),
)
