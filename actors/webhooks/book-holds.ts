// Holds the books of markets that active webhooks name in `market_ids` or `event_slugs`, if an event type of the
// webhook depends on books. Markets that appear or end later are found once a minute.

import { type Clock, pause } from '../../engine/clock.ts'
import type { Update } from '../../engine/events.ts'
import type { VenueKey, WebhookId } from '../../engine/ids.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { WebhookBodies } from '../../engine/webhooks/event-type.ts'
import type { Webhook } from '../../engine/webhooks/webhook.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import type { CatalogView, EngineView, MarketView } from '../views.ts'

const REFRESH_MS = 60_000
/** Time after the start at which the venues know the markets of the last run. */
const FIRST_MS = 1_000
/** Maximum held markets of one event. Those with the highest 24-hour volume are held. */
const EVENT_MARKETS_MAX = 500
const MARKETS_MAX = 2_000
const BOOK_UPDATES: ReadonlySet<Update['kind']> = new Set(['price', 'arbitrage'])

interface HoldingWebhook {
  readonly webhook: Webhook
  readonly held: Map<MarketNumber, VenueKey>
}

export interface WebhookBookParts {
  readonly catalog: Pick<CatalogView, 'find' | 'eventBySlug'>
  readonly coverage: EngineView['coverage']
}

export class WebhookBooks {
  readonly #parts: WebhookBookParts
  readonly #clock: Clock
  readonly #bookTypes: ReadonlySet<string>
  readonly #webhooks = new Map<WebhookId, HoldingWebhook>()
  readonly #stopped = new AbortController()

  constructor(
    parts: WebhookBookParts & { readonly clock: Clock; readonly types: WebhookBodies['types'] },
  ) {
    this.#parts = parts
    this.#clock = parts.clock
    const types = parts.types.filter(({ updateKinds }) =>
      updateKinds.some((kind) => BOOK_UPDATES.has(kind)),
    )
    this.#bookTypes = new Set(types.map(({ name }) => name))
  }

  start(): void {
    void this.#refreshForever()
  }

  stop(): void {
    this.#stopped.abort()
  }

  put(webhook: Webhook): void {
    const { marketIds, eventSlugs } = webhook.filters
    const isNeeded = webhook.eventTypes.some((type) => this.#bookTypes.has(type))
    if (!isNeeded || (marketIds === null && eventSlugs === null)) return this.remove(webhook.id)
    const held = this.#webhooks.get(webhook.id)?.held ?? new Map<MarketNumber, VenueKey>()
    const changed = { webhook, held }
    this.#webhooks.set(webhook.id, changed)
    this.#refresh(changed)
  }

  remove(id: WebhookId): void {
    const removed = this.#webhooks.get(id)
    if (removed === undefined) return
    this.#webhooks.delete(id)
    for (const market of removed.held.keys()) this.#release(removed, market)
  }

  async #refreshForever(): Promise<void> {
    const { signal } = this.#stopped
    for (let waitMs = FIRST_MS; ; waitMs = REFRESH_MS) {
      await pause(this.#clock, waitMs, signal)
      if (signal.aborted) return
      const yielder = new EventLoopYielder(this.#clock)
      for (const [id, entry] of this.#webhooks) {
        if (this.#webhooks.get(id) === entry) this.#refresh(entry)
        await yielder.yieldIfDue()
      }
    }
  }

  #refresh(entry: HoldingWebhook): void {
    const { webhook, held } = entry
    const wanted = this.#marketsOf(webhook)
    for (const market of held.keys()) if (!wanted.has(market)) this.#release(entry, market)
    for (const [market, venue] of wanted) {
      if (held.has(market)) continue
      const coverage = this.#parts.coverage(venue)
      if (coverage?.hold(market, webhook.accountId, 'webhook') === true) held.set(market, venue)
    }
  }

  #release({ webhook, held }: HoldingWebhook, market: MarketNumber): void {
    const venue = held.get(market)
    held.delete(market)
    if (venue !== undefined) {
      this.#parts.coverage(venue)?.release(market, webhook.accountId, 'webhook')
    }
  }

  /** The unresolved markets in `market_ids`, or without that filter those of `event_slugs`. */
  #marketsOf({ filters }: Webhook): ReadonlyMap<MarketNumber, VenueKey> {
    const { catalog } = this.#parts
    const { marketIds, eventSlugs, venue } = filters
    const found = new Map<MarketNumber, VenueKey>()
    const add = ({ ref, summary }: MarketView): void => {
      const isWanted = summary.status !== 'resolved' && (venue === null || venue === ref.venue)
      if (isWanted && found.size < MARKETS_MAX) found.set(ref.number, ref.venue)
    }
    for (const id of marketIds ?? []) {
      const view = catalog.find(id)
      if (view !== null) add(view)
    }
    for (const slug of marketIds === null ? (eventSlugs ?? []) : []) {
      for (const view of catalog.eventBySlug(slug)?.markets(EVENT_MARKETS_MAX) ?? []) add(view)
    }
    return found
  }
}
