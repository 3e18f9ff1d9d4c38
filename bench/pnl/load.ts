// Seeded history of one large wallet: it is in forty markets at a time and leaves each after some twenty fills, mostly
// by redemption.

import { nativeMarketId, outcomeId } from '../../engine/ids.ts'
import { type Random, seededRandom } from '../../engine/random.ts'
import { MICROS, priceMicros, sizeMicros, timeMs, usdMicros } from '../../engine/units.ts'
import type { FindWalletMarket, WalletEvent, WalletMarket } from '../../engine/wallet.ts'

const SEED = 9
/** Time of the first fill. */
export const START_MS = Date.UTC(2025, 10, 1)
const MARKETS_AT_A_TIME = 40
const FILLS_A_MARKET = 20

export interface WalletLoad {
  readonly events: readonly WalletEvent[]
  readonly markets: readonly WalletMarket[]
  readonly fillCount: number
  readonly find: FindWalletMarket
}

/** Fills in some forty markets at a time, in order; seeded. */
export function walletLoad(fillCount: number): WalletLoad {
  const random = seededRandom(SEED)
  const events: WalletEvent[] = []
  const markets = new Map<string, WalletMarket>()
  const open: WalletMarket[] = []
  for (let index = 0; index < fillCount; index += 1) {
    const atMs = START_MS + index * 180_000 + random.below(100) * 1_000
    if (index % FILLS_A_MARKET === 0) {
      if (open.length >= MARKETS_AT_A_TIME) {
        const removed = open.shift()
        if (removed !== undefined) events.push(...leave(random, { removed, atMs, markets }))
      }
      open.push(newMarket(random))
    }
    const market = random.pick(open)
    markets.set(market.nativeId, market)
    events.push(fill(random, { market, atMs, isBuy: random.below(3) > 0 }))
  }
  events.sort((one, other) => one.timeMs - other.timeMs)
  const all = [...markets.values()]
  return { events, markets: all, fillCount, find: (id) => markets.get(id) ?? null }
}

/** The market resolves, and is usually redeemed. */
function leave(
  random: Random,
  {
    removed,
    atMs,
    markets,
  }: { removed: WalletMarket; atMs: number; markets: Map<string, WalletMarket> },
): WalletEvent[] {
  const payout = priceMicros(random.below(2) * MICROS)
  const resolvedAtMs = timeMs(atMs + 120_000)
  markets.set(removed.nativeId, { ...removed, payout, resolvedAtMs })
  if (random.below(5) === 0) return []
  const base = fill(random, { market: removed, atMs: atMs + 7_200_000, isBuy: true })
  return [{ ...base, kind: 'redeem', token: null, size: sizeMicros(0), usd: usdMicros(0) }]
}

function newMarket(random: Random): WalletMarket {
  const tokens = [0, 1].map(() => outcomeId(BigInt(hex(random)).toString()))
  const nativeId = nativeMarketId(hex(random))
  const names = { question: null, slug: null, eventSlug: null, labels: ['Yes', 'No'] }
  return {
    nativeId,
    ...names,
    tokens,
    payout: null,
    resolvedAtMs: null,
    takerFee: null,
    group: null,
  }
}

export function fill(
  random: Random,
  { market, atMs, isBuy }: { market: WalletMarket; atMs: number; isBuy: boolean },
): WalletEvent {
  const size = 1_000_000 + random.below(900_000_000)
  const price = 10_000 * (1 + random.below(99))
  return {
    kind: isBuy ? 'buy' : 'sell',
    timeMs: timeMs(atMs),
    txHash: hex(random),
    market: market.nativeId,
    token: random.pick(market.tokens),
    size: sizeMicros(size),
    price: priceMicros(price),
    usd: usdMicros(Math.round((size / MICROS) * price)),
    fee: usdMicros(random.below(2) * 10_000),
    role: random.pick(['taker', 'maker']),
    converted: [],
  }
}

function hex(random: Random): string {
  const terms = Array.from({ length: 8 }, () =>
    random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  )
  return `0x${terms.join('')}`
}
