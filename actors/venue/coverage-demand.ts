// The markets of one venue that clients need covered beyond the policy: recently requested ones, and those that
// subscriptions or webhooks hold. Each owner (an account, or an anonymous address) has a limited share.

import type { CoverageReason, HoldReason } from '../../engine/coverage-policy.ts'
import {
  coverageHoldsMax,
  demandedMarketsMax,
  demandedMarketsOfOwnerMax,
} from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { DemandOwners } from '../demand-owners.ts'
import type { WaitingHold } from './waiting-holds.ts'

type DemandReason = Exclude<CoverageReason, 'policy' | 'match'>

interface Demand {
  /** The newest request. `untilMs` is monotonic. */
  request: { readonly owner: string; readonly untilMs: number } | null
  readonly holds: Map<HoldReason, Map<string, number>>
}

/** Number of markets of the largest owner that are considered. The one with the fewest demands is displaced. */
const DISPLACED_FROM = 16
/** A market with more demands is never displaced. */
const DISPLACED_OWNERS_MAX = 16

/** `holds`: the holds that ended because the market was displaced. */
type OnDisplaced = (market: MarketNumber, holds: readonly WaitingHold[]) => void

export class CoverageDemand {
  readonly #markets = new Map<MarketNumber, Demand>()
  readonly #owners = new DemandOwners()
  readonly #onDisplaced: OnDisplaced
  readonly #counts: Record<DemandReason, number> = {
    request: 0,
    subscription: 0,
    webhook: 0,
  }
  #holdCount = 0

  constructor(onDisplaced: OnDisplaced) {
    this.#onDisplaced = onDisplaced
  }

  get counts(): Readonly<Record<DemandReason, number>> {
    return this.#counts
  }

  get size(): number {
    return this.#markets.size
  }

  /** Whether a further market can be held without displacing another. */
  get hasFreePlace(): boolean {
    return this.#markets.size < demandedMarketsMax && this.#holdCount < coverageHoldsMax
  }

  /**
   * The newest request of a market replaces the earlier one, also that of another owner. Returns false if a limit is
   * reached.
   */
  request(market: MarketNumber, owner: string, untilMs: number): boolean {
    const before = this.#markets.get(market)?.request ?? null
    if (before?.owner !== owner && !this.#hasRoom(market, owner, 'request')) return false
    const demand = this.#open(market)
    if (before !== null) this.#owners.remove(before.owner, market)
    else this.#counts.request += 1
    this.#owners.add(owner, market)
    demand.request = { owner, untilMs: Math.max(untilMs, before?.untilMs ?? 0) }
    return true
  }

  /** Demands a market until `release` is called as often as `hold`. Returns false if a limit is reached. */
  hold(market: MarketNumber, owner: string, reason: HoldReason): boolean {
    const held = this.#markets.get(market)?.holds.get(reason)?.get(owner) ?? 0
    if (held === 0) {
      if (!this.#hasRoom(market, owner, 'hold')) return false
      this.#holdCount += 1
      this.#owners.add(owner, market)
    }
    const { holds } = this.#open(market)
    let owners = holds.get(reason)
    if (owners === undefined) {
      owners = new Map()
      holds.set(reason, owners)
      this.#counts[reason] += 1
    }
    owners.set(owner, held + 1)
    return true
  }

  /** Replaces a hold by a request until `untilMs`. Unknown holds have no effect. */
  release(market: MarketNumber, owner: string, reason: HoldReason, untilMs: number): void {
    const demand = this.#markets.get(market)
    const owners = demand?.holds.get(reason)
    const held = owners?.get(owner)
    if (demand === undefined || owners === undefined || held === undefined) return
    if (held > 1) {
      owners.set(owner, held - 1)
      return
    }
    owners.delete(owner)
    this.#holdCount -= 1
    this.#owners.remove(owner, market)
    if (owners.size === 0) {
      demand.holds.delete(reason)
      this.#counts[reason] -= 1
    }
    if (demand.request === null) this.request(market, owner, untilMs)
  }

  remove(market: MarketNumber): void {
    const demand = this.#markets.get(market)
    if (demand === undefined) return
    this.#dropRequest(market, demand)
    for (const [reason, owners] of demand.holds) {
      this.#counts[reason] -= 1
      this.#holdCount -= owners.size
      for (const owner of owners.keys()) this.#owners.remove(owner, market)
    }
    this.#markets.delete(market)
  }

  /** Removes an expired request. Returns whether the market is still demanded. */
  isDemanded(market: MarketNumber, nowMs: number): boolean {
    const demand = this.#markets.get(market)
    if (demand === undefined) return false
    if (demand.request !== null && demand.request.untilMs <= nowMs) {
      this.#dropRequest(market, demand)
    }
    if (demand.request !== null || demand.holds.size > 0) return true
    this.#markets.delete(market)
    return false
  }

  /** Demands may end during the iteration. */
  markets(): Iterable<MarketNumber> {
    return this.#markets.keys()
  }

  #open(market: MarketNumber): Demand {
    let demand = this.#markets.get(market)
    if (demand === undefined) {
      demand = { request: null, holds: new Map() }
      this.#markets.set(market, demand)
    }
    return demand
  }

  /** If all places are taken, an owner with few demands displaces a market of the largest owner. */
  #hasRoom(market: MarketNumber, owner: string, kind: 'request' | 'hold'): boolean {
    if (this.#owners.countOf(owner) >= demandedMarketsOfOwnerMax) return false
    const isFull = () =>
      (!this.#markets.has(market) && this.#markets.size >= demandedMarketsMax) ||
      (kind === 'hold' && this.#holdCount >= coverageHoldsMax)
    if (!isFull()) return true
    this.#displaceFor(owner)
    return !isFull()
  }

  #displaceFor(owner: string): void {
    const largest = this.#owners.largestBeside(owner)
    if (largest === null) return
    const isLarger = (other: string) =>
      this.#owners.countOf(other) >= this.#owners.countOf(owner) + 2
    let displaced: MarketNumber | null = null
    let fewest = DISPLACED_OWNERS_MAX + 1
    for (const market of this.#owners.takeMarkets(largest, DISPLACED_FROM)) {
      const demand = this.#markets.get(market)
      const count = demand === undefined ? fewest : demandsOf(demand)
      if (demand === undefined || count >= fewest || !ownersOf(demand).every(isLarger)) continue
      displaced = market
      fewest = count
    }
    if (displaced === null) return
    const holds = this.#holdsOf(displaced)
    this.remove(displaced)
    this.#onDisplaced(displaced, holds)
  }

  #holdsOf(market: MarketNumber): readonly WaitingHold[] {
    const byReason = [...(this.#markets.get(market)?.holds ?? [])]
    return byReason.flatMap(([reason, owners]) =>
      Array.from(owners, ([owner, count]) => ({ market, owner, reason, count })),
    )
  }

  #dropRequest(market: MarketNumber, demand: Demand): void {
    if (demand.request === null) return
    this.#owners.remove(demand.request.owner, market)
    this.#counts.request -= 1
    demand.request = null
  }
}

function demandsOf({ request, holds }: Demand): number {
  let count = request === null ? 0 : 1
  for (const owners of holds.values()) count += owners.size
  return count
}

function ownersOf({ request, holds }: Demand): readonly string[] {
  const holding = [...holds.values()].flatMap((owners) => [...owners.keys()])
  return request === null ? holding : [request.owner, ...holding]
}
