// The webhooks of all accounts. A change takes effect at once and resolves when it is on disk. A change that cannot be
// stored is reverted.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../engine/clock.ts'
import { assert, EngineError } from '../../engine/errors.ts'
import { type AccountId, webhookId } from '../../engine/ids.ts'
import { webhooksPerAccountMax } from '../../engine/limits.ts'
import type { MarketRef } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { Watcher } from '../../engine/publisher.ts'
import type { Random } from '../../engine/random.ts'
import { DAY_MS, timeMs } from '../../engine/units.ts'
import { type ChatFormat, chatOf, TELEGRAM_URL } from '../../engine/webhooks/chat-message.ts'
import { eventId } from '../../engine/webhooks/event-id.ts'
import type { WebhookBodies } from '../../engine/webhooks/event-type.ts'
import type { Caller } from '../../engine/webhooks/post.ts'
import type { SecretBox } from '../../engine/webhooks/secret-box.ts'
import { makeSecret } from '../../engine/webhooks/signature.ts'
import type {
  DisabledReason,
  StoredDelivery,
  Webhook,
  WebhookNumber,
} from '../../engine/webhooks/webhook.ts'
import type { WebhookShare } from '../../engine/webhooks/webhook-share.ts'
import type {
  OutboxTable,
  Storage,
  StoredWhale,
  WebhookTable,
} from '../../storage/contract/storage.ts'
import type { AccountWatcher, DeactivationReason } from '../accounts/directory.ts'
import type { WhaleWatcher } from '../whales/whales.ts'
import { type WebhookBookParts, WebhookBooks } from './book-holds.ts'
import { Deliveries } from './deliveries.ts'
import { type WebhookEventParts, WebhookEvents } from './events.ts'
import { OutboxHousekeeping } from './outbox-housekeeping.ts'
import { hostOf } from './queue.ts'
import type {
  DeliveryDetail,
  DeliveryView,
  WebhookChange,
  WebhookRequest,
  WebhooksView,
  WebhookView,
} from './views.ts'
import { WebhookIndex } from './webhook-index.ts'

/** A previous secret signs for this long after a rotation. */
export const rotationMs = DAY_MS
/**
 * Maximum number of previous secrets that sign. The oldest ends early when full. Each adds a signature to every
 * request.
 */
export const previousSecretsMax = 8

interface WebhookParts {
  readonly storage: {
    readonly webhooks: WebhookTable
    readonly outbox: OutboxTable
    committed: Storage['committed']
  }
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Metrics
  readonly caller: Pick<Caller, 'post'>
  readonly box: SecretBox
  readonly bodies: WebhookBodies
  readonly market: WebhookEventParts['market']
  /** Without this part, the books of filtered markets are not covered for webhooks. */
  readonly books?: WebhookBookParts
  /** Webhooks of an inactive account get no new deliveries. Their pending deliveries wait. */
  readonly isAccountActive: (account: AccountId) => boolean
  /** Whether a host must answer a test before it gets events (WEBHOOK_VERIFY). Default: false. */
  readonly mustVerify?: boolean
  readonly shareOf: (account: AccountId) => WebhookShare
  /** For tests. */
  readonly pendingMax?: number
  readonly pendingTotalMax?: number
}

export class Webhooks implements WebhooksView, AccountWatcher, WhaleWatcher {
  readonly watcher: Watcher
  readonly #parts: WebhookParts
  readonly #byId = new Map<string, Webhook>()
  readonly #byAccount = new Map<AccountId, Set<string>>()
  /** Number of webhooks per account that are being stored. They count towards the account's limit. */
  readonly #creating = new Map<AccountId, number>()
  readonly #deletedWhileCreating = new Set<AccountId>()
  readonly #index = new WebhookIndex()
  /** Null: books are not held. */
  readonly #books: WebhookBooks | null
  readonly #deliveries: Deliveries
  readonly #events: WebhookEvents
  readonly #housekeeping: OutboxHousekeeping

  constructor(parts: WebhookParts) {
    this.#parts = parts
    const { storage, clock, log, metrics } = parts
    const { outbox } = storage
    this.#books =
      parts.books === undefined
        ? null
        : new WebhookBooks({ ...parts.books, clock, types: parts.bodies.types })
    const disable = (webhook: Webhook, reason: DisabledReason) => this.#disable(webhook, reason)
    const verify = ({ id }: Webhook) => this.#verify(id)
    const deliveries = new Deliveries({ ...parts, outbox, storage, disable, verify })
    this.#deliveries = deliveries
    const { bodies, market } = parts
    const index = this.#index
    this.#events = new WebhookEvents({ index, deliveries, outbox, bodies, clock, metrics, market })
    this.#housekeeping = new OutboxHousekeeping({ outbox, deliveries, clock, log })
    this.watcher = this.#events
    for (const webhook of storage.webhooks.all()) this.#addWebhook(webhook)
    metrics.gauge('webhooks', 'Registered webhooks.', () => this.#byId.size)
  }

  start(): void {
    const numbers = new Set<WebhookNumber>()
    for (const { number } of this.#byId.values()) numbers.add(number)
    this.#housekeeping.start((number) => numbers.has(number))
    this.#deliveries.start()
    this.#books?.start()
  }

  /** Aborts attempts, whose deliveries stay pending. Must be called before the Caller is stopped. */
  stop(): void {
    this.#books?.stop()
    this.#housekeeping.stop()
    this.#deliveries.stop()
  }

  /** Never throws. */
  onWhaleRow(market: MarketRef, whale: StoredWhale): void {
    try {
      this.#events.onWhaleRow(market, whale)
    } catch (error) {
      this.#parts.log.error({ err: error, market: market.id }, 'a whale was not delivered')
    }
  }

  list(account: AccountId): readonly WebhookView[] {
    const found = [...this.#of(account)]
    return found.sort((one, other) => one.number - other.number).map((each) => this.#viewOf(each))
  }

  get(account: AccountId, id: string): WebhookView | null {
    const webhook = this.#find(account, id)
    return webhook === null ? null : this.#viewOf(webhook)
  }

  deliveries(
    account: AccountId,
    id: string,
    query: Parameters<WebhooksView['deliveries']>[2],
  ): readonly DeliveryView[] | null {
    const webhook = this.#find(account, id)
    if (webhook === null) return null
    return this.#parts.storage.outbox.list({ ...query, webhook: webhook.number })
  }

  delivery(account: AccountId, id: string, number: number): DeliveryDetail | null {
    const webhook = this.#find(account, id)
    if (webhook === null) return null
    const delivery = this.#parts.storage.outbox.get(webhook.number, number)
    if (delivery === null) return null
    const { format, url } = webhook
    if (format === 'standard') return { ...delivery, format }
    return { ...delivery, format, body: this.#parts.bodies.chat(format, [delivery.body], url) }
  }

  chatMessage(format: ChatFormat, body: Uint8Array): Uint8Array {
    return this.#parts.bodies.chat(format, [body], EXAMPLE_CHAT_URL)
  }

  #find(account: AccountId, id: string): Webhook | null {
    const webhook = this.#byId.get(id)
    return webhook?.accountId === account ? webhook : null
  }

  #viewOf(webhook: Webhook): WebhookView {
    const { secret: _, previousSecrets, number, ...shown } = webhook
    this.#deliveries.saveThrottled(number)
    const { counts, throttledCount, failingSinceMs } = this.#parts.storage.outbox.state(number)
    const untilMs = previousSecrets[0]?.untilMs ?? null
    const isOver = untilMs === null || untilMs <= this.#parts.clock.nowMs()
    const previousSecretUntilMs = isOver ? null : untilMs
    return { ...shown, counts, throttledCount, failingSinceMs, previousSecretUntilMs }
  }

  async create(
    account: AccountId,
    request: WebhookRequest,
  ): Promise<{ webhook: WebhookView; secret: string }> {
    const creating = this.#creating.get(account) ?? 0
    if ((this.#byAccount.get(account)?.size ?? 0) + creating >= webhooksPerAccountMax) {
      const detail = `an account has at most ${webhooksPerAccountMax} webhooks`
      throw new EngineError('BAD_REQUEST', detail)
    }
    const { url, format, eventTypes, filters, description } = request
    this.#checkFilters(account, request)
    checkUrl(request)
    const id = webhookId(`wh_${randomBytes(12).toString('hex')}`)
    const secret = request.secret ?? makeSecret()
    this.#creating.set(account, creating + 1)
    try {
      const webhook = await stored(
        this.#parts.storage.webhooks.create({
          ...{ id, accountId: account, url, format, eventTypes, filters, description },
          ...{ isActive: true, disabledReason: null, previousSecrets: [] },
          isVerified: this.#isVerified(account, url),
          createdAtMs: this.#parts.clock.nowMs(),
          secret: this.#parts.box.seal(secret, id),
        }),
      )
      if (this.#deletedWhileCreating.has(account)) {
        throw new EngineError('UNAUTHORIZED', 'missing or invalid credential')
      }
      this.#addWebhook(webhook)
      if (!webhook.isVerified) this.#trySendTest(webhook)
      return { webhook: this.#viewOf(webhook), secret }
    } finally {
      const left = (this.#creating.get(account) ?? 1) - 1
      if (left > 0) this.#creating.set(account, left)
      else {
        this.#creating.delete(account)
        this.#deletedWhileCreating.delete(account)
      }
    }
  }

  /**
   * Throws EngineError BAD_REQUEST if a type needs a filter that is missing. Accounts of higher tiers need no filter.
   */
  #checkFilters(
    account: AccountId,
    { eventTypes, filters }: Pick<Webhook, 'eventTypes' | 'filters'>,
  ): void {
    if (isNarrow(filters) || this.#parts.shareOf(account).mayTakeAll) return
    const { types } = this.#parts.bodies
    const type = types.find(({ name, needsFilter }) => needsFilter && eventTypes.includes(name))
    if (type === undefined) return
    const accepted = 'market_ids, event_slugs, wallets, taker_wallets, or min_usd above 0'
    const detail = `${type.name} of everything needs the tier pro or enterprise; with the tier free give at least one of filters: ${accepted}`
    throw new EngineError('BAD_REQUEST', detail)
  }

  async change(account: AccountId, id: string, change: WebhookChange): Promise<WebhookView | null> {
    const webhook = this.#find(account, id)
    if (webhook === null) return null
    // A webhook created before this rule stays valid, and its other fields can be changed.
    if (change.eventTypes ?? change.filters) this.#checkFilters(account, { ...webhook, ...change })
    if (change.url !== undefined) checkUrl({ ...webhook, url: change.url })
    // If `isActive` is given, the account itself set the state, so no reason is stored.
    const disabledReason = change.isActive === undefined ? webhook.disabledReason : null
    const { url = webhook.url } = change
    const isSame = hostOf({ url }) === hostOf(webhook)
    const isVerified = isSame ? webhook.isVerified : this.#isVerified(account, url)
    const set = { ...change, disabledReason, isVerified }
    const changed = await this.#replace(webhook, { ...webhook, ...set })
    if (!isVerified && (change.url !== undefined || change.isActive)) this.#trySendTest(changed)
    if (changed.isActive && !webhook.isActive) await stored(this.#parts.storage.committed())
    return this.#viewOf(changed)
  }

  async remove(account: AccountId, id: string): Promise<boolean> {
    const webhook = this.#find(account, id)
    if (webhook === null) return false
    this.#drop(webhook)
    try {
      await stored(this.#parts.storage.webhooks.remove(webhook))
    } catch (error) {
      // The webhook is still on disk, so it is shown again and can be removed later.
      this.#addWebhook(webhook)
      throw error
    }
    this.#housekeeping.clear(webhook.number)
    return true
  }

  async rotateSecret(
    account: AccountId,
    id: string,
    given: string | null,
  ): Promise<{ webhook: WebhookView; secret: string } | null> {
    const webhook = this.#find(account, id)
    if (webhook === null) return null
    const secret = given ?? makeSecret()
    const nowMs = this.#parts.clock.nowMs()
    const old = { secret: webhook.secret, untilMs: timeMs(nowMs + rotationMs) }
    // Earlier secrets stay valid for their full time, because a client that rotates twice may not have received the
    // first result. A secret that cannot be decrypted is dropped.
    const { box } = this.#parts
    const previousSecrets = [old, ...webhook.previousSecrets]
      .filter(({ secret: sealed, untilMs }) => nowMs < untilMs && box.opens(sealed, webhook.id))
      .slice(0, previousSecretsMax)
    const changed = await this.#replace(webhook, {
      ...webhook,
      secret: box.seal(secret, webhook.id),
      previousSecrets,
    })
    return { webhook: this.#viewOf(changed), secret }
  }

  async test(account: AccountId, id: string): Promise<DeliveryView | null> {
    const webhook = this.#find(account, id)
    if (webhook === null) return null
    const { body: _, ...delivery } = this.#sendTest(webhook)
    await stored(this.#parts.storage.committed())
    return delivery
  }

  #sendTest(webhook: Webhook): StoredDelivery {
    const nowMs = this.#parts.clock.nowMs()
    const { bodies } = this.#parts
    const type = bodies.types.find(({ isManual }) => isManual)
    assert(type !== undefined, 'one event type is manual')
    const event = {
      eventId: eventId(type.name, webhook.id, randomBytes(16).toString('hex')),
      eventType: type.name,
      body: bodies.write(type.name, { kind: 'test', webhook: webhook.id, timeMs: nowMs }, null),
    }
    const record = this.#deliveries.create(webhook.number, event, nowMs)
    // The id of the event is new, so only a full disk can be the reason.
    if (record === null) throw new EngineError('INTERNAL', 'the change could not be stored')
    this.#deliveries.prioritize(webhook.number, record.number)
    return record
  }

  /**
   * Sends a test if possible. The change that requires the test is already stored, and its owner can request another
   * test.
   */
  #trySendTest(webhook: Webhook): void {
    try {
      this.#sendTest(webhook)
    } catch (error) {
      this.#parts.log.warn({ err: error, webhook: webhook.id }, 'a webhook test was not created')
    }
  }

  /**
   * Whether a webhook to this URL gets events without a test. True if the account has a verified webhook to the same
   * host, or if no verification is required.
   */
  #isVerified(account: AccountId, url: string): boolean {
    if (this.#parts.mustVerify !== true) return true
    const host = hostOf({ url })
    return this.#of(account).some((other) => other.isVerified && hostOf(other) === host)
  }

  #verify(id: string): void {
    const webhook = this.#byId.get(id)
    if (webhook === undefined || webhook.isVerified) return
    for (const other of this.#of(webhook.accountId)) {
      if (other.isVerified || hostOf(other) !== hostOf(webhook)) continue
      const changed = { ...other, isVerified: true }
      this.#put(changed)
      this.#inBackground(this.#parts.storage.webhooks.put(changed), changed)
    }
  }

  async retry(account: AccountId, id: string, number: number): Promise<DeliveryView | null> {
    const webhook = this.#find(account, id)
    if (webhook === null) return null
    const delivery = this.#deliveries.retry(webhook.number, number)
    if (delivery !== null) await stored(this.#parts.storage.committed())
    return delivery
  }

  #disable(webhook: Webhook, disabledReason: DisabledReason): void {
    const { id } = webhook
    this.#parts.log.warn({ webhook: id, disabledReason }, 'a webhook is disabled')
    const help = 'Webhooks disabled, by reason.'
    this.#parts.metrics.count('webhooks_disabled_total', help, { reason: disabledReason }).inc()
    // Takes effect even if the write fails. After a restart the next failure disables the webhook again.
    const changed = { ...webhook, isActive: false, disabledReason }
    this.#put(changed)
    this.#inBackground(this.#parts.storage.webhooks.put(changed), changed)
  }

  #inBackground(change: Promise<unknown>, { id }: Webhook): void {
    change.catch((error: unknown) => {
      this.#parts.log.error({ err: error, webhook: id }, 'a change of a webhook was not stored')
    })
  }

  async #replace(webhook: Webhook, changed: Webhook): Promise<Webhook> {
    this.#put(changed)
    try {
      await stored(this.#parts.storage.webhooks.put(changed))
    } catch (error) {
      if (this.#byId.get(webhook.id) === changed) this.#put(webhook)
      throw error
    }
    return changed
  }

  #addWebhook(webhook: Webhook): void {
    const { accountId, id } = webhook
    this.#byAccount.set(accountId, (this.#byAccount.get(accountId) ?? new Set()).add(id))
    this.#put(webhook)
  }

  #put(webhook: Webhook): void {
    const { isActive, isVerified, accountId } = webhook
    const isSubscribed = isActive && isVerified && this.#parts.isAccountActive(accountId)
    this.#byId.set(webhook.id, webhook)
    this.#deliveries.put(isSubscribed ? webhook : { ...webhook, isActive: false })
    if (isSubscribed) {
      this.#index.put(webhook)
      this.#books?.put(webhook)
    } else {
      this.#index.remove(webhook.id)
      this.#books?.remove(webhook.id)
    }
    const { types } = this.#parts.bodies
    const isComparing = types.some(
      ({ name, comparesPrice }) => comparesPrice && webhook.eventTypes.includes(name),
    )
    if (!isSubscribed || !isComparing) this.#events.removeBases(webhook.number)
  }

  #drop(webhook: Webhook): void {
    const ids = this.#byAccount.get(webhook.accountId)
    ids?.delete(webhook.id)
    if (ids?.size === 0) this.#byAccount.delete(webhook.accountId)
    this.#byId.delete(webhook.id)
    this.#index.remove(webhook.id)
    this.#books?.remove(webhook.id)
    this.#deliveries.close(webhook.number)
    this.#events.removeBases(webhook.number)
  }

  /** Stops the webhooks of a disabled account. Removes those of a deleted account in the same tick. */
  onAccountDeactivated(account: AccountId, reason: DeactivationReason): void {
    if (reason === 'deleted' && this.#creating.has(account)) this.#removeCreating(account)
    for (const webhook of this.#of(account)) {
      if (reason === 'disabled') this.#put(webhook)
      else this.#inBackground(this.remove(account, webhook.id), webhook)
    }
  }

  /** Webhooks that are being stored are already in the table. They are removed in the same tick as their account. */
  #removeCreating(account: AccountId): void {
    this.#deletedWhileCreating.add(account)
    const { webhooks } = this.#parts.storage
    for (const webhook of [...webhooks.all()]) {
      if (webhook.accountId !== account || this.#byId.has(webhook.id)) continue
      this.#inBackground(webhooks.remove(webhook), webhook)
    }
  }

  onAccountEnabled(account: AccountId): void {
    for (const webhook of this.#of(account)) this.#put(webhook)
  }

  #of(account: AccountId): readonly Webhook[] {
    const found: Webhook[] = []
    for (const id of this.#byAccount.get(account) ?? []) {
      const webhook = this.#byId.get(id)
      if (webhook !== undefined) found.push(webhook)
    }
    return found
  }
}

/** Only the chat of this URL is used. */
const EXAMPLE_CHAT_URL = `${TELEGRAM_URL.replace('<token>', 'token')}-1001234567890`

/** Throws EngineError BAD_REQUEST if the URL has no chat but its format requires one. */
function checkUrl({ format, url }: Pick<Webhook, 'format' | 'url'>): void {
  if (format !== 'telegram' || chatOf(url) !== null) return
  const detail = `a webhook of format telegram has the url ${TELEGRAM_URL}<number or @name>`
  throw new EngineError('BAD_REQUEST', detail)
}

function isNarrow(filters: Webhook['filters']): boolean {
  const { marketIds, eventSlugs, wallets, takerWallets, minUsd } = filters
  return (
    [marketIds, eventSlugs, wallets, takerWallets].some((list) => list !== null) ||
    (minUsd ?? 0) > 0
  )
}

/** Rejects with EngineError INTERNAL if the disk rejects the change. */
async function stored<Result>(change: Promise<Result>): Promise<Result> {
  try {
    return await change
  } catch (cause) {
    if (cause instanceof EngineError) throw cause
    throw new EngineError('INTERNAL', 'the change could not be stored', { cause })
  }
}
