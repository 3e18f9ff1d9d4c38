// Query parameters of the Data API (engine/venues/polymarket/README.md, Data API).

/** An invalid parameter. The message is the venue's text. */
export class QueryError extends Error {}

/** The items of a list, given once or repeated. */
export function csv(query: URLSearchParams, key: string): readonly string[] {
  const text = query.getAll(key).join(',')
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}

/** An integer ≥ 0. Null: invalid. */
function integer(query: URLSearchParams, key: string, fallback: number): number | null {
  const text = query.get(key)
  if (text === null || text === '') return fallback
  const value = Number(text)
  return Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** An integer within 0..max. Throws QueryError otherwise. */
export function bounded(
  query: URLSearchParams,
  key: string,
  bounds: { readonly fallback: number; readonly max: number },
): number {
  const value = integer(query, key, bounds.fallback)
  if (value === null || value > bounds.max) throw new QueryError(`invalid ${key}`)
  return value
}

/** An integer above 0; null when absent or 0. Throws QueryError otherwise. */
export function positive(query: URLSearchParams, key: string): number | null {
  const value = bounded(query, key, { fallback: 0, max: Number.MAX_SAFE_INTEGER })
  return value === 0 ? null : value
}

/** One of the values, in any case; `fallback` when absent. Throws QueryError otherwise. */
export function enumParam<const Value extends string, Fallback extends Value | null>(
  query: URLSearchParams,
  key: string,
  values: readonly Value[],
  fallback: Fallback,
): Value | Fallback {
  const text = query.get(key)
  if (text === null || text === '') return fallback
  const upper = text.toUpperCase()
  const found = values.find((each) => each === upper)
  if (found === undefined) throw new QueryError(`invalid ${key}`)
  return found
}

/** `true` or `false`; null when absent. Throws QueryError otherwise. */
export function flag(query: URLSearchParams, key: string): boolean | null {
  const found = enumParam(query, key, ['TRUE', 'FALSE'], null)
  return found === null ? null : found === 'TRUE'
}

/** The requested address, lower case. Throws QueryError if it is missing or invalid. */
export function user(query: URLSearchParams): string {
  const text = query.get('user') ?? ''
  if (text === '') throw new QueryError("required query param 'user' not provided")
  if (!/^0x[0-9a-f]{40}$/i.test(text)) throw new QueryError('invalid user')
  return text.toLowerCase()
}
