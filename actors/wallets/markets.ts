// What the rules of wallets must know of markets, and their names: from the catalogue; else as it was kept for the wallets
// that touched them; else the venue is asked. The group of a converted market is always the venue's answer: the catalogue
// drops markets that were settled long ago, and a conversion divided over a part of its group would be wrong.

import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId } from '../../engine/ids.ts'
import { walletMarketsMax } from '../../engine/limits.ts'
import { CURVE_ZERO, type FeeCurve } from '../../engine/market/fees.ts'
import type { MarketListing } from '../../engine/market/market.ts'
import { parseTime, type TimeMs, timeMs } from '../../engine/units.ts'
import type { CatalogPage } from '../../engine/venues/venue.ts'
import type { FindWalletMarket, WalletMarket } from '../../engine/wallet.ts'
import type { StoredWalletMarket, WalletTable } from '../../storage/contract/wallets.ts'
import { Turns } from '../turns.ts'
import type { MarketView } from '../views.ts'

export interface WalletMarketParts {
  readonly table: Pick<WalletTable, 'market' | 'putMarket'>
  /** Of venue a; null where the catalogue does not know it. */
  readonly view: (id: NativeMarketId) => MarketView | null
  readonly marketsOfEvent: (event: string) => readonly MarketView[]
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  readonly marketsMax?: number
}

/** Reads single markets; rejects when the venue does not answer. */
export type FetchMarkets = (
  ids: readonly NativeMarketId[],
  signal: AbortSignal,
) => Promise<CatalogPage>

/** Reads the group of a market, null where the venue knows none; rejects when it does not answer. */
export type FetchGroup = (
  id: NativeMarketId,
  signal: AbortSignal,
) => Promise<readonly NativeMarketId[] | null>

/** Markets asked for in one call. */
const ASKED_MAX = 50
/** A market that the venue did not know when it was asked for is asked for again after this. */
const ASK_AGAIN_MS = 3_600_000
/** One that is known and had not paid out: outside the catalogue, as that of migrated positions, nothing else tells its end. */
const ASK_UNRESOLVED_AGAIN_MS = 60_000

type Listed = Pick<
  MarketListing,
  | 'nativeId'
  | 'question'
  | 'slug'
  | 'eventSlug'
  | 'outcomes'
  | 'status'
  | 'settlementPrice'
  | 'closeAtMs'
  | 'fees'
>

export class WalletMarkets {
  readonly #parts: WalletMarketParts
  readonly #marketsMax: number
  /** Facts looked up lately, and before that; null: unknown. Two maps are cheaper than moving an entry at each look-up. */
  #facts = new Map<NativeMarketId, WalletMarket | null>()
  #olderFacts = new Map<NativeMarketId, WalletMarket | null>()
  /** Facts that are in the table. */
  readonly #kept = new WeakSet<WalletMarket>()
  /** When the venue was asked for a market that the catalogue does not know, or for a group. */
  readonly #askedAtMs = new Map<string, TimeMs>()

  constructor(parts: WalletMarketParts) {
    this.#parts = parts
    this.#marketsMax = parts.marketsMax ?? walletMarketsMax
  }

  view(id: NativeMarketId): MarketView | null {
    return this.#parts.view(id)
  }

  /** What is known of a market, without asking the venue; a few hundred µs when it was not looked up lately. */
  readonly find: FindWalletMarket = (id) => {
    const known = this.#facts.get(id)
    if (known !== undefined) return known
    const older = this.#olderFacts.get(id)
    const facts = older === undefined ? this.#read(id) : older
    if (this.#facts.size * 2 >= this.#marketsMax) {
      this.#olderFacts = this.#facts
      this.#facts = new Map()
    }
    this.#facts.set(id, facts)
    return facts
  }

  /** Whether a market has paid out; one look-up. */
  isResolved(id: NativeMarketId): boolean {
    const view = this.#parts.view(id)
    if (view === null) return (this.find(id)?.payout ?? null) !== null
    return view.summary.status === 'resolved' && view.summary.settlementPrice !== null
  }

  /** A listing changed: forgets the facts about the market, and those about its event's markets when the event grew. */
  forget({ summary }: Pick<MarketView, 'summary'>): void {
    if (this.#facts.size + this.#olderFacts.size === 0) return
    this.#drop(summary.nativeId)
    // A new market of the event changes the groups of the others.
    if (summary.event === null || !this.#isGrown(summary.event)) return
    for (const { ref } of this.#parts.marketsOfEvent(summary.event)) this.#drop(ref.nativeId)
  }

  /** Whether an event has more markets than a known group of it. */
  #isGrown(event: string): boolean {
    const markets = this.#parts.marketsOfEvent(event)
    const groupOf = (id: NativeMarketId) => this.#facts.get(id) ?? this.#olderFacts.get(id) ?? null
    return markets.some(({ ref }) => {
      const group = groupOf(ref.nativeId)?.group ?? null
      return group !== null && group.length < markets.length
    })
  }

  #drop(id: NativeMarketId): void {
    this.#facts.delete(id)
    this.#olderFacts.delete(id)
  }

  /**
   * Asks the venue for markets that are unknown here, or had not paid out when they were last asked for, a minute ago
   * or earlier; a market that the venue does not know either, or whose fees it does not say, is asked for again after an
   * hour. Stores the facts about the others, for when the catalogue
   * forgets them. Rejects when the venue does not answer.
   */
  async learn(
    ids: Iterable<NativeMarketId>,
    fetchMarkets: FetchMarkets,
    signal: AbortSignal,
  ): Promise<void> {
    const wanted: NativeMarketId[] = []
    const turns = new Turns(this.#parts.clock)
    for (const id of new Set(ids)) {
      if (this.#isWanted(id)) wanted.push(id)
      else this.#keepKnown(id)
      await turns.next()
    }
    for (let from = 0; from < wanted.length; from += ASKED_MAX) {
      const asked = wanted.slice(from, from + ASKED_MAX)
      const { markets } = await fetchMarkets(asked, signal)
      this.#keep(markets)
      for (const id of asked) {
        this.#drop(id)
        this.#noteAsked(id)
      }
    }
  }

  /** Whether a wallet converted the market and its group is unknown. */
  lacksGroup(id: NativeMarketId): boolean {
    const kept = this.#parts.table.market(id)
    return kept?.isConverted === true && kept.group === null
  }

  /**
   * Asks the venue for the groups of markets that wallets converted, each once; from the call on only its answer counts. A
   * market without a group in the answer is asked for again after an hour. Rejects when the venue does not answer.
   */
  async learnGroups(
    ids: Iterable<NativeMarketId>,
    { fetchMarkets, fetchGroup }: { fetchMarkets: FetchMarkets; fetchGroup: FetchGroup },
    signal: AbortSignal,
  ): Promise<void> {
    const lacking = [...new Set(ids)].filter((id) => this.#lacksFromNow(id))
    if (lacking.length === 0) return
    await this.learn(lacking, fetchMarkets, signal)
    const members = new Set<NativeMarketId>()
    for (const id of lacking) {
      // The answer for another market of the group may have brought it.
      if (!this.lacksGroup(id) || !this.#isDue(groupKey(id))) continue
      const group = await fetchGroup(id, signal)
      this.#noteAsked(groupKey(id))
      for (const member of group ?? []) {
        members.add(member)
        this.#takeGroup(member, group)
      }
    }
    await this.learn(members, fetchMarkets, signal)
  }

  #lacksFromNow(id: NativeMarketId): boolean {
    const kept = this.#parts.table.market(id)
    if (hasWord(kept)) return kept.group === null
    const facts = kept ?? this.find(id) ?? unknownMarket(id)
    this.#parts.table.putMarket({ ...facts, group: null, isConverted: true })
    this.#drop(id)
    return true
  }

  #takeGroup(id: NativeMarketId, group: readonly NativeMarketId[] | null): void {
    const kept = this.#parts.table.market(id)
    if (kept?.isConverted !== true || kept.group !== null) return
    this.#parts.table.putMarket({ ...kept, group })
    this.#drop(id)
  }

  #isWanted(id: NativeMarketId): boolean {
    if (this.#parts.view(id) !== null) return false
    const known = this.find(id)
    if (known === null) return this.#isDue(id)
    if (known.payout === null) return this.#isDue(id, ASK_UNRESOLVED_AGAIN_MS)
    return known.takerFee === null && this.#isDue(id)
  }

  #isDue(key: string, againMs = ASK_AGAIN_MS): boolean {
    const askedAtMs = this.#askedAtMs.get(key)
    return askedAtMs === undefined || askedAtMs < this.#parts.clock.nowMs() - againMs
  }

  #noteAsked(key: string): void {
    this.#askedAtMs.delete(key)
    this.#askedAtMs.set(key, this.#parts.clock.nowMs())
    if (this.#askedAtMs.size > this.#marketsMax) this.#forgetOldest()
  }

  #keep(markets: readonly MarketListing[]): void {
    for (const listing of markets) this.#put(this.#factsOf(listing, listing.native, null))
  }

  #keepKnown(id: NativeMarketId): void {
    const facts = this.find(id)
    if (facts === null || this.#kept.has(facts)) return
    if (this.#parts.view(id) !== null) this.#put(facts)
    this.#kept.add(facts)
  }

  /** Stores facts without their group: the stored group is the venue's answer alone. */
  #put(facts: WalletMarket): void {
    const { table } = this.#parts
    const kept = table.market(facts.nativeId)
    const isConverted = kept?.isConverted ?? false
    table.putMarket({ ...fullerOf(kept, facts), group: kept?.group ?? null, isConverted })
  }

  #read(id: NativeMarketId): WalletMarket | null {
    const kept = this.#parts.table.market(id)
    const view = this.#parts.view(id)
    if (view === null) return kept
    const { native } = view.details()
    const group = hasWord(kept) ? kept.group : this.#groupOf(view, native)
    const facts = fullerOf(kept, this.#factsOf(view.summary, native, group))
    if (facts.payout === null || native.closed === true) return facts
    // The listing does not say yet when the market closed: the moment at which we learned of the payout stays until then.
    if (kept?.payout === facts.payout) return { ...facts, resolvedAtMs: kept.resolvedAtMs }
    this.#put(facts)
    return facts
  }

  /** In the order in which the catalogue learned the markets, which is the event's own. */
  #groupOf(
    { summary }: MarketView,
    native: MarketListing['native'],
  ): readonly NativeMarketId[] | null {
    if (summary.event === null || !isInGroup(native)) return null
    const markets = this.#parts.marketsOfEvent(summary.event)
    const inOrder = markets.toSorted((one, other) => one.ref.number - other.ref.number)
    return inOrder.map(({ ref }) => ref.nativeId)
  }

  #factsOf(
    listed: Listed,
    native: MarketListing['native'],
    group: readonly NativeMarketId[] | null,
  ): WalletMarket {
    const { nativeId, question, slug, eventSlug, outcomes } = listed
    const payout = listed.status === 'resolved' ? listed.settlementPrice : null
    return {
      ...{ nativeId, question, slug, eventSlug, payout, group },
      takerFee: takerFeeOf(listed),
      labels: outcomes.map(({ label }) => label),
      tokens: outcomes.map(({ id }) => id),
      resolvedAtMs: payout === null ? null : this.#resolvedAtMs(native, listed.closeAtMs),
    }
  }

  /**
   * When the market closed, as its listing says. A listing that was read before it closed has a planned time at most; then
   * it is the moment at which we learned of the payout.
   */
  #resolvedAtMs(native: MarketListing['native'], closeAtMs: TimeMs | null): TimeMs {
    const nowMs = this.#parts.clock.nowMs()
    if (native.closed !== true) return nowMs
    const closedMs = timeOf(native.closedTime) ?? timeOf(native.umaEndDate) ?? closeAtMs ?? nowMs
    return timeMs(Math.min(closedMs, nowMs))
  }

  #forgetOldest(): void {
    for (const id of this.#askedAtMs.keys()) {
      this.#askedAtMs.delete(id)
      return
    }
  }
}

const takerFeeOf = ({ fees: { now } }: Listed): FeeCurve | null =>
  now.kind === 'none' ? CURVE_ZERO : now.taker

/** The new facts about a market; a payout, outcomes or fees that only the kept facts have stay. */
function fullerOf(kept: StoredWalletMarket | null, fresh: WalletMarket): WalletMarket {
  if (kept === null) return fresh
  const { payout, resolvedAtMs } = fresh.payout === null ? kept : fresh
  const { tokens, labels } = fresh.tokens.length === 0 ? kept : fresh
  const takerFee = fresh.takerFee ?? kept.takerFee
  return { ...fresh, payout, resolvedAtMs, tokens, labels, takerFee }
}

/** Whether the venue's answer on the group is stored or waited for. */
function hasWord(kept: StoredWalletMarket | null): kept is StoredWalletMarket {
  return kept !== null && (kept.isConverted || kept.group !== null)
}

/** A market of which nothing but its id is known. */
function unknownMarket(nativeId: NativeMarketId): WalletMarket {
  const names = { question: null, slug: null, eventSlug: null, labels: [] }
  const unknown = { payout: null, resolvedAtMs: null, takerFee: null, group: null }
  return { nativeId, ...names, tokens: [], ...unknown }
}

const groupKey = (id: NativeMarketId): string => `group of ${id}`

function isInGroup(native: MarketListing['native']): boolean {
  return native.negRisk === true
}

function timeOf(value: unknown): TimeMs | null {
  return typeof value === 'string' ? parseTime(value) : null
}
