// Venue b's stream: turns each change of the world into messages for the subscriptions that cover
// it. A message without a subscription is not rendered (SIMK12); a message's body is
// rendered once for all its receivers. Not for: sockets, commands and faults (ws.ts).

import type { Clock } from '../../../clock.ts'
import { type PriceMicros, SIZE_ZERO, type SizeMicros, type TimeMs } from '../../../units.ts'
import type { SimMarket, SimTrade, World, WorldChange } from '../model.ts'
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
  tickerMessage,
  tickMessage,
  tradeMessage,
} from './messages.ts'
import type { KalshiSubscription } from './subscription.ts'
import { comboOf } from './terms.ts'

/** How long `GET /markets/{t}` still answers 404 after a `created` message. */
const HIDDEN_MS = 300
/** Combinations of which a row is answered. */
const COMBOS_MAX = 10_000

/** The subscriptions of every connection, by what they cover. */
export class KalshiStream {
  readonly #clock: Clock
  readonly #watches = new Map<string, Watch>()
  /** Subscriptions to the whole exchange, by channel. */
  readonly #everywhere = new Map<string, Set<KalshiSubscription>>()
  readonly #toldAtMs = new WeakMap<SimMarket, number>()
  readonly #tickChangedMs = new WeakMap<SimMarket, TimeMs>()
  /** The newest combinations that traded. */
  readonly #combos = new Map<string, SimMarket>()
  readonly #stop: () => void
  readonly #world: World
  /** Up to when changes of fees were told. */
  #feesAtMs: TimeMs

  constructor(parts: { world: World; clock: Clock }) {
    this.#clock = parts.clock
    this.#world = parts.world
    this.#feesAtMs = parts.world.nowMs()
    this.#stop = parts.world.onChange((change) => {
      if (change.market.listing.venue === 'b') this.#tell(change)
    })
  }

  /** To be called once a second: tells which events have other fees since the last time. */
  tick(): void {
    const byMs = this.#world.nowMs()
    const span = { afterMs: this.#feesAtMs, byMs }
    this.#feesAtMs = byMs
    for (const event of eventsWithOtherFees(this.#world.events('b'), span)) {
      this.#tellLifecycle(() => feeMessage(event, byMs), 'event_fee_update')
    }
  }

  stop(): void {
    this.#stop()
  }

  /** Covers one market, or the whole exchange with null. */
  watch(subscription: KalshiSubscription, market: SimMarket | null): void {
    if (market === null) {
      const everywhere = this.#everywhere.get(subscription.channel) ?? new Set()
      this.#everywhere.set(subscription.channel, everywhere.add(subscription))
      return
    }
    this.#watch(market)[listOf(subscription)].add(subscription)
  }

  /** Ends what `watch` began. */
  unwatch(subscription: KalshiSubscription, ticker: string | null): void {
    if (ticker === null) {
      this.#everywhere.get(subscription.channel)?.delete(subscription)
      return
    }
    this.#watches.get(ticker)?.[listOf(subscription)].delete(subscription)
    this.#forget(ticker)
  }

  /** Whether the market was announced so recently that its page does not exist yet. */
  isHidden(market: SimMarket): boolean {
    const toldMs = this.#toldAtMs.get(market)
    return toldMs !== undefined && this.#clock.monotonicMs() - toldMs < HIDDEN_MS
  }

  /** When the market's metadata last changed: its status, or its tick. */
  metadataMs(market: SimMarket): TimeMs {
    const { listing, status } = market
    const statusMs = {
      unopened: listing.createdMs,
      open: listing.openMs,
      closed: listing.closeMs,
      determined: listing.determineMs,
      resolved: listing.resolveMs,
    }[status]
    const tickMs = this.#tickChangedMs.get(market)
    return tickMs !== undefined && tickMs > statusMs ? tickMs : statusMs
  }

  /** The head fields of a market's messages. */
  fields(market: SimMarket): string {
    return this.#watches.get(market.listing.nativeId)?.fields ?? marketFields(market)
  }

  #watch(market: SimMarket): Watch {
    const ticker = market.listing.nativeId
    let watch = this.#watches.get(ticker)
    if (watch === undefined) {
      watch = new Watch(marketFields(market))
      this.#watches.set(ticker, watch)
    }
    return watch
  }

  /** Drops what is kept of a market without a subscription by name. */
  #forget(ticker: string): void {
    const watch = this.#watches.get(ticker)
    if (watch === undefined) return
    if (watch.books.size + watch.tickers.size + watch.trades.size === 0) {
      this.#watches.delete(ticker)
    }
  }

  #tell(change: WorldChange): void {
    switch (change.kind) {
      case 'levels':
        this.#tellLevels(change)
        this.#tellTicker(change, false)
        return
      case 'trade':
        this.#tellLevels(change)
        this.#tellTrade(change)
        this.#tellTicker(change, true)
        return
      case 'tick':
        this.#tickChangedMs.set(change.market, change.atMs)
        this.#tellLifecycle(() => tickMessage(change.market, change.newTick))
        return
      case 'created':
        this.#tellCreated(change.market)
        return
      case 'determined':
        this.#tellLifecycle(() => determinedMessage(change.market))
        return
      case 'resolved':
        this.#tellLifecycle(() => settledMessage(change.market))
        this.#forget(change.market.listing.nativeId)
        return
      case 'opened':
        this.#tellFirstOrders(change.market, change.atMs)
        return
      case 'closed':
        // The venue says nothing when a market opens or closes by time: clients run timers.
        return
    }
  }

  #tellLevels(change: BookChange): void {
    const watch = this.#watches.get(change.market.listing.nativeId)
    if (watch === undefined || watch.books.size === 0) return
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

  /** The book that a market opens with was placed just now, for those who saw it empty before. */
  #tellFirstOrders(market: SimMarket, atMs: TimeMs): void {
    const watch = this.#watches.get(market.listing.nativeId)
    if (watch === undefined) return
    const changes = [
      ...market.book.bids.map((level) => ({ side: 'bid' as const, ...level })),
      ...market.book.asks.map((level) => ({ side: 'ask' as const, ...level })),
    ]
    const previousSizes = changes.map(() => SIZE_ZERO)
    const change = { kind: 'levels' as const, market, changes, previousSizes, atMs }
    this.#tellLevels(change)
    this.#tellTicker(change, false)
  }

  #tellTrade(change: Extract<WorldChange, { kind: 'trade' }>): void {
    const watchers = this.#watches.get(change.market.listing.nativeId)?.trades
    const everywhere = this.#everywhere.get('trade')
    if (isEmpty(watchers) && isEmpty(everywhere)) return
    this.#tellCombo(change.trade)
    const body = tradeMessage(change.trade)
    for (const subscription of watchers ?? []) subscription.deliver('trade', body)
    for (const subscription of everywhere ?? []) subscription.deliver('trade', body)
  }

  /** A combination that trades with a market, to those who hear of all trades. */
  #tellCombo(trade: SimTrade): void {
    const combo = comboOf(trade)
    const everywhere = this.#everywhere.get('trade')
    if (combo === null || everywhere === undefined) return
    this.#combos.set(combo, trade.market)
    const oldest = this.#combos.keys().next().value
    if (this.#combos.size > COMBOS_MAX && oldest !== undefined) this.#combos.delete(oldest)
    const body = tradeMessage(trade, combo)
    for (const subscription of everywhere) subscription.deliver('trade', body)
  }

  /** The market with which a combination traded; null: there is no such combination. */
  comboMarket(ticker: string): SimMarket | null {
    return this.#combos.get(ticker) ?? null
  }

  /** A ticker goes out with each trade, and when a best price or its size moved. */
  #tellTicker(change: BookChange, isTrade: boolean): void {
    const { market } = change
    const everywhere = this.#everywhere.get('ticker')
    let watch = this.#watches.get(market.listing.nativeId)
    if (isEmpty(watch?.tickers) && isEmpty(everywhere)) return
    watch ??= this.#watch(market)
    const isMoved = watch.noteTop(market)
    if (!isMoved && !isTrade) return
    const body = tickerMessage(market, { fields: watch.fields, atMs: change.atMs })
    for (const subscription of watch.tickers) subscription.deliver('ticker', body)
    for (const subscription of everywhere ?? []) subscription.deliver('ticker', body)
  }

  #tellCreated(market: SimMarket): void {
    this.#toldAtMs.set(market, this.#clock.monotonicMs())
    if (market.event.markets[0] === market) {
      this.#tellLifecycle(() => eventMessage(market.event), 'event_lifecycle')
    }
    this.#tellLifecycle(() => createdMessage(market))
  }

  #tellLifecycle(render: () => string, kind: MessageKind = 'market_lifecycle_v2'): void {
    const everywhere = this.#everywhere.get('market_lifecycle_v2')
    if (everywhere === undefined || everywhere.size === 0) return
    const body = render()
    for (const subscription of everywhere) subscription.deliver(kind, body)
  }
}

type BookChange = Extract<WorldChange, { kind: 'levels' | 'trade' }>

/** What is kept of a market with a subscription by name. */
class Watch {
  readonly fields: string
  readonly books = new Set<KalshiSubscription>()
  readonly tickers = new Set<KalshiSubscription>()
  readonly trades = new Set<KalshiSubscription>()
  #bid: PriceMicros | null = null
  #ask: PriceMicros | null = null
  #bidSize: SizeMicros | null = null
  #askSize: SizeMicros | null = null

  constructor(fields: string) {
    this.fields = fields
  }

  /** Remembers the best prices and sizes; whether any of them moved. */
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
