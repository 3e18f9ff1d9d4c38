// Turns updates into events for webhooks: in the event turn of the update itself, so that the outbox's
// rows are committed with the trade or whale that caused them, or not at all. A body is written once
// an event, and only when somebody wants it. Trades and whales over 15 minutes old are news to nobody.
// Not for: sending (deliveries.ts), or what an event says (engine/webhooks/bodies.ts).
// Upholds HOOKEVENT1 to HOOKEVENT9.

import type { Clock } from '../../engine/clock.ts'
import type {
  LifecycleUpdate,
  PriceUpdate,
  TradeUpdate,
  Update,
  WhaleUpdate,
} from '../../engine/events.ts'
import { webhookNewsAgeMsMax, whaleCloseMs } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { Watcher } from '../../engine/publisher.ts'
import { PRICE_ONE, priceMicros, type TimeMs, timeMs } from '../../engine/units.ts'
import type { WebhookBodies } from '../../engine/webhooks/bodies.ts'
import { eventId } from '../../engine/webhooks/event-id.ts'
import { type EventFacts, minChangeDefault, wants } from '../../engine/webhooks/filter.ts'
import type { Webhook, WebhookEventType, WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'
import type { OutboxTable } from '../../storage/contract/webhooks.ts'
import type { StoredWhale } from '../../storage/contract/whales.ts'
import type { Deliveries } from './deliveries.ts'
import type { WebhookIndex } from './index-of-listeners.ts'
import { basePrice, PriceBases } from './price-bases.ts'

export interface WebhookEventParts {
  readonly index: WebhookIndex
  readonly deliveries: Pick<Deliveries, 'create'>
  readonly outbox: OutboxTable
  readonly bodies: WebhookBodies
  readonly clock: Clock
  readonly metrics: Metrics
  /** What the catalogue knows of a market; null when it was forgotten. */
  readonly market: (number: MarketNumber) => Pick<MarketSummary, 'eventSlug' | 'category'> | null
}

/** An event for those who want it; id and body are made when the first one does. */
interface Event {
  readonly type: WebhookEventType
  readonly facts: EventFacts
  readonly idParts: () => readonly string[]
  readonly body: () => Uint8Array
  readonly candidates: ReadonlySet<Webhook>
  readonly originMs: TimeMs
}

const NO_WALLETS: readonly string[] = []

export class WebhookEvents implements Watcher {
  readonly name = 'webhooks'
  readonly #parts: WebhookEventParts
  /** Of webhooks that have asked for price.changed. */
  readonly #bases = new Map<WebhookNumber, PriceBases>()

  constructor(parts: WebhookEventParts) {
    this.#parts = parts
  }

  onUpdate(update: Update): void {
    if (update.kind === 'price') this.#onPrice(update)
    else if (update.kind === 'trade') this.#onTrade(update)
    else if (update.kind === 'whale') this.#onWhale(update)
    else if (update.kind === 'lifecycle' && update.event === 'resolved') this.#onResolved(update)
    else if (update.kind === 'lifecycle' && update.event === 'matched') this.#onMatched(update)
  }

  /**
   * A whale that the stream is not told of (again): smaller than it tells, or grown since. Whoever has
   * heard of it has its event already.
   */
  onWhaleRow(market: MarketRef, whale: StoredWhale): void {
    const { timeMs: venueTimeMs, receivedAtMs } = whale
    this.#onWhale({ market, whale, venueTimeMs, receivedAtMs })
  }

  onForget(market: MarketNumber): void {
    for (const bases of this.#bases.values()) bases.forget(market)
  }

  /** A webhook is gone, or no longer told of prices: what was read of its bases goes from memory. */
  forgetBases(webhook: WebhookNumber): void {
    this.#bases.delete(webhook)
  }

  #onTrade(update: TradeUpdate): void {
    const listeners = this.#parts.index.of('trade.created')
    if (listeners === null) return
    const { market, trade } = update
    const marketId = market.id.toLowerCase()
    const wallets = walletsOf(trade.maker, trade.taker)
    const candidates = listeners.candidates(marketId, wallets)
    if (candidates.size === 0 || this.#isOld('trade.created', update)) return
    const { usd, side } = trade
    this.#tell({
      ...{ type: 'trade.created', candidates, originMs: update.receivedAtMs },
      facts: { ...this.#factsOf(market, marketId), wallets, usd, side },
      idParts: () => [market.id, trade.nativeId],
      body: () => this.#parts.bodies.tradeCreated(update),
    })
  }

  #onWhale(update: Omit<WhaleUpdate, 'kind' | 'offset' | 'seq'>): void {
    const listeners = this.#parts.index.of('whale.alert')
    if (listeners === null) return
    const { market, whale } = update
    const marketId = market.id.toLowerCase()
    const wallets = walletsOf(whale.maker, whale.taker)
    const candidates = listeners.candidates(marketId, wallets)
    if (candidates.size === 0 || this.#isOld('whale.alert', update)) return
    const { usd, side, eventSlug, category } = whale
    const { venue } = market
    this.#tell({
      // A whale's first fill came that long before the whale could be known.
      ...{ type: 'whale.alert', candidates, originMs: timeMs(update.receivedAtMs + whaleCloseMs) },
      facts: { marketId, venue, wallets, usd, side, change: null, eventSlug, category },
      idParts: () => [market.id, whale.nativeId],
      body: () => this.#parts.bodies.whaleAlert(update),
    })
  }

  #onResolved(update: LifecycleUpdate): void {
    const listeners = this.#parts.index.of('market.resolved')
    if (listeners === null) return
    const { market, facts } = update
    const marketId = market.id.toLowerCase()
    this.#tell({
      ...{ type: 'market.resolved', originMs: update.receivedAtMs },
      candidates: listeners.candidates(marketId, NO_WALLETS),
      facts: this.#factsOf(market, marketId),
      idParts: () => [market.id, String(facts.settlementPrice ?? '')],
      body: () => this.#parts.bodies.marketResolved(update),
    })
  }

  /** A pair is one event, whichever of the two a webhook names, and however often it is told. */
  #onMatched(update: LifecycleUpdate): void {
    const listeners = this.#parts.index.of('match.created')
    const { market, twin } = update
    if (listeners === null || twin === null) return
    for (const side of [market, twin]) {
      const marketId = side.id.toLowerCase()
      this.#tell({
        ...{ type: 'match.created', originMs: update.receivedAtMs },
        candidates: listeners.candidates(marketId, NO_WALLETS),
        facts: this.#factsOf(side, marketId),
        idParts: () => [market.id, twin.id].sort(),
        body: () => this.#parts.bodies.matchCreated(update),
      })
    }
  }

  #onPrice(update: PriceUpdate): void {
    const listeners = this.#parts.index.of('price.changed')
    // Where nothing is known of a market, its price is one half: no news.
    if (listeners === null || update.price.source === 'none') return
    const { market } = update
    const { price } = update.price
    const marketId = market.id.toLowerCase()
    const candidates = listeners.candidates(marketId, NO_WALLETS)
    // The first price is kept for every market that could be told, whatever its change.
    let greatest: EventFacts | null = null
    let bodies: Map<number, Uint8Array> | null = null
    for (const webhook of candidates) {
      const bases = this.#basesOf(webhook.number)
      const base = bases.get(market.number)
      const isFirst = base < 0
      const change = isFirst ? null : Math.abs(price - base)
      if (change !== null) {
        if (change === 0 || change < (webhook.filters.minChange ?? minChangeDefault)) continue
      }
      greatest ??= { ...this.#factsOf(market, marketId), change: PRICE_ONE }
      const facts = change === null ? greatest : { ...greatest, change: priceMicros(change) }
      if (!wants(webhook.filters, 'price.changed', facts)) continue
      if (!isFirst) {
        const parts = [webhook.id, market.id, String(base), String(price)]
        const id = eventId('price.changed', ...parts, String(update.venueTimeMs))
        bodies ??= new Map()
        const body = bodies.get(base) ?? this.#parts.bodies.priceChanged(update, basePrice(base))
        bodies.set(base, body)
        const event = { eventId: id, eventType: 'price.changed', body } as const
        this.#parts.deliveries.create(webhook.number, event, update.receivedAtMs)
      }
      bases.put(market.number, price)
    }
  }

  #basesOf(webhook: WebhookNumber): PriceBases {
    let bases = this.#bases.get(webhook)
    if (bases === undefined) {
      bases = new PriceBases(webhook, this.#parts.outbox)
      this.#bases.set(webhook, bases)
    }
    return bases
  }

  #tell({ type, facts, idParts, body, candidates, originMs }: Event): void {
    let made: Parameters<Deliveries['create']>[1] | null = null
    for (const { number, filters } of candidates) {
      if (!wants(filters, type, facts)) continue
      made ??= { eventId: eventId(type, ...idParts()), eventType: type, body: body() }
      this.#parts.deliveries.create(number, made, originMs)
    }
  }

  #isOld(
    type: WebhookEventType,
    { venueTimeMs, receivedAtMs }: Pick<TradeUpdate, 'venueTimeMs' | 'receivedAtMs'>,
  ): boolean {
    const isOld =
      this.#parts.clock.nowMs() - Math.min(venueTimeMs, receivedAtMs) >= webhookNewsAgeMsMax
    if (isOld) this.#countOld(type)
    return isOld
  }

  #countOld(type: WebhookEventType): void {
    const help = 'Trades and whales that were too old to be told.'
    this.#parts.metrics.count('webhook_events_too_old_total', help, { type }).inc()
  }

  #factsOf({ number, venue }: MarketRef, marketId: string): EventFacts {
    const summary = this.#parts.market(number)
    return {
      ...{ marketId, venue, wallets: NO_WALLETS, usd: null, side: null, change: null },
      eventSlug: summary?.eventSlug ?? null,
      category: summary?.category ?? null,
    }
  }
}

function walletsOf(maker: string | null, taker: string | null): readonly string[] {
  if (maker === null && taker === null) return NO_WALLETS
  const wallets: string[] = []
  if (maker !== null) wallets.push(maker.toLowerCase())
  if (taker !== null) wallets.push(taker.toLowerCase())
  return wallets
}
