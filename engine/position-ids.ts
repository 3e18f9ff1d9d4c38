// What ids of markets and positions of protocol v2 say by themselves: 256 bits, of which the first byte is a module (1:
// binary), the next 16 a hash, and the last the outcome. A market of protocol v1 whose tokens migrated has the last 16
// bytes of its old id as that hash.

import { type NativeMarketId, nativeMarketId, type OutcomeId, outcomeId } from './ids.ts'

/** Binary module, hash, and zeros: arity, reserved, chain, index, and no outcome. A v1 id, a hash, is never so. */
const BINARY_MARKET = /^0x01([0-9a-f]{32})0{30}$/
/** Any module; the arity, chain and index of others are no zeros. */
const MARKET = /^0x0[123][0-9a-f]{36}0{16}[0-9a-f]{8}00$/
const HASH_DIGITS = 32
const MARKET_DIGITS = 64
const OUTCOMES = 256n

/** How the id of the v1 market ends whose tokens may have become those of `id`; null: `id` is no binary market of v2. */
export function legacyEnding(id: NativeMarketId): string | null {
  return BINARY_MARKET.exec(id)?.[1] ?? null
}

/** The binary market of protocol v2 into which the tokens of a v1 market migrate. */
export function migratedMarket(id: NativeMarketId): NativeMarketId {
  return nativeMarketId(`0x01${id.slice(-HASH_DIGITS)}`.padEnd(2 + MARKET_DIGITS, '0'))
}

/** The position of an outcome in a market of protocol v2; null: `id` is none. */
export function positionOf(id: NativeMarketId, outcome: 0 | 1): OutcomeId | null {
  return MARKET.test(id) ? outcomeId(String(BigInt(id) + BigInt(outcome))) : null
}

/** The market of a position of protocol v2; null: `token` is none. */
export function marketOfPosition(token: OutcomeId): NativeMarketId | null {
  if (!DECIMAL.test(token)) return null
  const number = BigInt(token)
  const digits = (number - (number % OUTCOMES)).toString(16).padStart(MARKET_DIGITS, '0')
  return MARKET.test(`0x${digits}`) ? nativeMarketId(`0x${digits}`) : null
}

/** The place of a position's outcome in its market; −1 for what is no number. */
export function outcomeOfPosition(token: OutcomeId): number {
  return DECIMAL.test(token) ? Number(BigInt(token) % OUTCOMES) : -1
}

const DECIMAL = /^\d{1,78}$/
