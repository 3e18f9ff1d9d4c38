// Fees that takers paid in contracts, before 28 April 2026: a buyer received fewer contracts than the fill states. In
// rows whose dollars exceed price × size, the size is already what arrived. The rule determines the other rows.

import type { FeeCurve } from '../market/fees.ts'
import { MICROS } from '../units.ts'
import type { WalletEvent, WalletMarket } from '../wallet.ts'
import { shareOf } from './ratio.ts'

/** From here on fees are dollars in addition to the price. */
const DOLLARS_SINCE_MS = Date.UTC(2026, 3, 28)
/** From here on the current rule applies. Before, only markets with another exponent had fees. */
const RULE_SINCE_MS = Date.UTC(2026, 2, 30)
/** The first fees of any market. */
const FEES_SINCE_MS = Date.UTC(2026, 0, 5)

/** The part of a fill that did not arrive. */
interface Withheld {
  /** Micro-contracts. */
  readonly size: number
  /** Their value at the fill's price, micro-dollars. */
  readonly fee: number
  /** `fee`: the market's fee is unknown. `rule`: the wallet's side, or the rule of that time, is unknown. */
  readonly unknownPart: 'fee' | 'rule' | null
}

const NOTHING: Withheld = { size: 0, fee: 0, unknownPart: null }

/** The withheld part of a fill. `facts` are those of its market, null if unknown. */
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

/** The fee's dollars at the fill's price: size × rate × (p(1 − p))^exponent ÷ p, rounded down. */
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
