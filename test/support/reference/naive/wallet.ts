// Reference implementation of engine/wallets/pnl-state.ts: computes figures from the complete history with big
// integers. All facts are known from the start, so it writes losers off directly.

import { nativeMarketId } from '../../../../engine/ids.ts'
import type { FindWalletMarket, WalletEvent, WalletMarket } from '../../../../engine/wallet.ts'

interface NaivePosition {
  token: string
  market: string
  outcomeIndex: number
  balance: bigint
  amount: bigint
  cost: bigint
  realized: bigint
  bought: bigint
  boughtUsd: bigint
  sold: bigint
  soldUsd: bigint
  fees: bigint
  openedAtMs: number
  updatedAtMs: number
  lostAtMs: number
  lost: bigint
  isCostKnown: boolean
}

interface NaiveWalletEvent {
  readonly atMs: number
  readonly realized: bigint
  readonly volume: bigint
  readonly trades: number
  readonly fees: bigint
  readonly income: bigint
}

const NOTHING = { realized: 0n, volume: 0n, trades: 0, fees: 0n, income: 0n }

const DOLLAR = 1_000_000n
const floorDiv = (value: bigint, by: bigint): bigint => {
  const rest = ((value % by) + by) % by
  return (value - rest) / by
}
const wholeSecond = (atMs: number): number => atMs - (atMs % 1_000)

export class NaiveWallet {
  readonly positions = new Map<string, NaivePosition>()
  readonly happenings: NaiveWalletEvent[] = []
  readonly counts = { splits: 0, merges: 0, redemptions: 0, conversions: 0, trades: 0 }
  /** Contracts of combos by token; null: unknown. */
  readonly combos = new Map<string, bigint | null>()
  comboEvents = 0
  comboCash = 0n
  fees = 0n
  income = 0n
  volume = 0n
  firstTradeMs: number | null = null
  lastTradeMs: number | null = null
  readonly #find: FindWalletMarket
  readonly #byMarket = new Map<string, readonly NaivePosition[]>()
  /** Time of the last event except redemptions, by market. */
  readonly #lastMs = new Map<string, number>()

  /** `events` are in order. `find` returns the final facts of a market. */
  constructor(events: readonly WalletEvent[], find: FindWalletMarket) {
    this.#find = find
    for (const event of events) this.#take(event)
    for (const market of new Set([...this.positions.values()].map((one) => one.market))) {
      this.#writeOff(market)
    }
  }

  /** By market: realized profit, fees paid, and whether a position is open. */
  markets(): Map<string, { realized: bigint; fees: bigint; isOpen: boolean }> {
    const markets = new Map<string, { realized: bigint; fees: bigint; isOpen: boolean }>()
    for (const { market, realized, fees, amount } of this.positions.values()) {
      const sum = markets.get(market) ?? { realized: 0n, fees: 0n, isOpen: false }
      sum.realized += realized
      sum.fees += fees
      sum.isOpen ||= amount > 0n
      markets.set(market, sum)
    }
    return markets
  }

  /** Ascending seconds with a non-zero sum, and the events of each second. */
  seconds(): NaiveWalletEvent[] {
    const sums = new Map<number, NaiveWalletEvent>()
    for (const one of this.happenings) {
      const before = sums.get(one.atMs) ?? NOTHING
      sums.set(one.atMs, {
        atMs: one.atMs,
        realized: before.realized + one.realized,
        volume: before.volume + one.volume,
        trades: before.trades + one.trades,
        fees: before.fees + one.fees,
        income: before.income + one.income,
      })
    }
    return [...sums.values()]
      .filter((one) => one.realized !== 0n || one.trades > 0 || one.income !== 0n)
      .sort((one, other) => one.atMs - other.atMs)
  }

  #take(event: WalletEvent): void {
    const { kind } = event
    const usd = BigInt(event.usd)
    if (kind === 'income') {
      this.income += usd
      this.happenings.push({ ...NOTHING, atMs: wholeSecond(event.timeMs), income: usd })
    }
    if (kind.startsWith('combo')) this.#combo(event)
    if (kind === 'buy' || kind === 'sell') this.#fill(event)
    if (kind === 'split' || kind === 'merge') this.#pair(event)
    if (kind === 'redeem') this.#redeem(event)
    if (kind === 'conversion') this.#convert(event)
    if (kind === 'migration') this.#migrate(event)
  }

  #fill(event: WalletEvent): void {
    const atMs = wholeSecond(event.timeMs)
    const usd = BigInt(event.usd)
    this.volume += usd
    this.counts.trades += 1
    this.firstTradeMs = Math.min(this.firstTradeMs ?? event.timeMs, event.timeMs)
    this.lastTradeMs = Math.max(this.lastTradeMs ?? event.timeMs, event.timeMs)
    const [withheld, isCertain] = withheldContracts(
      event,
      this.#find(event.market)?.takerFee ?? null,
    )
    const worth = (withheld * BigInt(event.price)) / DOLLAR
    const fees = BigInt(event.fee) + worth
    this.fees += fees
    this.happenings.push({ ...NOTHING, atMs, volume: usd, trades: 1, fees })
    if (event.token === null) return
    this.#lastMs.set(event.market, atMs)
    const position = this.#position(event.token, event.market, atMs)
    position.fees += fees
    if (!isCertain) position.isCostKnown = false
    if (event.kind === 'buy') buy(position, BigInt(event.size) - withheld, usd - worth)
    else this.#sell(position, BigInt(event.size), usd, atMs)
  }

  #combo({ kind, token, market, size, usd }: WalletEvent): void {
    this.comboEvents += 1
    const key = token ?? market
    const had = this.combos.get(key)
    if (kind === 'comboOther' || had === null) {
      this.combos.set(key, null)
    } else if (kind === 'comboBuy') {
      this.combos.set(key, (had ?? 0n) + BigInt(size))
    } else {
      const isLoser = kind === 'comboRedeem' && usd === 0
      const left = isLoser ? 0n : (had ?? 0n) - BigInt(size)
      this.combos.set(key, left < 0n ? null : left)
    }
    if (kind === 'comboBuy') this.comboCash -= BigInt(usd)
    else if (kind !== 'comboOther') this.comboCash += BigInt(usd)
  }

  #pair(event: WalletEvent): void {
    this.counts[event.kind === 'split' ? 'splits' : 'merges'] += 1
    const atMs = wholeSecond(event.timeMs)
    this.#lastMs.set(event.market, atMs)
    const tokens = this.#find(event.market)?.tokens ?? []
    const existing = this.#ofMarket(event.market).map(({ token }) => token)
    const count = BigInt(tokens.length > 0 ? tokens.length : Math.max(2, existing.length))
    const size = BigInt(event.size)
    let left = size
    for (const [index, token] of (tokens.length > 0 ? tokens : existing).entries()) {
      const part = BigInt(index) === count - 1n ? left : floorDiv(size, count)
      left -= part
      const position = this.#position(token, event.market, atMs)
      if (event.kind === 'split') buy(position, size, part)
      else this.#sell(position, size, part, atMs)
    }
  }

  #redeem(event: WalletEvent): void {
    this.counts.redemptions += 1
    const atMs = wholeSecond(event.timeMs)
    const facts = this.#find(event.market)
    const held = this.#ofMarket(event.market).sort((a, b) => a.outcomeIndex - b.outcomeIndex)
    const { payout = null, resolvedAtMs = null, tokens = [] } = facts ?? {}
    const usd = BigInt(event.usd)
    if (payout !== null && resolvedAtMs !== null && tokens.length > 0) {
      const payoutOf = ({ outcomeIndex }: NaivePosition) => paysOf(outcomeIndex, BigInt(payout))
      for (const [position, size, isGuess] of turnedIn(event, held, payoutOf)) {
        if (isGuess === true) position.isCostKnown = false
        if (wholeSecond(resolvedAtMs) <= atMs) this.#writeOff(event.market, position)
        this.#close(position, size, floorDiv(size * payoutOf(position), DOLLAR), atMs)
      }
      return
    }
    if (event.token !== null) {
      for (const [position, size] of turnedIn(event, held, () => 0n)) {
        this.#close(position, size, usd < size ? usd : size, atMs)
      }
      return
    }
    const open = held.filter(({ amount }) => amount > 0n)
    const total = open.reduce((sum, { amount }) => sum + amount, 0n)
    const winner = open.find(({ amount }) => amount === usd)
    if (winner === undefined && usd > 0n) for (const one of open) one.isCostKnown = false
    if (usd === 0n && open.length > 1) {
      // One of the outcomes lost, but the row does not state which one.
      for (const one of open) one.isCostKnown = false
      return
    }
    const rich = open.filter(({ amount }) => amount > usd)
    if (usd > 0n && winner === undefined && rich.length === 1) {
      for (const one of rich) this.#close(one, usd, usd, atMs)
      return
    }
    const counted = usd < total ? usd : total
    let left = counted
    for (const [index, position] of open.entries()) {
      let paid = index === open.length - 1 ? left : floorDiv(counted * position.amount, total)
      left -= paid
      if (winner !== undefined) paid = position === winner ? usd : 0n
      this.#close(position, position.balance, paid, atMs)
    }
  }

  /** The last 32 digits of the old id are digits 3 to 34 of the new id. */
  #migrate(event: WalletEvent): void {
    const atMs = wholeSecond(event.timeMs)
    const size = BigInt(event.size)
    this.#lastMs.set(event.market, atMs)
    if (event.token === null) return
    const hash = event.market.slice(4, 36)
    const old = [...this.#byMarket.keys()].find((id) => id.endsWith(hash) && id !== event.market)
    const outcome = Number(BigInt(event.token) & 255n)
    const oldToken = old === undefined ? null : this.#find(nativeMarketId(old))?.tokens[outcome]
    let cost = 0n
    let isKnown = false
    if (old !== undefined) this.#lastMs.set(old, atMs)
    if (old !== undefined && oldToken != null) {
      const from = this.#position(oldToken, old, atMs)
      isKnown = from.amount >= size
      cost = this.#give(from, size)
      from.soldUsd += cost
    }
    const to = this.#position(event.token, event.market, atMs)
    buy(to, size, cost)
    if (!isKnown) to.isCostKnown = false
  }

  #convert(event: WalletEvent): void {
    this.counts.conversions += 1
    const atMs = wholeSecond(event.timeMs)
    const size = BigInt(event.size)
    const given: string[] = [...new Set(event.converted)]
    const group = event.converted.map((id) => this.#find(id)?.group).find((one) => one != null)
    let isKnown = group !== undefined
    let cost = 0n
    const no: { position: NaivePosition; cost: bigint }[] = []
    for (const id of event.converted.filter((one, index, all) => all.indexOf(one) === index)) {
      this.#lastMs.set(id, atMs)
      const token = this.#find(id)?.tokens[1]
      if (token === undefined) {
        isKnown = false
        continue
      }
      const position = this.#position(token, id, atMs)
      if (position.amount < size) isKnown = false
      const left = this.#give(position, size)
      position.soldUsd += left
      no.push({ position, cost: left })
      cost += left
    }
    const others = (group ?? []).filter((id) => !given.includes(id))
    const dollars = BigInt(given.length - 1) * size
    let rest = others.length > 0 ? cost - dollars : dollars
    const parts = BigInt(others.length > 0 ? others.length : Math.max(no.length, 1))
    const part = floorDiv(rest, parts)
    for (const [index, id] of others.entries()) {
      this.#lastMs.set(id, atMs)
      const mine = index === others.length - 1 ? rest : part
      rest -= mine
      const token = this.#find(id)?.tokens[0]
      if (token === undefined) continue
      const position = this.#position(token, id, atMs)
      buy(position, size, mine)
      if (!isKnown) position.isCostKnown = false
    }
    for (const [index, given] of no.entries()) {
      if (!isKnown) given.position.isCostKnown = false
      if (others.length > 0 || group === undefined) continue
      const mine = index === no.length - 1 ? rest : part
      rest -= mine
      given.position.soldUsd += mine - given.cost
      this.#realize(given.position, mine - given.cost, atMs)
    }
  }

  #position(token: string, market: string, atMs: number): NaivePosition {
    const found = this.positions.get(token)
    if (found !== undefined) {
      found.updatedAtMs = atMs
      return found
    }
    const zero = { balance: 0n, amount: 0n, cost: 0n, realized: 0n, bought: 0n, boughtUsd: 0n }
    const outcomes: readonly string[] = this.#find(nativeMarketId(market))?.tokens ?? []
    const made = {
      ...zero,
      ...{ token, market, outcomeIndex: outcomes.indexOf(token), sold: 0n, soldUsd: 0n, fees: 0n },
      ...{ openedAtMs: atMs, updatedAtMs: atMs, lostAtMs: 0, lost: 0n, isCostKnown: true },
    }
    this.positions.set(token, made)
    this.#byMarket.set(market, [...this.#ofMarket(market), made])
    return made
  }

  #ofMarket(market: string): NaivePosition[] {
    return [...(this.#byMarket.get(market) ?? [])]
  }

  /** Returns the cost of the removed contracts whose cost was known. */
  #give(position: NaivePosition, size: bigint): bigint {
    const known = size < position.amount ? size : position.amount
    if (known < size) position.isCostKnown = false
    const cost =
      known === position.amount ? position.cost : floorDiv(position.cost * known, position.amount)
    position.amount -= known
    position.balance -= known
    position.cost -= cost
    position.sold += size
    return cost
  }

  #sell(position: NaivePosition, size: bigint, usd: bigint, atMs: number): void {
    const known = size < position.amount ? size : position.amount
    const counted = known === size ? usd : floorDiv(usd * known, size)
    const cost = this.#give(position, size)
    position.soldUsd += usd
    this.#realize(position, counted - cost, atMs)
  }

  #close(position: NaivePosition, size: bigint, paid: bigint, atMs: number): void {
    const { balance, amount } = position
    if (balance === 0n || size === 0n) return
    if (size < balance && amount > 0n) {
      position.updatedAtMs = atMs
      this.#sell(position, size, paid, atMs)
      return
    }
    position.sold += balance
    position.soldUsd += paid
    position.updatedAtMs = atMs
    position.lostAtMs = 0
    position.lost = 0n
    if (amount > 0n) this.#realize(position, paid - position.cost, atMs)
    position.balance = 0n
    position.amount = 0n
    position.cost = 0n
  }

  #writeOff(market: string, only?: NaivePosition): void {
    for (const position of only === undefined ? this.#ofMarket(market) : [only]) {
      const { payout = null, resolvedAtMs = null } = this.#find(nativeMarketId(market)) ?? {}
      if (payout === null || resolvedAtMs === null || position.outcomeIndex < 0) continue
      if (paysOf(position.outcomeIndex, BigInt(payout)) > 0n || position.amount === 0n) continue
      const atMs = Math.max(wholeSecond(resolvedAtMs), this.#lastMs.get(market) ?? 0)
      this.#realize(position, -position.cost, atMs)
      position.lost = position.cost
      position.amount = 0n
      position.cost = 0n
      position.lostAtMs = atMs
    }
  }

  #realize(position: NaivePosition, usd: bigint, atMs: number): void {
    position.realized += usd
    this.happenings.push({ ...NOTHING, atMs, realized: usd })
  }
}

/** Contracts of each position that the redemption pays for, in the order of the market's outcomes. */
function turnedIn(
  { token, size, usd }: WalletEvent,
  positions: readonly NaivePosition[],
  payoutOf: (position: NaivePosition) => bigint,
): [NaivePosition, bigint, boolean?][] {
  const held = positions.filter(({ balance }) => balance > 0n)
  const all = (some: readonly NaivePosition[]): [NaivePosition, bigint][] =>
    some.map((one) => [one, one.balance])
  if (token !== null) {
    const named = held.filter((one) => one.token === token)
    if (size === 0) return all(named)
    return named.map((one) => [one, one.balance < BigInt(size) ? one.balance : BigInt(size)])
  }
  const worthOf = (one: NaivePosition) => floorDiv(one.balance * payoutOf(one), DOLLAR)
  const dead = held.filter((one) => worthOf(one) === 0n)
  if (usd === 0) return all(dead.length > 0 ? dead : held)
  const alive = held.filter((one) => worthOf(one) > 0n)
  const exact = alive.find((one) => worthOf(one) === BigInt(usd))
  if (exact !== undefined) return all([exact])
  if (alive.reduce((sum, one) => sum + worthOf(one), 0n) <= BigInt(usd)) {
    return all(alive.length > 0 ? alive : held)
  }
  // The fewest contracts that pay this amount: of one outcome if it has enough, otherwise of several in order.
  const isGuess = alive.length > 1
  const needed = (one: NaivePosition, dollars: bigint) =>
    (dollars * DOLLAR + payoutOf(one) - 1n) / payoutOf(one)
  const able = alive.find((one) => needed(one, BigInt(usd)) <= one.balance)
  if (able !== undefined) return [[able, needed(able, BigInt(usd)), isGuess]]
  const parts: [NaivePosition, bigint, boolean?][] = []
  let left = BigInt(usd)
  for (const one of alive) {
    if (left <= 0n) break
    const wanted = needed(one, left)
    const size = wanted < one.balance ? wanted : one.balance
    parts.push([one, size, isGuess])
    left -= floorDiv(size * payoutOf(one), DOLLAR)
  }
  return parts
}

/**
 * Contracts withheld from a buyer as the taker's fee, and whether the number is certain. Until 28 April 2026 a fee of
 * size × rate × (p × (1 − p))^exponent dollars was taken in contracts. This began on 30 March 2026, and on 5 January
 * for curves whose exponent is not 1.
 */
function withheldContracts(
  { kind, timeMs, role, fee, size, price }: WalletEvent,
  curve: WalletMarket['takerFee'],
): [contracts: bigint, isCertain: boolean] {
  const day = new Date(timeMs).toISOString().slice(0, 10)
  const isPast = day >= '2026-01-05' && day < '2026-04-28'
  if (kind !== 'buy' || !isPast || role === 'maker' || fee !== 0) return [0n, true]
  if (curve === null) return [0n, false]
  const isOfThen = day >= '2026-03-30' || curve.exponent !== 1
  if (curve.rateMicros * curve.multiplierMicros === 0 || !isOfThen) return [0n, true]
  if (role === null) return [0n, false]
  // The fee in dollars is the fraction top / bottom.
  let top = BigInt(size) * BigInt(curve.rateMicros) * BigInt(curve.multiplierMicros)
  let bottom = DOLLAR * DOLLAR
  for (let power = 0; power < curve.exponent; power += 1) {
    top *= BigInt(price) * (DOLLAR - BigInt(price))
    bottom *= DOLLAR * DOLLAR
  }
  if (price === 0) return [0n, curve.exponent === 1]
  return [(top * DOLLAR) / (bottom * BigInt(price)), curve.exponent === 1]
}

function buy(position: NaivePosition, size: bigint, usd: bigint): void {
  position.balance += size
  position.amount += size
  position.cost += usd
  position.bought += size
  position.boughtUsd += usd
}

const paysOf = (outcomeIndex: number, payout: bigint): bigint =>
  outcomeIndex === 0 ? payout : outcomeIndex === 1 ? DOLLAR - payout : 0n
