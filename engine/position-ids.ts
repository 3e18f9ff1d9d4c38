// Ids of markets and positions of protocol v2: 256 bits. The first byte is a module (1: binary), the next 16 bytes are
// a hash, and the last byte is the outcome. For a market of protocol v1 whose tokens migrated, the hash is the last 16
// bytes of its old id.

import { type NativeMarketId, nativeMarketId, type OutcomeId, outcomeId } from './ids.ts'

/** Binary module, hash, and zeros for arity, reserved, chain, index, and outcome. A v1 id is a hash and never matches. */
const BINARY_MARKET = /^0x01([0-9a-f]{32})0{30}$/
/** Any module. The arity, chain and index of other modules are not zero. */
const MARKET = /^0x0[123][0-9a-f]{36}0{16}[0-9a-f]{8}00$/
const HASH_DIGITS = 32
const MARKET_DIGITS = 64
const OUTCOMES = 256n

/**
 * The last digits of the id of the v1 market whose tokens may have migrated to `id`. Null unless `id` is a binary v2
 * market.
 */
export function legacyEnding(id: NativeMarketId): string | null {
  return BINARY_MARKET.exec(id)?.[1] ?? null
}

/** The binary v2 market to which the tokens of a v1 market migrate. */
export function migratedMarket(id: NativeMarketId): NativeMarketId {
  return nativeMarketId(`0x01${id.slice(-HASH_DIGITS)}`.padEnd(2 + MARKET_DIGITS, '0'))
}

/** The position of an outcome in a v2 market. Null: `id` is not a v2 market. */
export function positionOf(id: NativeMarketId, outcome: 0 | 1): OutcomeId | null {
  return MARKET.test(id) ? outcomeId(String(BigInt(id) + BigInt(outcome))) : null
}

/** The market of a v2 position. Null: `token` is not a v2 position. */
export function marketOfPosition(token: OutcomeId): NativeMarketId | null {
  if (!DECIMAL.test(token)) return null
  const number = BigInt(token)
  const digits = (number - (number % OUTCOMES)).toString(16).padStart(MARKET_DIGITS, '0')
  return MARKET.test(`0x${digits}`) ? nativeMarketId(`0x${digits}`) : null
}

/** The index of a position's outcome in its market. −1 if `token` is not a number. */
export function outcomeOfPosition(token: OutcomeId): number {
  return DECIMAL.test(token) ? Number(BigInt(token) % OUTCOMES) : -1
}

const DECIMAL = /^\d{1,78}$/
