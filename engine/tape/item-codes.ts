// Codes of log items that the tape's writer needs without decoding the items. storage/records/log-items.ts defines the
// items, and a test compares the two.

export const TAPE_CODES = {
  /** Announced loss of trades by a venue. */
  gap: 9,
  listed: 10,
  state: 16,
  /** Kinds that only the tape has. */
  lost: 28,
  completed: 29,
  swept: 30,
} as const

/** Codes of the items whose first field is the number of their market. */
const OF_MARKET: ReadonlySet<unknown> = new Set([
  ...[0, 1, 2, 3, 4, 5, 6, 7, 26],
  ...[TAPE_CODES.state, TAPE_CODES.completed],
])

/** The number of the market of an encoded item. Null if it has none. */
export function marketOfItem([code, first]: readonly unknown[]): number | null {
  return OF_MARKET.has(code) && typeof first === 'number' ? first : null
}
