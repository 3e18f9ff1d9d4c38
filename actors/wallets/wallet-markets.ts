// Finds market names and facts for the wallet rules: in the catalogue, else in storage, else at the venue. The group of
// a market that a wallet converted always comes from the venue, because the catalogue removes markets that were settled
// long ago.

import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId } from '../../engine/ids.ts'
import { walletMarketsMax } from '../../engine/limits.ts'
import { CURVE_ZERO, type FeeCurve } from '../../engine/market/fees.ts'
import type { MarketListing } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import { putLast } from '../../engine/put-last.ts'
import { parseTime, type TimeMs, timeMs } from '../../engine/units.ts'
import type { CatalogPage } from '../../engine/venues/venue.ts'
import type { FindWalletMarket, WalletEvent, WalletMarket } from '../../engine/wallet.ts'
import type { PnlState } from '../../engine/wallets/pnl-state.ts'
import type { WalletTable } from '../../storage/contract/storage.ts'
import type { StoredWalletMarket } from '../../storage/contract/wallets.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import type { MarketView } from '../views.ts'

export interface WalletMarketParts {
  readonly table: Pick<WalletTable, 'market' | 'putMarket'>
  readonly view: (id: NativeMarketId) => MarketView | null
  readonly marketsOfEvent: (event: string) => readonly MarketView[]
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  readonly log: Log
}

/** Venue requests for markets. Both methods reject if the venue does not answer. */
export interface MarketSource {
  /** Aborts at shutdown. */
  readonly signal: AbortSignal
  fetchMarkets(ids: readonly NativeMarketId[]): Promise<CatalogPage>
  /** Null if the market belongs to no group. */
  fetchGroup(id: NativeMarketId): Promise<readonly NativeMarketId[] | null>
}

const FETCH_BATCH = 50
/** A market that the venue does not know is requested again after this time. */
const REFETCH_MS = 3_600_000
/**
 * A known market without a payout is requested again after this time. No message reports the end of a market that the
 * catalogue does not contain.
 */
const REFETCH_UNRESOLVED_MS = 60_000

type Listed = Pick<MarketListing, 'nativeId' | 'question' | 'slug' | 'eventSlug' | 'outcomes'> &
  Pick<MarketListing, 'status' | 'settlementPrice' | 'closeAtMs' | 'fees'>

export class WalletMarkets {
  readonly #parts: WalletMarketParts
  /** Facts by market. Null: unknown. Cleared when full. */
  readonly #facts = new Map<NativeMarketId, WalletMarket | null>()
  readonly #storedFacts = new WeakSet<WalletMarket>()
  readonly #fetchedAtMs = new Map<string, TimeMs>()

  constructor(parts: WalletMarketParts) {
    this.#parts = parts
  }

  view(id: NativeMarketId): MarketView | null {
    return this.#parts.view(id)
  }

  /** Returns the known facts of a market without a venue request. An uncached market takes a few hundred µs. */
  readonly find: FindWalletMarket = (id) => {
    const cached = this.#facts.get(id)
    if (cached !== undefined) return cached
    const facts = this.#read(id)
    if (this.#facts.size >= walletMarketsMax) this.#facts.clear()
    this.#facts.set(id, facts)
    return facts
  }

  #isResolved(id: NativeMarketId): boolean {
    const view = this.#parts.view(id)
    if (view === null) return (this.find(id)?.payout ?? null) !== null
    return view.summary.status === 'resolved' && view.summary.settlementPrice !== null
  }

  /**
   * Drops the cached facts of a market whose listing changed. If the market's event has grown, also drops those of the
   * event's other markets.
   */
  invalidate({ summary }: Pick<MarketView, 'summary'>): void {
    if (this.#facts.size === 0) return
    this.#facts.delete(summary.nativeId)
    if (summary.event === null || !this.#isGrown(summary.event)) return
    for (const { ref } of this.#parts.marketsOfEvent(summary.event))
      this.#facts.delete(ref.nativeId)
  }

  #isGrown(event: string): boolean {
    const markets = this.#parts.marketsOfEvent(event)
    return markets.some(({ ref }) => {
      const group = this.#facts.get(ref.nativeId)?.group ?? null
      return group !== null && group.length < markets.length
    })
  }

  /**
   * Requests unknown markets and markets without a payout, at most once a minute. Requests markets unknown to the venue
   * or without fees once an hour. Stores the received facts, because the catalogue may remove the markets later.
   * Rejects only at shutdown.
   */
  async #learn(ids: ReadonlySet<NativeMarketId>, source: MarketSource): Promise<void> {
    const learned = this.#fetchWanted(ids, source)
    await this.#logged(learned, source, 'the venue does not return markets of a wallet')
  }

  async #logged(fetched: Promise<void>, { signal }: MarketSource, text: string): Promise<void> {
    try {
      await fetched
    } catch (error) {
      if (signal.aborted) throw error
      this.#parts.log.warn({ err: error }, text)
    }
  }

  async #fetchWanted(ids: Iterable<NativeMarketId>, source: MarketSource): Promise<void> {
    const wanted: NativeMarketId[] = []
    const yielder = new EventLoopYielder(this.#parts.clock)
    for (const id of ids) {
      if (this.#isWanted(id)) wanted.push(id)
      else this.#storeFacts(id)
      await yielder.yieldIfDue()
    }
    for (let from = 0; from < wanted.length; from += FETCH_BATCH) {
      const batch = wanted.slice(from, from + FETCH_BATCH)
      const { markets } = await source.fetchMarkets(batch)
      for (const listing of markets) this.#put(this.#factsOf(listing, listing.native, null))
      for (const id of batch) {
        this.#facts.delete(id)
        this.#noteFetched(id)
      }
    }
  }

  /** Requests the markets of events. Returns their facts, and those of the groups of converted markets. */
  async learnMarketsOf(
    events: readonly WalletEvent[],
    source: MarketSource,
  ): Promise<readonly WalletMarket[]> {
    const converted = events.flatMap((event) => event.converted)
    const ids = new Set(converted)
    for (const { market } of events) if (market !== '') ids.add(market)
    await this.#learn(ids, source)
    for (const id of converted) for (const other of this.find(id)?.group ?? []) ids.add(other)
    return this.#known(ids)
  }

  /**
   * Returns facts that a PnlState may lack: of markets with estimated values, and of resolved markets with open
   * positions. Requests unknown markets from the venue.
   */
  async newFacts(pnlState: PnlState, source: MarketSource): Promise<readonly WalletMarket[]> {
    const guessed = pnlState.guessedMarkets()
    const ungrouped = guessed.filter((id) => this.#lacksGroup(id))
    await this.#learnGroups(ungrouped, source)
    const open = pnlState.openMarkets()
    const unlisted = new Set(guessed)
    const yielder = new EventLoopYielder(this.#parts.clock)
    for (const id of open) {
      if (this.view(id) === null) unlisted.add(id)
      await yielder.yieldIfDue()
    }
    await this.#learn(unlisted, source)
    const ids = new Set(guessed)
    for (const id of open) {
      if (this.#isResolved(id)) ids.add(id)
      await yielder.yieldIfDue()
    }
    return this.#known(ids)
  }

  async #known(ids: Iterable<NativeMarketId>): Promise<readonly WalletMarket[]> {
    const yielder = new EventLoopYielder(this.#parts.clock)
    const known: WalletMarket[] = []
    for (const id of ids) {
      const facts = this.find(id)
      if (facts !== null) known.push(facts)
      await yielder.yieldIfDue()
    }
    return known
  }

  /** Whether a conversion in a PnlState or in later events was computed without its complete group. */
  lacksGroups(pnlState: PnlState, later: readonly WalletEvent[]): boolean {
    const converted = later.flatMap((event) => event.converted)
    return [...pnlState.guessedMarkets(), ...converted].some((id) => this.#lacksGroup(id))
  }

  #lacksGroup(id: NativeMarketId): boolean {
    const stored = this.#parts.table.market(id)
    return stored?.isConverted === true && stored.group === null
  }

  /**
   * Requests the groups of the markets that events converted. Must be called before the conversions are applied,
   * because each divides its cost over the complete group. A market without a group is requested again after an hour.
   * Rejects only at shutdown.
   */
  async learnGroupsOf(events: Iterable<WalletEvent>, source: MarketSource): Promise<void> {
    const ids = new Set<NativeMarketId>()
    const yielder = new EventLoopYielder(this.#parts.clock)
    for (const { converted } of events) {
      for (const id of converted) ids.add(id)
      await yielder.yieldIfDue()
    }
    await this.#learnGroups(ids, source)
  }

  async #learnGroups(ids: Iterable<NativeMarketId>, source: MarketSource): Promise<void> {
    const lacking = [...ids].filter((id) => this.#markConverted(id))
    if (lacking.length === 0) return
    const fetched = this.#fetchGroups(lacking, source)
    await this.#logged(fetched, source, 'the venue does not return groups of converted markets')
  }

  async #fetchGroups(lacking: readonly NativeMarketId[], source: MarketSource): Promise<void> {
    await this.#fetchWanted(lacking, source)
    const members = new Set<NativeMarketId>()
    for (const id of lacking) {
      // The answer for another market of the same group contains this market as well.
      if (!this.#lacksGroup(id) || !this.#isDue(groupKey(id))) continue
      const group = await source.fetchGroup(id)
      this.#noteFetched(groupKey(id))
      for (const member of group ?? []) {
        members.add(member)
        this.#takeGroup(member, group)
      }
    }
    await this.#fetchWanted(members, source)
  }

  #markConverted(id: NativeMarketId): boolean {
    const stored = this.#parts.table.market(id)
    if (isGroupRequested(stored)) return stored.group === null
    const facts = stored ?? this.find(id) ?? unknownMarket(id)
    this.#parts.table.putMarket({ ...facts, group: null, isConverted: true })
    this.#facts.delete(id)
    return true
  }

  #takeGroup(id: NativeMarketId, group: readonly NativeMarketId[] | null): void {
    const stored = this.#parts.table.market(id)
    if (stored?.isConverted !== true || stored.group !== null) return
    this.#parts.table.putMarket({ ...stored, group })
    this.#facts.delete(id)
  }

  #isWanted(id: NativeMarketId): boolean {
    if (this.#parts.view(id) !== null) return false
    const facts = this.find(id)
    if (facts === null) return this.#isDue(id)
    if (facts.payout === null) return this.#isDue(id, REFETCH_UNRESOLVED_MS)
    return facts.takerFee === null && this.#isDue(id)
  }

  #isDue(key: string, intervalMs = REFETCH_MS): boolean {
    const fetchedAtMs = this.#fetchedAtMs.get(key)
    return fetchedAtMs === undefined || fetchedAtMs < this.#parts.clock.nowMs() - intervalMs
  }

  #noteFetched(key: string): void {
    putLast(this.#fetchedAtMs, [key, this.#parts.clock.nowMs()], walletMarketsMax)
  }

  #storeFacts(id: NativeMarketId): void {
    const facts = this.find(id)
    if (facts === null || this.#storedFacts.has(facts)) return
    if (this.#parts.view(id) !== null) this.#put(facts)
    this.#storedFacts.add(facts)
  }

  #put(facts: WalletMarket): void {
    const { table } = this.#parts
    const stored = table.market(facts.nativeId)
    const isConverted = stored?.isConverted ?? false
    table.putMarket({ ...mergedFacts(stored, facts), group: stored?.group ?? null, isConverted })
  }

  #read(id: NativeMarketId): WalletMarket | null {
    const stored = this.#parts.table.market(id)
    const view = this.#parts.view(id)
    if (view === null) return stored
    const { native } = view.details()
    const group = isGroupRequested(stored) ? stored.group : this.#groupOf(view, native)
    const facts = mergedFacts(stored, this.#factsOf(view.summary, native, group))
    if (facts.payout === null || native.closed === true) return facts
    // Until the listing states the closing time, the time at which the payout became known is used.
    if (stored?.payout === facts.payout) return { ...facts, resolvedAtMs: stored.resolvedAtMs }
    this.#put(facts)
    return facts
  }

  /** Orders the markets as the catalogue added them, which is the event's own order. */
  #groupOf(
    { summary }: MarketView,
    native: MarketListing['native'],
  ): readonly NativeMarketId[] | null {
    if (summary.event === null || native.negRisk !== true) return null
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
   * Closing time according to the listing. If the listing was read before the close, its time is only planned. The
   * result is then the current time, at which the payout became known.
   */
  #resolvedAtMs(native: MarketListing['native'], closeAtMs: TimeMs | null): TimeMs {
    const nowMs = this.#parts.clock.nowMs()
    if (native.closed !== true) return nowMs
    const closedMs = timeOf(native.closedTime) ?? timeOf(native.umaEndDate) ?? closeAtMs ?? nowMs
    return timeMs(Math.min(closedMs, nowMs))
  }
}

const takerFeeOf = ({ fees: { now } }: Listed): FeeCurve | null =>
  now.kind === 'none' ? CURVE_ZERO : now.taker

/** If the new facts lack the payout, outcomes or fees, the stored ones are used. */
function mergedFacts(stored: StoredWalletMarket | null, fresh: WalletMarket): WalletMarket {
  if (stored === null) return fresh
  const { payout, resolvedAtMs } = fresh.payout === null ? stored : fresh
  const { tokens, labels } = fresh.tokens.length === 0 ? stored : fresh
  const takerFee = fresh.takerFee ?? stored.takerFee
  return { ...fresh, payout, resolvedAtMs, tokens, labels, takerFee }
}

function isGroupRequested(stored: StoredWalletMarket | null): stored is StoredWalletMarket {
  return stored !== null && (stored.isConverted || stored.group !== null)
}

function unknownMarket(nativeId: NativeMarketId): WalletMarket {
  const names = { question: null, slug: null, eventSlug: null, labels: [] }
  const unknown = { payout: null, resolvedAtMs: null, takerFee: null, group: null }
  return { nativeId, ...names, tokens: [], ...unknown }
}

const groupKey = (id: NativeMarketId): string => `group of ${id}`

function timeOf(value: unknown): TimeMs | null {
  return typeof value === 'string' ? parseTime(value) : null
}
