// Descriptions of fields and parameters, from meanings.json. A description in a schema takes precedence.

import { readFileSync } from 'node:fs'
import type { VenueTable } from '../../engine/venue-table.ts'

/** `parents` are the surrounding records and fields, innermost first. */
export type FieldMeanings = (field: string, parents: readonly string[]) => string | undefined

type Texts = Readonly<Record<string, string>>
const {
  fields,
  parameters,
}: { readonly fields: Readonly<Record<string, Texts>>; readonly parameters: Texts } = JSON.parse(
  readFileSync(new URL('meanings.json', import.meta.url), 'utf8'),
)

/**
 * A key is a field, a record (`Market`), or a record or parent field and a field (`Outcome.price`,
 * `summary.total_pnl`). `{a}` and `{b}` are replaced by the venues' configured names.
 */
export const MEANINGS: Texts = Object.assign({}, ...Object.values(fields))

/** They apply to all routes. */
export const PARAMETER_MEANINGS = parameters

export function fieldMeanings({ all }: VenueTable): FieldMeanings {
  const byKey = new Map(
    Object.entries(MEANINGS).map(([key, text]) => [
      key.replace(
        /\{([a-z])\}/,
        (_, letter) => all.find((one) => one.key === letter)?.name ?? letter,
      ),
      text,
    ]),
  )
  return (field, parents) => {
    for (const parent of parents) {
      const text = byKey.get(`${parent}.${field}`)
      if (text !== undefined) return text
    }
    return byKey.get(field)
  }
}
