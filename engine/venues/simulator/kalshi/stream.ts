import type { Clock } from '../../../clock.ts'
import {
  type PriceMicros,
  SIZE_ZERO,
  type SizeMicros,
  type TimeMs,
  timeMs,
} from '../../../units.ts'
import type { Faults } from '../faults.ts'
import type { SimEvent, SimMarket, SimTrade, World, WorldChange } from '../model.ts'
import { SimCombos } from './combos.ts'
import { eventsWithOtherFees } from './fees.ts'
import {
  createdMessage,
  deltaMessage,
  determinedMessage,
  eventMessage,
  feeMessage,
  type MessageKind,
  marketFields,
  settledMessage,
  structureMessage,
  tickerMessage,
  tradeMessage,
} from './messages.ts'
import type { KalshiSubscription } from './subscription.ts'
import { hasAlternatingStructure, hourOf, hourStart } from './terms.ts'

/** After a `created` message `GET /markets/{t}` answers 404 for this time. */
const HIDDEN_MS = 300

export class SimKalshiStream {
  readonly #clock: Clock
  readonly #faults: Faults
  readonly #watches = new Map<SimMarket, Watch>()
  readonly #watchesByTicker = new Map<string, Watch>()
  readonly #everywhere = new Map<string, Set<KalshiSubscription>>()
  readonly #announcedAtMs = new WeakMap<SimMarket, number>()
  readonly #tickChangedMs = new WeakMap<SimMarket, TimeMs>()
  readonly combos: SimCombos
  readonly #stop: () => void
  readonly #world: World
  #publishedToMs: TimeMs

  constructor(parts: { world: World; clock: Clock; faults: Faults }) {
    this.#faults = parts.faults
    this.#clock = parts.clock
    this.#world = parts.world
    this.#publishedToMs = parts.world.nowMs()
    this.combos = new SimCombos(parts.world.trades('b'))
    this.#stop = parts.world.onChange((change) => {
      if (change.market.listing.venue === 'b') this.#publish(change)
    })
  }

  /** Must be called once a second. Sends messages about fees and price structures that changed since the last call. */
  tick(): void {
    const byMs = this.#world.nowMs()
    const span = { afterMs: this.#publishedToMs, byMs }
    this.#publishedToMs = byMs
    const events = this.#world.events('b')
    for (const event of eventsWithOtherFees(events, span)) {
      this.#publishLifecycle(() => feeMessage(event, byMs), 'event_fee_update')
    }
    for (const event of events) {
      if (!hasAlternatingStructure(event)) continue
      if (hourStart(event, hourOf(event, byMs)) <= span.afterMs) continue
      for (const market of event.markets) {
        if (market.status !== 'unopened' && market.status !== 'open') continue
        const at = { tick: market.tickMicros, atMs: byMs }
        this.#publishLifecycle(() => structureMessage(market, at))
      }
    }
  }

  stop(): void {
    this.#stop()
  }

  /** Null: the subscription covers the whole exchange. */
  watch(subscription: KalshiSubscription, market: SimMarket | null): void {
    if (market === null) {
      const everywhere = this.#everywhere.get(subscription.channel) ?? new Set()
      this.#everywhere.set(subscription.channel, everywhere.add(subscription))
      return
    }
    this.#watch(market)[listOf(subscription)].add(subscription)
  }

  /** Null: the subscription no longer covers the whole exchange. */
  unwatch(subscription: KalshiSubscription, ticker: string | null): void {
    if (ticker === null) {
      this.#everywhere.get(subscription.channel)?.delete(subscription)
      return
    }
    const watch = this.#watchesByTicker.get(ticker)
    if (watch === undefined) return
    watch[listOf(subscription)].delete(subscription)
    this.#dropUnwatched(watch)
  }

  /** Whether the market was announced so recently that REST does not return it yet. */
  isHidden(market: SimMarket): boolean {
    const announcedMs = this.#announcedAtMs.get(market)
    return announcedMs !== undefined && this.#clock.monotonicMs() - announcedMs < HIDDEN_MS
  }

  metadataMs(market: SimMarket): TimeMs {
    const { listing, status } = market
    const statusMs = {
      unopened: listing.createdMs,
      open: listing.openMs,
      closed: listing.closeMs,
      determined: listing.determineMs,
      resolved: listing.resolveMs,
    }[status]
    const tickMs = this.#tickChangedMs.get(market) ?? 0
    const structureChangedMs =
      status === 'open' || status === 'unopened' ? this.#structureChangedMs(market.event) : 0
    return timeMs(Math.max(statusMs, tickMs, structureChangedMs))
  }

  #structureChangedMs(event: SimEvent): number {
    return hasAlternatingStructure(event) ? hourStart(event, hourOf(event, this.#world.nowMs())) : 0
  }

  fields(market: SimMarket): string {
    return this.#watches.get(market)?.fields ?? marketFields(market)
  }

  #watch(market: SimMarket): Watch {
    let watch = this.#watches.get(market)
    if (watch === undefined) {
      watch = new Watch(market)
      this.#watches.set(market, watch)
      this.#watchesByTicker.set(market.listing.nativeId, watch)
    }
    return watch
  }

  #dropUnwatched(watch: Watch): void {
    if (watch.books.size + watch.tickers.size + watch.trades.size > 0) return
    this.#watches.delete(watch.market)
    this.#watchesByTicker.delete(watch.market.listing.nativeId)
  }

  #publish(change: WorldChange): void {
    switch (change.kind) {
      case 'levels':
        this.#publishLevels(change)
        this.#publishTicker(change, false)
        return
      case 'trade':
        this.#publishLevels(change)
        this.#publishTrade(change)
        this.#publishTicker(change, true)
        return
      case 'tick':
        this.#tickChangedMs.set(change.market, change.atMs)
        this.#publishLifecycle(() =>
          structureMessage(change.market, { tick: change.newTick, atMs: change.atMs }),
        )
        return
      case 'created':
        this.#publishCreated(change.market)
        return
      case 'determined':
        this.#publishLifecycle(() => determinedMessage(change.market))
        return
      case 'resolved': {
        this.#publishLifecycle(() => settledMessage(change.market))
        const watch = this.#watches.get(change.market)
        if (watch !== undefined) this.#dropUnwatched(watch)
        return
      }
      case 'opened':
        this.#publishFirstOrders(change.market, change.atMs)
        return
      case 'closed':
        // The venue sends nothing when a market opens or closes, because clients know these times.
        return
    }
  }

  #publishLevels(change: BookChange): void {
    const watch = this.#watches.get(change.market)
    if (watch === undefined || watch.books.size === 0) return
    const nowMs = this.#clock.monotonicMs()
    // Changes that are dropped here get no sequence number, so clients see no gap.
    if (this.#faults.isFrozen(nowMs)) return
    if (this.#faults.isMuted(change.market.listing.nativeId, nowMs)) return
    if (change.kind === 'levels' && change.isLost === true) {
      for (const subscription of watch.books) subscription.nextSeq()
      return
    }
    for (const [position, level] of change.changes.entries()) {
      const previous = change.previousSizes[position]
      if (previous === undefined) continue
      const render = (isYesPriced: boolean) =>
        deltaMessage(level, { fields: watch.fields, previous, atMs: change.atMs, isYesPriced })
      let noPriced: string | null | undefined
      let yesPriced: string | null | undefined
      for (const subscription of watch.books) {
        if (subscription.isYesPriced) yesPriced ??= render(true)
        else noPriced ??= render(false)
        const body = subscription.isYesPriced ? yesPriced : noPriced
        if (typeof body === 'string') subscription.deliver('orderbook_delta', body)
      }
    }
  }

  /**
   * Sends each order of the first book as a delta, because clients that subscribed before the opening received an empty
   * book.
   */
  #publishFirstOrders(market: SimMarket, atMs: TimeMs): void {
    const watch = this.#watches.get(market)
    if (watch === undefined) return
    const changes = [
      ...market.book.bids.map((level) => ({ side: 'bid' as const, ...level })),
      ...market.book.asks.map((level) => ({ side: 'ask' as const, ...level })),
    ]
    const previousSizes = changes.map(() => SIZE_ZERO)
    const change = { kind: 'levels' as const, market, changes, previousSizes, atMs }
    this.#publishLevels(change)
    this.#publishTicker(change, false)
  }

  #publishTrade(change: Extract<WorldChange, { kind: 'trade' }>): void {
    const combo = this.combos.add(change.trade)
    const watchers = this.#watches.get(change.market)?.trades
    const everywhere = this.#everywhere.get('trade')
    if (isEmpty(watchers) && isEmpty(everywhere)) return
    const body = tradeMessage(change.trade)
    for (const subscription of watchers ?? []) subscription.deliver('trade', body)
    for (const subscription of everywhere ?? []) subscription.deliver('trade', body)
    if (combo !== null) this.#publishCombo(change.trade, combo)
  }

  /** Sends the trade only to subscriptions for all markets, because no client can subscribe to a combination. */
  #publishCombo(trade: SimTrade, combo: string): void {
    const everywhere = this.#everywhere.get('trade')
    if (isEmpty(everywhere)) return
    const body = tradeMessage(trade, combo)
    for (const subscription of everywhere ?? []) subscription.deliver('trade', body)
  }

  /** The venue sends a ticker after each trade, and when a best price or its size changes. */
  #publishTicker(change: BookChange, isTrade: boolean): void {
    const { market } = change
    const everywhere = this.#everywhere.get('ticker')
    let watch = this.#watches.get(market)
    if (isEmpty(watch?.tickers) && isEmpty(everywhere)) return
    watch ??= this.#watch(market)
    const isMoved = watch.noteTop(market)
    if (!isMoved && !isTrade) return
    const body = tickerMessage(market, { fields: watch.fields, atMs: change.atMs })
    for (const subscription of watch.tickers) subscription.deliver('ticker', body)
    for (const subscription of everywhere ?? []) subscription.deliver('ticker', body)
  }

  #publishCreated(market: SimMarket): void {
    this.#announcedAtMs.set(market, this.#clock.monotonicMs())
    if (market.event.markets[0] === market) {
      this.#publishLifecycle(() => eventMessage(market.event), 'event_lifecycle')
    }
    this.#publishLifecycle(() => createdMessage(market, this.#world.nowMs()))
  }

  #publishLifecycle(render: () => string, kind: MessageKind = 'market_lifecycle_v2'): void {
    const everywhere = this.#everywhere.get('market_lifecycle_v2')
    if (everywhere === undefined || everywhere.size === 0) return
    const body = render()
    for (const subscription of everywhere) subscription.deliver(kind, body)
  }
}

type BookChange = Extract<WorldChange, { kind: 'levels' | 'trade' }>

class Watch {
  readonly market: SimMarket
  readonly fields: string
  readonly books = new Set<KalshiSubscription>()
  readonly tickers = new Set<KalshiSubscription>()
  readonly trades = new Set<KalshiSubscription>()
  #bid: PriceMicros | null = null
  #ask: PriceMicros | null = null
  #bidSize: SizeMicros | null = null
  #askSize: SizeMicros | null = null

  constructor(market: SimMarket) {
    this.market = market
    this.fields = marketFields(market)
  }

  noteTop({ book }: SimMarket): boolean {
    const bid = book.bestBid
    const ask = book.bestAsk
    const bidSize = bid === null ? null : book.sizeAt('bid', bid)
    const askSize = ask === null ? null : book.sizeAt('ask', ask)
    const isMoved =
      bid !== this.#bid ||
      ask !== this.#ask ||
      bidSize !== this.#bidSize ||
      askSize !== this.#askSize
    this.#bid = bid
    this.#ask = ask
    this.#bidSize = bidSize
    this.#askSize = askSize
    return isMoved
  }
}

function listOf(subscription: KalshiSubscription): 'books' | 'tickers' | 'trades' {
  if (subscription.channel === 'orderbook_delta') return 'books'
  return subscription.channel === 'ticker' ? 'tickers' : 'trades'
}

function isEmpty(set: ReadonlySet<KalshiSubscription> | undefined): boolean {
  return set === undefined || set.size === 0
}
