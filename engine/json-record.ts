// One question about parsed JSON that every reader asks first.

/** Whether parsed JSON is an object: neither null nor a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A word of parsed JSON for a log or a count: text as it is, all else as JSON. `String` calls what an object names toString. */
export function labelOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
