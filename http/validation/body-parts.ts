// What is sound in a body that is refused, so that a rule beyond the schema can judge its other fields
// in the same answer; and failures of both kinds in the order of the fields.
// Not for: finding them (body-problems.ts). Upholds HOOKROUTE9.

import type { TSchema } from '@sinclair/typebox'
import { isRecord } from '../../engine/json-record.ts'
import { withoutNull } from './body-problems.ts'
import type { Problem } from './parameter.ts'

type Fields = Readonly<Record<string, unknown>>
type Place = Problem['loc']

/** The known fields of a body in which nothing failed; of an object that has failures, the others. */
export function soundFields(
  schema: TSchema,
  value: Fields,
  failures: readonly Problem[],
  at: Place = ['body'],
): Fields {
  const sound: Record<string, unknown> = {}
  for (const [name, property] of Object.entries<TSchema>(schema.properties)) {
    if (!Object.hasOwn(value, name)) continue
    const item = value[name]
    const place = [...at, name]
    const inside = failures.filter(({ loc }) => place.every((part, depth) => loc[depth] === part))
    if (inside.length === 0) sound[name] = item
    else if (isRecord(item) && inside.every(({ loc }) => loc.length > place.length)) {
      sound[name] = soundFields(withoutNull(property), item, inside, place)
    }
  }
  return sound
}

/** Failures in the order of the schema's fields, those of unknown fields behind their neighbours. */
export function inFieldOrder(schema: TSchema, problems: readonly Problem[]): readonly Problem[] {
  const placed = problems.map((problem) => ({ problem, place: positions(schema, problem.loc) }))
  placed.sort((one, other) => comparePlaces(one.place, other.place))
  return placed.map(({ problem }) => problem)
}

/** A path as numbers: of each field its place in its object, of each item its index. */
function positions(schema: TSchema, [, ...path]: Place): readonly number[] {
  let within: TSchema | undefined = schema
  return path.map((part) => {
    const bare: TSchema | undefined = within === undefined ? undefined : withoutNull(within)
    if (typeof part === 'number') {
      within = bare?.items
      return part
    }
    const properties: Readonly<Record<string, TSchema>> = bare?.properties ?? {}
    const position = Object.keys(properties).indexOf(part)
    within = position < 0 ? undefined : properties[part]
    return position < 0 ? Number.MAX_SAFE_INTEGER : position
  })
}

function comparePlaces(one: readonly number[], other: readonly number[]): number {
  for (const [depth, position] of one.entries()) {
    const difference = position - (other[depth] ?? -1)
    if (difference !== 0) return difference
  }
  return one.length - other.length
}
