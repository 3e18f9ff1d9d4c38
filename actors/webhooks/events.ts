// Creates webhook events from updates. The code is synchronous, so that deliveries are in the same transaction as the
// trade or whale that caused them. A body is written once per event, and only if a webhook matches.

import type { Clock } from '../../engine/clock.ts'
import type { ArbitrageRefresh, Trade, Update } from '../../engine/events.ts'
import { webhookEventAgeMsMax } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { TradeCompletion, Watcher } from '../../engine/publisher.ts'
import { PRICE_ONE, type PriceMicros, priceMicros } from '../../engine/units.ts'
import { eventId } from '../../engine/webhooks/event-id.ts'
import type {
  EventType,
  EventUpdate,
  Happening,
  WebhookBodies,
} from '../../engine/webhooks/event-type.ts'
import { type EventFacts, matchesFilters, minChangeDefault } from '../../engine/webhooks/filter.ts'
import type { Webhook, WebhookFilters, WebhookNumber } from '../../engine/webhooks/webhook.ts'
import type { MarketSummary, OutboxTable, StoredWhale } from '../../storage/contract/storage.ts'
import type { Deliveries } from './deliveries.ts'
import { basePrice, PriceBases } from './price-bases.ts'
import type { WebhookIndex } from './webhook-index.ts'

export interface WebhookEventParts {
  readonly index: WebhookIndex
  readonly deliveries: Pick<Deliveries, 'admits' | 'create'>
  readonly outbox: OutboxTable
  readonly bodies: WebhookBodies
  readonly clock: Clock
  readonly metrics: Metrics
  /** Null if the market was removed. */
  readonly market: (number: MarketNumber) => Pick<MarketSummary, 'eventSlug' | 'category'> | null
}

interface Event {
  readonly type: EventType
  readonly update: EventUpdate
  readonly happening: Happening
  readonly candidates: ReadonlySet<Webhook>
}

export class WebhookEvents implements Watcher {
  readonly name = 'webhooks'
  readonly #parts: WebhookEventParts
  readonly #typesByKind = new Map<Update['kind'], readonly EventType[]>()
  readonly #bases = new Map<WebhookNumber, PriceBases>()

  constructor(parts: WebhookEventParts) {
    this.#parts = parts
    for (const type of parts.bodies.types) {
      for (const kind of type.updateKinds) {
        this.#typesByKind.set(kind, [...(this.#typesByKind.get(kind) ?? []), type])
      }
    }
  }

  onUpdate(update: Update): void {
    if (update.kind === 'status' || update.kind === 'gap') return
    this.#take(update)
  }

  /**
   * Handles a whale row that the stream does not publish: it is below the stream's minimum, or it changed after its
   * publication. Each webhook gets at most one event per whale.
   */
  onWhaleRow(market: MarketRef, whale: StoredWhale): void {
    const { timeMs: venueTimeMs, receivedAtMs } = whale
    this.#take({ kind: 'whale', market, whale, venueTimeMs, receivedAtMs })
  }

  /**
   * An older opportunity may match the minimum age of more webhooks. The index is checked first, because each of
   * thousands of opportunities is refreshed four times a second.
   */
  onArbitrageRefresh(update: ArbitrageRefresh): void {
    const beforeMs = update.previousPeak?.ageMs ?? 0
    if (this.#parts.index.hasAge(beforeMs, update.peak.ageMs)) this.#take(update)
  }

  /** Sends a trade whose wallet became known to the webhooks that match only now. */
  onCompletedTrade(
    market: MarketRef,
    trade: Trade,
    { wallet, previousWallets: otherWallets, role }: TradeCompletion,
  ): void {
    const nowMs = this.#parts.clock.nowMs()
    const update = {
      kind: 'trade',
      market,
      trade,
      venueTimeMs: trade.timeMs,
      receivedAtMs: nowMs,
    } as const
    const wallets = otherWallets.map((one) => one.toLowerCase())
    const before = {
      wallets,
      taker: role === 'taker' ? null : (trade.taker?.toLowerCase() ?? null),
    }
    for (const type of this.#typesByKind.get('trade') ?? []) {
      const subscribers = this.#parts.index.of(type.name)
      if (subscribers === null) continue
      const added = wallet.toLowerCase()
      const candidates = subscribers.candidates(market.id.toLowerCase(), [added])
      if (candidates.size === 0 || this.#isTooOld(type, update)) continue
      for (const happening of type.happenings(update)) {
        const complete = {
          ...happening,
          wallets: [...new Set([...wallets, ...happening.wallets, added])],
        }
        const factsBefore = this.#factsOf({ ...happening, ...before })
        this.#deliver({ type, update, happening: complete, candidates }, (filters) =>
          matchesFilters(filters, type, factsBefore),
        )
      }
    }
  }

  onMarketRemoved(market: MarketNumber): void {
    for (const bases of this.#bases.values()) bases.remove(market)
  }

  removeBases(webhook: WebhookNumber): void {
    this.#bases.delete(webhook)
  }

  #take(update: EventUpdate): void {
    const types = this.#typesByKind.get(update.kind)
    if (types === undefined) return
    for (const type of types) {
      const subscribers = this.#parts.index.of(type.name)
      if (subscribers === null) continue
      for (const happening of type.happenings(update)) {
        const marketId = happening.market.id.toLowerCase()
        const candidates = subscribers.candidates(marketId, happening.wallets)
        if (candidates.size === 0 || this.#isTooOld(type, update)) continue
        const event = { type, update, happening, candidates }
        if (happening.price === null) this.#deliver(event, null)
        else this.#deliverPrice(event, happening.price)
      }
    }
  }

  /** `wasSent`: whether webhooks with these filters already got the event. */
  #deliver(
    { type, update, happening, candidates }: Event,
    wasSent: ((filters: WebhookFilters) => boolean) | null,
  ): void {
    const facts = this.#factsOf(happening)
    let made: Parameters<Deliveries['create']>[1] | null = null
    for (const { number, filters } of candidates) {
      if (!matchesFilters(filters, type, facts) || wasSent?.(filters) === true) continue
      if (!this.#parts.deliveries.admits(number)) continue
      made ??= {
        eventId: eventId(type.name, ...happening.idParts()),
        eventType: type.name,
        body: this.#parts.bodies.write(type.name, update, null),
      }
      this.#parts.deliveries.create(number, made, happening.originMs)
    }
  }

  /**
   * Compares the price with each webhook's base, which is the last price that it got. The first price of a market
   * becomes its base without an event.
   */
  #deliverPrice(event: Event, price: PriceMicros): void {
    const { type, update, happening, candidates } = event
    const { market, originMs } = happening
    // The change filter does not apply to a first price, so the facts have the greatest possible change.
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
      greatest ??= { ...this.#factsOf(happening), change: PRICE_ONE }
      const measured = change === null ? greatest : { ...greatest, change: priceMicros(change) }
      if (!matchesFilters(webhook.filters, type, measured)) continue
      if (!isFirst) {
        // The base stays unchanged, so that the next event states the complete change.
        if (!this.#parts.deliveries.admits(webhook.number)) continue
        const parts = [webhook.id, market.id, String(base), String(price), ...happening.idParts()]
        const id = this.#newIdOf(webhook.number, [type.name, ...parts])
        bodies ??= new Map()
        const body =
          bodies.get(base) ?? this.#parts.bodies.write(type.name, update, basePrice(base))
        bodies.set(base, body)
        const made = { eventId: id, eventType: type.name, body }
        this.#parts.deliveries.create(webhook.number, made, originMs)
      }
      bases.put(market.number, price)
    }
  }

  /** Makes ids distinct if a price makes the same move twice within a millisecond. */
  #newIdOf(webhook: WebhookNumber, [type = '', ...parts]: readonly string[]): string {
    let id = eventId(type, ...parts)
    for (let time = 2; this.#parts.outbox.numberOf(webhook, id) !== null; time += 1) {
      id = eventId(type, ...parts, String(time))
    }
    return id
  }

  #basesOf(webhook: WebhookNumber): PriceBases {
    let bases = this.#bases.get(webhook)
    if (bases === undefined) {
      bases = new PriceBases(webhook, this.#parts.outbox)
      this.#bases.set(webhook, bases)
    }
    return bases
  }

  #isTooOld({ name, expires }: EventType, { venueTimeMs, receivedAtMs }: EventUpdate): boolean {
    if (expires !== 'unmade') return false
    const ageMs = this.#parts.clock.nowMs() - Math.min(venueTimeMs, receivedAtMs)
    const isTooOld = ageMs >= webhookEventAgeMsMax
    if (isTooOld) {
      const help = 'Trades and whales that were too old to be delivered.'
      this.#parts.metrics.count('webhook_events_too_old_total', help, { type: name }).inc()
    }
    return isTooOld
  }

  #factsOf(happening: Happening): EventFacts {
    const { market, labels } = happening
    const { eventSlug = null, category = null } = labels ?? this.#parts.market(market.number) ?? {}
    const { wallets, taker, usd, side, takerSide, peak, previousPeak } = happening
    return {
      marketId: market.id,
      venue: market.venue,
      wallets,
      taker,
      usd,
      side,
      takerSide,
      change: null,
      peak,
      previousPeak,
      eventSlug,
      category,
    }
  }
}
