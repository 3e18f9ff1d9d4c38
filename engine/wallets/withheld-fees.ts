// Fees that takers paid in contracts before 28 April 2026: the buyer received fewer contracts than the fill states. If
// a row's dollars exceed price × size, its size is already the received amount.

import type { FeeCurve } from '../market/fees.ts'
import { MICROS } from '../units.ts'
import type { WalletEvent, WalletMarket } from '../wallet.ts'
import { shareOf } from './ratio.ts'

/** From this time on, fees are dollars in addition to the price. */
const DOLLARS_SINCE_MS = Date.UTC(2026, 3, 28)
/**
 * From this time on, all markets with fees withhold contracts. Earlier, only markets with a fee exponent other than 1
 * did.
 */
const RULE_SINCE_MS = Date.UTC(2026, 2, 30)
/** Before this time no market had fees. */
const FEES_SINCE_MS = Date.UTC(2026, 0, 5)

interface Withheld {
  /** The part of a fill that the wallet did not receive, in micro-contracts. */
  readonly size: number
  /** Value of the withheld contracts at the fill's price, in micro-dollars. */
  readonly fee: number
  /**
   * Why the withheld part is uncertain. `fee`: the market's fee is unknown. `rule`: the wallet's side or the rule of
   * that time is unknown.
   */
  readonly unknownPart: 'fee' | 'rule' | null
}

const NOTHING: Withheld = { size: 0, fee: 0, unknownPart: null }

/** `facts`: the facts of the event's market. Null if unknown. */
export function withheldOf(event: WalletEvent, facts: WalletMarket | null): Withheld {
  const { kind, timeMs, role, fee } = event
  if (timeMs >= DOLLARS_SINCE_MS || timeMs < FEES_SINCE_MS) return NOTHING
  if (kind !== 'buy' || role === 'maker' || fee > 0) return NOTHING
  const curve = facts?.takerFee ?? null
  if (curve === null) return { ...NOTHING, unknownPart: 'fee' }
  const isEarly = timeMs < RULE_SINCE_MS
  if (curve.rateMicros === 0 || (isEarly && curve.exponent === 1)) return NOTHING
  if (role === null) return { ...NOTHING, unknownPart: 'rule' }
  const size = contractsOf(curve, event)
  const worth = shareOf(size, { part: event.price, total: MICROS })
  return { size, fee: worth, unknownPart: curve.exponent === 1 ? null : 'rule' }
}

/** Fee in contracts: size × rate × (p(1 − p))^exponent ÷ p, rounded down. */
function contractsOf(
  { rateMicros, exponent, multiplierMicros }: FeeCurve,
  { price, size }: WalletEvent,
): number {
  if (price === 0 || exponent === 0) return 0
  const one = BigInt(MICROS)
  const power = BigInt(exponent)
  const rate = BigInt(rateMicros) * BigInt(multiplierMicros) * BigInt(size)
  const [paid, rest] = [BigInt(price), BigInt(MICROS - price)]
  const divisor = one ** (2n * power + 1n)
  return Number((rate * paid ** (power - 1n) * rest ** power) / divisor)
}
