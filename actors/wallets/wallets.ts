// The wallets of venue a. A request is answered at once if the known data is fresh. Otherwise the request waits briefly
// for a sync. All requests for the wallet share the sync, which continues after they time out.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { WalletFillEvent } from '../../engine/events.ts'
import { SYSTEM } from '../../engine/fair-queue.ts'
import type { VenueKey, WalletAddress } from '../../engine/ids.ts'
import { walletFollowedMs, walletsFollowedMax, walletWaitMsMax } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { Watcher } from '../../engine/publisher.ts'
import { MINUTE_MS, type TimeMs } from '../../engine/units.ts'
import type { FeedHealth, Venue } from '../../engine/venues/venue.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import type { PnlState } from '../../engine/wallets/pnl-state.ts'
import type { WalletPort } from '../../engine/wallets/wallet-thread.ts'
import type { Storage, StoredWhale } from '../../storage/contract/storage.ts'
import type { StoredWallet } from '../../storage/contract/wallets.ts'
import { Deadline, unavailable } from '../deadline.ts'
import type { CatalogWatcher, MarketView } from '../views.ts'
import type { WhaleWatcher } from '../whales/whales.ts'
import { WalletAddresses, type WalletRequest } from './addresses.ts'
import { WalletComparisons } from './comparisons.ts'
import { LedgerDamage } from './ledger.ts'
import { LiveFills, WalletFollows } from './live-fills.ts'
import { WalletOwnTrades } from './own-trades.ts'
import { WalletRanking } from './ranking.ts'
import { WalletValuation } from './valuation.ts'
import type { WalletIssue, WalletsView, WalletView } from './views.ts'
import { Wallet } from './wallet.ts'
import { type WalletMarketParts, WalletMarkets } from './wallet-markets.ts'
import { FullResyncs, type SyncSource, WalletCatchUps, WalletSyncs } from './wallet-syncs.ts'
import { WalletWhales } from './wallet-whales.ts'
import { WarmWallet, WarmWallets } from './warm-wallets.ts'

export interface WalletsParts extends Pick<WalletMarketParts, 'view' | 'marketsOfEvent'> {
  readonly storage: Pick<Storage, 'wallets' | 'whales' | 'trades'>
  /** Null: no venue names wallets in its trades. */
  readonly venue: VenueKey | null
  readonly market: (number: MarketNumber) => MarketView | null
  readonly port: WalletPort
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly warmBytesMax?: number
  readonly followedMax?: number
}

type AttachedVenue = Pick<Venue, 'wallets' | 'catalog'> & {
  readonly feed: { health(): Pick<FeedHealth, 'tradesSource'> }
}

/**
 * A wallet synced within this time is shown without a further sync. The stream lacks splits, merges and redemptions, so
 * live fills alone are not enough.
 */
const YOUNG_MS = 5_000
/** A wallet with live fills that its last sync lacked is synced again if it is requested this long after that sync. */
const UNLISTED_FILL_MS = 2_000
/** Housekeeping syncs a wallet whose oldest unsettled event is older than this, so that the event is settled. */
const LATE_MS = 300_000
/**
 * Interval of storing live fills. If the venue's history also lacks them, a crash loses at most the fills of this time.
 */
const STORE_TAILS_MS = 500
/**
 * Maximum syncs that one request waits for. A further sync is needed if a fill arrived or the last sync began long ago.
 */
const WAITS_MAX = 3
/**
 * Time that a command waits for the comparison with the venue. The waits for wallet and comparison together are shorter
 * than the time limit of commands.
 */
const COMPARE_MS = 1_000
const OWN_EVERY_MS = MINUTE_MS
const HOUSEKEEPING_EVERY_MS = MINUTE_MS
/**
 * Maximum syncs per minute that housekeeping begins for overdue wallets, and for followed wallets without live fills.
 * Requested wallets need the rest of the quota.
 */
const OVERDUE_MAX = 8

export class Wallets implements WalletsView, CatalogWatcher, WhaleWatcher {
  /** Receives streamed whales from the publisher. `onWhaleRow` receives the other whale rows. */
  readonly watcher: Watcher = {
    name: 'wallets',
    onUpdate: (update) => update.kind === 'whale' && this.#whales.note(update.whale),
  }
  readonly #parts: WalletsParts
  readonly #log: Log
  readonly #markets: WalletMarkets
  readonly #live = new LiveFills()
  readonly #follows: WalletFollows
  readonly #whales = new WalletWhales()
  readonly #ranking: WalletRanking
  readonly #warm: WarmWallets
  readonly #comparisons: WalletComparisons
  readonly #syncs: WalletSyncs
  readonly #addresses: WalletAddresses
  readonly #catchUps: WalletCatchUps
  readonly #resyncs: FullResyncs
  readonly #ownTrades: WalletOwnTrades
  readonly #unstored = new Set<WarmWallet>()
  #stopStoring: StopTimer | null = null
  readonly #stopping = new AbortController()
  readonly #timers: StopTimer[] = []
  #source: SyncSource | null = null
  #hasLiveFills = () => true

  constructor(parts: WalletsParts) {
    const { clock, storage, metrics } = parts
    this.#parts = parts
    this.#log = parts.log.child({ part: 'wallets' })
    this.#markets = new WalletMarkets({
      ...{ view: parts.view, marketsOfEvent: parts.marketsOfEvent },
      ...{ table: storage.wallets, clock, log: this.#log },
    })
    this.#follows = new WalletFollows(parts.followedMax ?? walletsFollowedMax)
    this.#ranking = new WalletRanking({ table: storage.wallets, clock })
    this.#warm = new WarmWallets(parts.warmBytesMax)
    const { signal } = this.#stopping
    this.#syncs = new WalletSyncs({
      ...{ clock, log: this.#log, signal },
      onProgress: (warm) => this.#weigh(warm),
      onSynced: (warm, source) => this.#afterSync(warm, source),
    })
    const resyncs = metrics.count(
      'wallet_rereads_total',
      'Full resyncs, begun because the venue lacked events or its positions differed.',
    )
    this.#resyncs = new FullResyncs({ clock, log: this.#log, resyncs })
    const { market, venue } = parts
    this.#ownTrades = new WalletOwnTrades({ storage, market, venue, signal })
    const idle = () => this.#syncs.idle()
    this.#comparisons = new WalletComparisons({ clock, log: this.#log, signal, idle })
    this.#catchUps = new WalletCatchUps({ clock, sync: (warm) => this.#syncInBackground(warm) })
    this.#addresses = new WalletAddresses({
      ...{ table: storage.wallets, clock, warmWallets: this.#warm, signal },
      load: (record, opened) => this.#load(record, opened),
      ownTrades: (address) => this.#ownTrades.of(address),
      onNew: (record) => this.#ranking.put(record),
      onFailure: (address, error) => this.#syncs.noteFailure(address, error),
    })
    metrics.gauge('wallets_known', 'Wallets that were ever requested.', () => this.count)
    metrics.gauge('wallets_followed', 'Wallets followed live.', () => this.#follows.count)
    metrics.gauge('wallets_warm', 'Wallets in memory.', () => this.#warm.count)
    metrics.gauge(
      'wallets_warm_bytes',
      'Approximate memory of the wallets in memory.',
      () => this.#warm.bytes,
    )
    metrics.gauge(
      'wallet_events_lacking',
      'Stored events of wallets in memory that the venue no longer lists.',
      () => [...this.#warm.all()].reduce((sum, { wallet }) => sum + wallet.lacking, 0),
    )
    metrics.gauge(
      'wallets_forgotten',
      'Wallets in memory with events that the venue no longer lists.',
      () => [...this.#warm.all()].filter(({ wallet }) => wallet.hasLostEvents).length,
    )
    metrics.gauge(
      'wallet_live_fills',
      'Live fills that no sync has returned yet.',
      () => this.#live.count,
    )
  }

  /** Wallets requested within a day are followed when the venue is open. */
  start(): void {
    const { storage, clock } = this.#parts
    const nowMs = clock.nowMs()
    const requested: { readonly proxy: WalletAddress; readonly requestedAtMs: TimeMs }[] = []
    for (const wallet of storage.wallets.all()) {
      const { proxy, requestedAtMs } = wallet
      this.#ranking.put(wallet)
      if (requestedAtMs > nowMs - walletFollowedMs) requested.push({ proxy, requestedAtMs })
    }
    requested.sort((one, other) => one.requestedAtMs - other.requestedAtMs)
    for (const { proxy, requestedAtMs } of requested)
      this.#follows.noteRequest(proxy, requestedAtMs)
    const loaded = this.#whales.load(storage.whales, nowMs, this.#stopping.signal)
    loaded.catch((error: unknown) =>
      this.#log.error({ err: error }, 'the stored whales were not read'),
    )
    this.#timers.push(clock.every(HOUSEKEEPING_EVERY_MS, () => this.#housekeeping()))
  }

  attach({ wallets, catalog, feed }: AttachedVenue): void {
    if (wallets === null) return
    this.#hasLiveFills = () => feed.health().tradesSource !== 'last_trade_price'
    const { signal } = this.#stopping
    this.#source = {
      ...{ wallets, signal },
      fetchMarkets: (ids) => catalog.fetchMarkets(ids, signal),
      fetchGroup: (id) => wallets.group(id, signal),
    }
    this.#follows.attach(wallets)
  }

  async stop(): Promise<void> {
    for (const stop of this.#timers) stop()
    this.#catchUps.stop()
    this.#stopStoring?.()
    this.#stopping.abort()
    await Promise.all([...this.#warm.all()].map(({ sync }) => sync))
    for (const { wallet } of this.#warm.all()) wallet.save()
    await this.#parts.port.close()
  }

  get count(): number {
    return this.#parts.storage.wallets.count()
  }

  async open(
    address: WalletAddress,
    signal: AbortSignal,
    requester = SYSTEM,
  ): Promise<WalletView | null> {
    const warm = await this.#opened(address, signal, requester)
    return warm === null ? null : warm.view
  }

  ranking(query: Parameters<WalletsView['ranking']>[0]): ReturnType<WalletsView['ranking']> {
    return this.#ranking.page(query)
  }

  /** Returns a wallet with its differences from the venue, for operators. `comparison` is null if it takes too long. */
  async inspect(address: WalletAddress) {
    const { clock } = this.#parts
    const { signal } = this.#stopping
    const opened = await this.#opened(address, signal)
    if (opened === null) return null
    const { warm, view } = opened
    const { record } = warm.wallet
    const source = this.#source
    if (warm.comparison === null && source !== null) {
      const deadline = new Deadline(clock, COMPARE_MS, [signal])
      await deadline.wait(this.#compare(warm, source))
      deadline.end()
    }
    const { comparison } = warm
    const { difference, unlisted } = warm.wallet
    const resyncs = this.#resyncs.times(record.proxy)
    return { view, record, comparison, resyncs, difference, unlisted }
  }

  async #opened(
    address: WalletAddress,
    signal: AbortSignal,
    requester = SYSTEM,
  ): Promise<{ readonly warm: WarmWallet; readonly view: WalletView } | null> {
    const signals = [signal, this.#stopping.signal]
    const deadline = new Deadline(this.#parts.clock, walletWaitMsMax, signals)
    try {
      const venue = this.#source?.wallets ?? null
      const warm = await this.#addresses.warmOf(address, venue, { deadline, requester })
      return warm === null
        ? null
        : { warm, view: await this.#openView(warm, { deadline, requester }) }
    } finally {
      deadline.end()
    }
  }

  async #openView(warm: WarmWallet, request: WalletRequest): Promise<WalletView> {
    const { deadline } = request
    const { clock } = this.#parts
    const { wallet } = warm
    const nowMs = clock.nowMs()
    warm.requestedMs = clock.monotonicMs()
    wallet.noteRequest(nowMs)
    // Follows before the sync, so that no fill between the two is missed.
    this.#follows.noteRequest(wallet.record.proxy, nowMs)
    for (let tries = 1; ; tries += 1) {
      const isTimely = await this.#refreshed(warm, request)
      // The venue may have lost the wallet's history, so the local trade log is searched.
      if (wallet.isEmpty) await deadline.wait(this.#addOwnTrades(warm))
      if (!wallet.hasData) throw unavailable('nothing of that wallet is known yet')
      try {
        return await this.#view(warm, isTimely)
      } catch (error) {
        if (!(error instanceof LedgerDamage) || tries > 1) throw error
        wallet.noteDamage(error)
      }
    }
  }

  async #view(warm: WarmWallet, isTimely: boolean): Promise<WalletView> {
    const { wallet, valuation } = warm
    const issues: WalletIssue[] = isTimely ? [] : ['venue_late']
    if (!this.#isSound(warm)) issues.push('venue_counts_otherwise')
    if (!this.#hasLiveFills()) issues.push('no_live_fills')
    const isWhale = this.#whales.isWhale(wallet.record.proxy, this.#parts.clock.nowMs())
    const view = await valuation.view({ issues, isWhale })
    this.#ranking.setComplete(wallet.record.proxy, view.isComplete)
    this.#weigh(warm)
    return view
  }

  #rankCompleteness(warm: WarmWallet): void {
    const { wallet } = warm
    const isComplete = wallet.isComplete && this.#isSound(warm) && this.#hasLiveFills()
    this.#ranking.setComplete(wallet.record.proxy, isComplete)
  }

  #isSound({ comparison }: WarmWallet): boolean {
    return comparison === null || this.#comparisons.isSound(comparison)
  }

  /**
   * Returns whether the known data is at most a few seconds old and newer than the wallet's last live fill. Waits for a
   * sync if necessary. If the venue's history lacks a fill, begins a sync in the background.
   */
  async #refreshed(warm: WarmWallet, request: WalletRequest): Promise<boolean> {
    const { wallet } = warm
    if (this.#isOld(warm) || wallet.isDamaged || wallet.tail.hasNewerFill) {
      return this.#caughtUp(warm, request)
    }
    if (
      warm.failedMs === null &&
      (wallet.tail.isCovered || this.#ageMs(warm) <= UNLISTED_FILL_MS)
    ) {
      return true
    }
    return this.#sync(warm, request) !== null && warm.failedMs === null
  }

  #sync(warm: WarmWallet, { requester }: WalletRequest): Promise<boolean> | null {
    return this.#source === null ? null : this.#syncs.sync(warm, this.#source, { requester })
  }

  #isOld(warm: WarmWallet): boolean {
    return warm.freshMs === null || this.#ageMs(warm) > YOUNG_MS
  }

  #ageMs({ freshMs }: WarmWallet): number {
    return this.#parts.clock.monotonicMs() - (freshMs ?? 0)
  }

  async #caughtUp(warm: WarmWallet, request: WalletRequest): Promise<boolean> {
    for (let waits = 0; waits < WAITS_MAX; waits += 1) {
      const sync = this.#sync(warm, request)
      if (sync === null || (await request.deadline.wait(sync)) !== true) return false
      if (!warm.wallet.tail.hasNewerFill && !this.#isOld(warm)) return true
    }
    return false
  }

  #afterSync(warm: WarmWallet, source: SyncSource): void {
    const { wallet } = warm
    this.#rankCompleteness(warm)
    if (this.#isLacking(wallet)) void this.#addOwnTrades(warm)
    if (this.#isLacking(wallet) && this.#resyncs.schedule(wallet, 'lacking')) this.#syncSoon(warm)
    void this.#compare(warm, source)
    this.#addresses.renew(warm, source.wallets)
  }

  async #addOwnTrades(warm: WarmWallet): Promise<void> {
    const nowMs = this.#parts.clock.monotonicMs()
    if (warm.ownMs !== null && nowMs - warm.ownMs < OWN_EVERY_MS) return
    warm.ownMs = nowMs
    const events = await this.#ownTrades.of(warm.wallet.record.proxy)
    if (this.#warm.peek(warm.wallet.record.proxy) === warm) warm.wallet.addEvents(events)
  }

  #isLacking({ hasLostEvents, tail }: Wallet): boolean {
    return hasLostEvents || tail.isStuck
  }

  async #compare(warm: WarmWallet, { wallets }: SyncSource): Promise<void> {
    const resync = async () => (await this.#syncInBackground(warm)) === true
    const isDifferent = await this.#comparisons.compareIfDue(warm, { wallets, resync })
    this.#rankCompleteness(warm)
    const isHere = this.#warm.peek(warm.wallet.record.proxy) === warm
    // If the venue's history lacks events, its positions lack them too, and resyncs are already scheduled.
    const isRead = isDifferent && isHere && !this.#isLacking(warm.wallet)
    if (isRead && this.#resyncs.schedule(warm.wallet, 'differs')) this.#syncInBackground(warm)
  }

  #syncSoon(warm: WarmWallet): void {
    void Promise.resolve(warm.sync).then(() => this.#syncInBackground(warm))
  }

  #syncInBackground(warm: WarmWallet): Promise<boolean> | null {
    const isHere = this.#warm.peek(warm.wallet.record.proxy) === warm
    if (this.#source === null || !isHere) return null
    return this.#syncs.sync(warm, this.#source, { requester: SYSTEM, isRequested: false })
  }

  #load(record: StoredWallet, opened: PnlState | null): WarmWallet {
    const { clock, storage, port } = this.#parts
    const wallet = new Wallet(
      {
        ...{ table: storage.wallets, live: this.#live, markets: this.#markets, port, clock },
        log: this.#log,
        onStored: (stored) => this.#ranking.put(stored),
      },
      record,
      opened,
    )
    const valuation = new WalletValuation({ clock, markets: this.#markets }, wallet)
    const warm = new WarmWallet(wallet, valuation)
    this.#warm.add(warm)
    return warm
  }

  #weigh(warm: WarmWallet): void {
    this.#warm.weigh(warm)
    for (const evicted of this.#warm.overflow()) {
      evicted.wallet.save()
      this.#unstored.delete(evicted)
    }
  }

  /**
   * Runs every minute. Unfollows wallets, updates the hour of the ranking, and syncs wallets that need a repair or have
   * old unsettled events or repeated fills.
   */
  #housekeeping(): void {
    const nowMs = this.#parts.clock.nowMs()
    this.#follows.expire(nowMs)
    const rolled = this.#ranking.roll(this.#stopping.signal)
    rolled.catch((error: unknown) =>
      this.#log.error({ err: error }, 'the windows of the ranking were not updated'),
    )
    if (this.#source === null) return
    let overdue = 0
    for (const warm of this.#warm.all()) {
      const { wallet } = warm
      const isLate = (wallet.ledger.unsettled[0]?.timeMs ?? nowMs) < nowMs - LATE_MS
      const isFree = warm.sync === null && this.#isLacking(wallet)
      const isLost = isFree && this.#resyncs.schedule(wallet, 'lacking')
      const isOverdue = isLate || isLost || wallet.tail.hasRepeat
      if (isOverdue) overdue += 1
      const isRead = wallet.needsRepair || (isOverdue && overdue <= OVERDUE_MAX)
      if (isRead) this.#syncInBackground(warm)
    }
    if (!this.#hasLiveFills()) this.#syncFollowed()
  }

  /** Syncs the followed wallets whose last sync is oldest. Called while no stream delivers their fills. */
  #syncFollowed(): void {
    const followed = [...this.#warm.all()]
      .filter(({ wallet, sync }) => sync === null && this.#follows.has(wallet.record.proxy))
      .sort((one, other) => (one.freshMs ?? 0) - (other.freshMs ?? 0))
    for (const warm of followed.slice(0, OVERDUE_MAX)) this.#syncInBackground(warm)
  }

  /**
   * Takes a fill of the stream if its wallet is followed. A second equal fill is usually a repeated message, so it
   * counts only when the venue's history contains the fill twice.
   */
  noteFill({ wallet, fill }: WalletFillEvent): void {
    if (!this.#follows.has(wallet)) return
    const warm = this.#warm.peek(wallet)
    if (this.#live.of(wallet).some((one) => isSameFill(one, fill))) {
      warm?.wallet.noteRepeat(fill)
      return
    }
    this.#live.add(wallet, fill, this.#parts.clock.nowMs())
    if (warm === null) return
    warm.wallet.noteFill(fill)
    this.#catchUps.note(warm)
    this.#unstored.add(warm)
    this.#stopStoring ??= this.#parts.clock.after(STORE_TAILS_MS, () => this.#storeTails())
  }

  #storeTails(): void {
    this.#stopStoring = null
    for (const { wallet } of this.#unstored) wallet.storeTail()
    this.#unstored.clear()
  }

  onWhaleRow(_: MarketRef, whale: Pick<StoredWhale, 'wallet' | 'timeMs'>): void {
    this.#whales.note(whale)
  }

  onListed(market: MarketView): void {
    if (market.ref.venue !== this.#parts.venue) return
    this.#markets.invalidate(market)
    const { status, settlementPrice } = market.summary
    if (status !== 'resolved' || settlementPrice === null || this.#warm.count === 0) return
    const facts = this.#markets.find(market.ref.nativeId)
    if (facts !== null) for (const { wallet } of this.#warm.all()) wallet.resolve(facts)
  }

  onRemoved(market: MarketView): void {
    if (market.ref.venue === this.#parts.venue) this.#markets.invalidate(market)
  }
}

/**
 * Whether two fills have equal fields in the stream. Their roles may differ, because a role is derived from other data.
 */
function isSameFill(one: WalletEvent, other: WalletEvent): boolean {
  if (one.txHash !== other.txHash || one.token !== other.token || one.kind !== other.kind)
    return false
  const { timeMs: atMs, size, price, usd } = one
  return atMs === other.timeMs && size === other.size && price === other.price && usd === other.usd
}
