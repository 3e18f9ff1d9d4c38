// Finds the webhooks that may match an update: by event type, and by market or wallet if the webhook's filters name
// any. The complete filters of the candidates are checked afterwards (engine/webhooks/filter.ts).

import type { WebhookId } from '../../engine/ids.ts'
import type { Webhook, WebhookEventType } from '../../engine/webhooks/webhook.ts'

const NO_WEBHOOKS: ReadonlySet<Webhook> = new Set()

/** The active webhooks of one event type. Each is in exactly one of the three collections. */
class TypeSubscribers {
  /** Webhooks whose filters name markets, by market id in lower case. */
  readonly #byMarket = new Map<string, Set<Webhook>>()
  /** Webhooks whose filters name wallets but no markets, by wallet in lower case. */
  readonly #byWallet = new Map<string, Set<Webhook>>()
  readonly #others = new Set<Webhook>()

  add(webhook: Webhook): void {
    const { marketIds, wallets } = keysOf(webhook)
    if (marketIds !== null) addUnder(this.#byMarket, marketIds, webhook)
    else if (wallets !== null) addUnder(this.#byWallet, wallets, webhook)
    else this.#others.add(webhook)
  }

  remove(webhook: Webhook): void {
    const { marketIds, wallets } = keysOf(webhook)
    if (marketIds !== null) removeUnder(this.#byMarket, marketIds, webhook)
    else if (wallets !== null) removeUnder(this.#byWallet, wallets, webhook)
    else this.#others.delete(webhook)
  }

  get isEmpty(): boolean {
    return this.#byMarket.size === 0 && this.#byWallet.size === 0 && this.#others.size === 0
  }

  /**
   * Returns all webhooks that may match an event of this market and these wallets (in lower case), and possibly some
   * that do not match. Allocates nothing if only one collection has candidates.
   */
  candidates(marketId: string, wallets: readonly string[]): ReadonlySet<Webhook> {
    let found = this.#others.size > 0 ? this.#others : NO_WEBHOOKS
    found = joined(found, this.#byMarket.get(marketId))
    if (this.#byWallet.size === 0) return found
    for (const wallet of wallets) found = joined(found, this.#byWallet.get(wallet))
    return found
  }
}

const keysOf = ({ filters: { marketIds, wallets, takerWallets } }: Webhook) => ({
  marketIds: marketIds?.map((id) => id.toLowerCase()) ?? null,
  wallets: wallets ?? takerWallets,
})

class MinimumAges {
  readonly #counts = new Map<number, number>()
  /** Null: must be computed again. */
  #sorted: readonly number[] | null = null

  count({ filters: { minAgeMs } }: Webhook, difference: 1 | -1): void {
    if (minAgeMs === null) return
    const count = (this.#counts.get(minAgeMs) ?? 0) + difference
    if (count > 0) this.#counts.set(minAgeMs, count)
    else this.#counts.delete(minAgeMs)
    this.#sorted = null
  }

  /** Whether some age is above `beforeMs` and at most `ageMs`. A binary search, because it runs for each refresh. */
  hasBetween(beforeMs: number, ageMs: number): boolean {
    this.#sorted ??= [...this.#counts.keys()].sort((one, other) => one - other)
    const ages = this.#sorted
    let [low, high] = [0, ages.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((ages[middle] ?? 0) > beforeMs) high = middle
      else low = middle + 1
    }
    return (ages[low] ?? Number.POSITIVE_INFINITY) <= ageMs
  }
}

export class WebhookIndex {
  readonly #byType = new Map<WebhookEventType, TypeSubscribers>()
  readonly #webhooks = new Map<WebhookId, Webhook>()
  readonly #ages = new MinimumAges()

  put(webhook: Webhook): void {
    this.remove(webhook.id)
    this.#webhooks.set(webhook.id, webhook)
    this.#ages.count(webhook, 1)
    for (const type of new Set(webhook.eventTypes)) {
      const subscribers = this.#byType.get(type) ?? new TypeSubscribers()
      subscribers.add(webhook)
      this.#byType.set(type, subscribers)
    }
  }

  remove(id: WebhookId): void {
    const webhook = this.#webhooks.get(id)
    if (webhook === undefined) return
    this.#webhooks.delete(id)
    this.#ages.count(webhook, -1)
    for (const type of webhook.eventTypes) {
      const subscribers = this.#byType.get(type)
      subscribers?.remove(webhook)
      if (subscribers?.isEmpty === true) this.#byType.delete(type)
    }
  }

  hasAge(beforeMs: number, ageMs: number): boolean {
    return this.#ages.hasBetween(beforeMs, ageMs)
  }

  of(type: WebhookEventType): TypeSubscribers | null {
    return this.#byType.get(type) ?? null
  }
}

function addUnder(
  byKey: Map<string, Set<Webhook>>,
  keys: readonly string[],
  webhook: Webhook,
): void {
  for (const key of keys) byKey.set(key, (byKey.get(key) ?? new Set()).add(webhook))
}

function removeUnder(
  byKey: Map<string, Set<Webhook>>,
  keys: readonly string[],
  webhook: Webhook,
): void {
  for (const key of keys) {
    const webhooks = byKey.get(key)
    webhooks?.delete(webhook)
    if (webhooks?.size === 0) byKey.delete(key)
  }
}

function joined(
  found: ReadonlySet<Webhook>,
  more: ReadonlySet<Webhook> | undefined,
): ReadonlySet<Webhook> {
  if (more === undefined || more === found) return found
  return found.size === 0 ? more : new Set([...found, ...more])
}
