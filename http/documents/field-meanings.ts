// Descriptions of the fields of every record and of parameters, for both documents (meanings.json). A schema's own
// description takes precedence.

import { readFileSync } from 'node:fs'
import type { VenueTable } from '../../engine/venue-table.ts'

/** The description of a field; `parents` are its records and fields, nearest first. Undefined if there is none. */
export type FieldMeanings = (field: string, parents: readonly string[]) => string | undefined

type Texts = Readonly<Record<string, string>>
const {
  fields,
  parameters,
}: { readonly fields: Readonly<Record<string, Texts>>; readonly parameters: Texts } = JSON.parse(
  readFileSync(new URL('meanings.json', import.meta.url), 'utf8'),
)

/**
 * By field, by record (`Market`), or by record or parent field and field (`Outcome.price`,
 * `summary.total_pnl`). `{a}` and `{b}` stand for the names of the venues.
 */
export const MEANINGS: Texts = Object.assign({}, ...Object.values(fields))

/** Descriptions of parameters for all routes. */
export const PARAMETER_MEANINGS = parameters

/** Looks up descriptions, with venue names filled in. */
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
