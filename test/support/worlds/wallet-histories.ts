// Seeded random wallet histories. `isComplete`: the wallet spends only tokens that it held, and all facts about its
// markets are known.

import {
  type NativeMarketId,
  nativeMarketId,
  type OutcomeId,
  outcomeId,
} from '../../../engine/ids.ts'
import { CURVE_ZERO } from '../../../engine/market/fees.ts'
import { migratedMarket } from '../../../engine/position-ids.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { MICROS, priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { WalletEvent, WalletMarket } from '../../../engine/wallet.ts'

export interface WalletHistory {
  /** Events in order of time. */
  readonly events: readonly WalletEvent[]
  readonly markets: readonly WalletMarket[]
  readonly isComplete: boolean
}

/** Times shortly before all categories had fees, and before fees were charged in dollars. */
const STARTS_MS = [Date.UTC(2026, 2, 29, 21), Date.UTC(2026, 3, 27, 20)] as const
const COMBOS = [outcomeId('9'), outcomeId('99')]

interface HistoryShape {
  readonly isComplete: boolean
  readonly eventCount: number
  readonly groupCount: number
}

export function randomHistory(seed: number, shape?: HistoryShape): WalletHistory {
  const random = seededRandom('wallet history', seed)
  const { isComplete, eventCount, groupCount } = shape ?? {
    isComplete: random.below(2) === 0,
    eventCount: 1 + random.below(60),
    groupCount: 1 + random.below(3),
  }
  const startMs = STARTS_MS[seed % 3 === 2 ? 1 : 0]
  const endMs = startMs + eventCount * 8_000_000
  const markets = Array.from({ length: groupCount }, (_, group) =>
    groupOf(random, { name: `${seed.toString(16)}a${group}`, startMs, endMs, isComplete }),
  ).flat()
  const writer = new Writer(random, { markets, isComplete })
  let atMs: number = startMs
  for (let index = 0; index < eventCount; index += 1) {
    atMs +=
      [0, 1_000, 1_000 * random.below(600), 1_000 * random.below(16_000)][random.below(4)] ?? 0
    writer.write(atMs)
  }
  return { events: writer.events, markets, isComplete }
}

/** A single market, with or without a market to which its tokens migrate, or two to five markets of one group. */
function groupOf(
  random: Random,
  {
    name,
    startMs,
    endMs,
    isComplete,
  }: { name: string; startMs: number; endMs: number; isComplete: boolean },
): WalletMarket[] {
  const count = random.below(2) === 0 ? 1 : 2 + random.below(4)
  const ids = Array.from({ length: count }, (_, index) =>
    nativeMarketId(`0x${`${name}b${index}`.padStart(64, '7')}`),
  )
  const isGroup = count > 1
  for (const id of isGroup ? [] : [...ids]) if (random.below(2) === 0) ids.push(migratedMarket(id))
  const isGroupKnown = isComplete || random.below(4) > 0
  return ids.map((nativeId) => {
    const isResolved = random.below(3) > 0
    const payouts = [0, MICROS, MICROS / 2, 0, MICROS, random.below(MICROS + 1)]
    const isUnknown = !isComplete && random.below(6) === 0
    const tokens = tokensOf(nativeId)
    return {
      ...{ nativeId, question: `Will ${nativeId} be?`, slug: nativeId, eventSlug: name },
      labels: ['Yes', 'No'],
      tokens: isUnknown ? [] : tokens,
      payout: isResolved ? priceMicros(random.pick(payouts)) : null,
      resolvedAtMs: isResolved
        ? timeMs(startMs + Math.floor(random.next() * (endMs - startMs)) + random.below(1_000))
        : null,
      takerFee: isUnknown ? null : random.pick(CURVES),
      group: isGroup && isGroupKnown ? ids : null,
    }
  })
}

const CURVES = [null, CURVE_ZERO, curveOf(30_000, 1), curveOf(250_000, 2), curveOf(72_001, 1)]
function curveOf(rateMicros: number, exponent: number) {
  return { rateMicros, exponent, multiplierMicros: MICROS }
}

/** A protocol v2 token is the market's id with the outcome in its last byte. */
function tokensOf(id: NativeMarketId): OutcomeId[] {
  const first = id.startsWith('0x01') ? BigInt(id) : BigInt(id) * 256n
  return [0n, 1n].map((side) => outcomeId(`${first + side}`))
}

class Writer {
  readonly events: WalletEvent[] = []
  readonly #random: Random
  readonly #markets: readonly WalletMarket[]
  readonly #isComplete: boolean
  /** True balances of the wallet, by token. */
  readonly #held = new Map<OutcomeId, number>()

  constructor(
    random: Random,
    { markets, isComplete }: { markets: readonly WalletMarket[]; isComplete: boolean },
  ) {
    this.#random = random
    this.#markets = markets
    this.#isComplete = isComplete
  }

  write(atMs: number): void {
    const market = this.#random.pick(this.#markets)
    const kinds = [
      'buy',
      'buy',
      'buy',
      'sell',
      'sell',
      'split',
      'merge',
      'redeem',
      'conversion',
      'migration',
    ] as const
    const kind = this.#random.below(30) === 0 ? 'income' : this.#random.pick(kinds)
    if (kind === 'buy' || kind === 'sell') this.#fill(kind, { market, atMs })
    else if (kind === 'split') this.#split(market, atMs)
    else if (kind === 'merge') this.#merge(market, atMs)
    else if (kind === 'redeem') this.#redeem(market, atMs)
    else if (kind === 'conversion') this.#convert(market, atMs)
    else if (kind === 'migration') this.#migrate(market, atMs)
    else this.#push(atMs, { kind, size: sizeMicros(17), usd: usdMicros(17) })
    if (!this.#isComplete && this.#random.below(25) === 0) this.#combo(atMs)
  }

  #combo(atMs: number): void {
    const token = this.#random.pick(COMBOS)
    const kind = this.#random.pick(['comboBuy', 'comboBuy', 'comboSell', 'comboRedeem'] as const)
    const isOther = this.#random.below(9) === 0
    const size = this.#random.pick([5_000_000, 10_000_000])
    const usd = this.#random.pick([0, 1_234_567, size])
    const dollars = { size: sizeMicros(size), usd: usdMicros(usd) }
    this.#push(atMs, { kind: isOther ? 'comboOther' : kind, token, ...dollars })
  }

  #fill(kind: 'buy' | 'sell', { market, atMs }: { market: WalletMarket; atMs: number }): void {
    const side = this.#random.below(2)
    const token = market.tokens[side] ?? tokensOf(market.nativeId)[side] ?? outcomeId('')
    const size = kind === 'buy' ? this.#size() : this.#part(this.#balance(token))
    if (size === 0) return
    const price = this.#random.below(MICROS + 1)
    const usd = Number((BigInt(size) * BigInt(price) + 500_000n) / 1_000_000n)
    this.#move(token, kind === 'buy' ? size : -size)
    this.#push(atMs, {
      ...{ kind, token, market: market.nativeId, size: sizeMicros(size), usd: usdMicros(usd) },
      price: priceMicros(price),
      fee: usdMicros(this.#random.below(3) === 0 ? this.#random.below(900_000) : 0),
      // A taker receives less than the size of the fill, so the balance would depend on the fee rule.
      role: this.#isComplete ? 'maker' : this.#random.pick([null, 'maker', 'taker', 'taker']),
    })
  }

  #split({ tokens, nativeId }: WalletMarket, atMs: number): void {
    const size = this.#size()
    for (const token of tokens) this.#move(token, size)
    this.#push(atMs, {
      kind: 'split',
      market: nativeId,
      size: sizeMicros(size),
      usd: usdMicros(size),
    })
  }

  #merge({ tokens, nativeId }: WalletMarket, atMs: number): void {
    const size = this.#part(Math.min(...tokens.map((token) => this.#balance(token)), 1e12))
    if (size === 0) return
    for (const token of tokens) this.#move(token, -size)
    this.#push(atMs, {
      kind: 'merge',
      market: nativeId,
      size: sizeMicros(size),
      usd: usdMicros(size),
    })
  }

  #redeem(market: WalletMarket, atMs: number): void {
    const { payout, resolvedAtMs, nativeId, tokens } = market
    const isResolved = payout !== null && resolvedAtMs !== null && resolvedAtMs <= atMs
    if (!isResolved && this.#isComplete) return
    const [first, second] = tokens
    const way = this.#random.below(4)
    if (first !== undefined && second !== undefined && way > 0) {
      this.#redeemOne(market, { token: way === 3 ? second : first, isNamed: way > 1 }, atMs)
      return
    }
    const balances = tokens.map((token) => this.#balance(token))
    for (const token of tokens) this.#held.set(token, 0)
    const usd = balances.reduce((sum, balance, index) => {
      const pays = index === 0 ? (payout ?? 0) : MICROS - (payout ?? 0)
      return sum + Number((BigInt(balance) * BigInt(pays)) / 1_000_000n)
    }, 0)
    const published = this.#isComplete || this.#random.below(3) > 0 ? usd : this.#size()
    this.#push(atMs, {
      kind: 'redeem',
      market: nativeId,
      size: sizeMicros(published),
      usd: usdMicros(published),
    })
  }

  /** Redeems all or a part of one outcome. The row states its token, or double the dollars. */
  #redeemOne(
    { payout, nativeId, tokens }: WalletMarket,
    { token, isNamed }: { token: OutcomeId; isNamed: boolean },
    atMs: number,
  ): void {
    const held = this.#balance(token)
    const pays = token === tokens[0] ? (payout ?? 0) : MICROS - (payout ?? 0)
    // If both outcomes pay, the row may be of either outcome.
    const isPart = isNamed || pays === MICROS || !this.#isComplete
    const size = isPart ? this.#part(held) : held
    if (size === 0) return
    const usd = Number((BigInt(size) * BigInt(pays)) / 1_000_000n)
    // If an outcome pays nothing, its complete balance is redeemed.
    this.#move(token, usd > 0 ? -size : -held)
    this.#push(atMs, {
      kind: 'redeem',
      market: nativeId,
      token: isNamed ? token : null,
      size: sizeMicros(isNamed ? size : usd),
      usd: usdMicros(usd),
    })
  }

  /** Moves tokens from a market to its market of protocol v2. */
  #migrate(market: WalletMarket, atMs: number): void {
    const to = this.#markets.find(({ nativeId }) => nativeId === migratedMarket(market.nativeId))
    const side = this.#random.below(2)
    const token = to?.tokens[side]
    if (to === undefined || token === undefined) return
    const from = market.tokens[side]
    const size = this.#part(from === undefined ? 0 : this.#balance(from))
    if (size === 0) return
    if (from !== undefined) this.#move(from, -size)
    this.#move(token, size)
    const what = { kind: 'migration', market: to.nativeId, token } as const
    this.#push(atMs, { ...what, size: sizeMicros(size), usd: usdMicros(0) })
  }

  #convert({ group }: WalletMarket, atMs: number): void {
    if (group === null) return
    const members = this.#markets.filter(({ nativeId }) => group.includes(nativeId))
    const holding = members.filter(
      ({ tokens: [, no] }) => no !== undefined && this.#balance(no) > 0,
    )
    const among = this.#isComplete ? holding : members
    const given = among.filter(() => this.#random.below(4) > 0)
    if (given.length === 0) return
    const balances = given.map(({ tokens: [, no] }) => (no === undefined ? 0 : this.#balance(no)))
    const size = this.#part(Math.min(...balances))
    if (size === 0) return
    for (const member of members) {
      const [yes, no] = member.tokens
      if (yes === undefined || no === undefined) continue
      if (given.includes(member)) this.#move(no, -size)
      else this.#move(yes, size)
    }
    const [first] = given
    if (first === undefined) return
    this.#push(atMs, {
      ...{ kind: 'conversion', market: first.nativeId, size: sizeMicros(size) },
      usd: usdMicros((given.length - 1) * size),
      converted: given.map(({ nativeId }) => nativeId),
    })
  }

  #push(atMs: number, event: Partial<WalletEvent> & Pick<WalletEvent, 'kind' | 'size' | 'usd'>) {
    this.events.push({
      timeMs: timeMs(atMs),
      txHash: `0x${String(this.#random.below(1_000_000)).padStart(64, '0')}`,
      market: nativeMarketId(''),
      token: null,
      price: priceMicros(0),
      fee: usdMicros(0),
      role: null,
      converted: [],
      ...event,
    })
  }

  #balance(token: OutcomeId): number {
    return this.#held.get(token) ?? 0
  }

  #move(token: OutcomeId, size: number): void {
    this.#held.set(token, Math.max(this.#balance(token) + size, 0))
  }

  #size(): number {
    return 1 + Math.floor(10 ** (this.#random.next() * 12.5))
  }

  /** A part of the holding, often all of it. In incomplete histories it is sometimes more than the holding. */
  #part(held: number): number {
    if (!this.#isComplete && this.#random.below(5) === 0) return held + this.#size()
    const share = this.#random.below(3) === 0 ? 1 : this.#random.next()
    return Math.ceil(held * share)
  }
}
