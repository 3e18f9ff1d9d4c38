// Webhook deliveries with their bodies, by webhook and number. Indexes list due deliveries, finished deliveries and
// event ids. Each webhook has one row of totals. All rows of a change are put in one event-loop tick or rejected
// together, so the totals match the other rows after a crash.

import type { MarketNumber } from '../engine/market/market.ts'
import { type PriceMicros, type TimeMs, timeMs } from '../engine/units.ts'
import {
  type Delivery,
  type DeliveryStatus,
  type StoredDelivery,
  type WebhookNumber,
  webhookNumber,
} from '../engine/webhooks/webhook.ts'
import type { AttemptKind, NewDelivery, OutboxState, OutboxWatcher } from './contract/webhooks.ts'
import type { Environment } from './lmdb/environment.ts'
import type { KeyRange } from './lmdb/pending.ts'
import { RecordTable } from './lmdb/record-table.ts'
import { EVERY_KEY, type Table } from './lmdb/table.ts'
import { groupKey, LAST, lastPriceKey, numberKey, readInteger } from './records/keys.ts'
import {
  DUE_NUMBER_AT,
  DUE_TIME_AT,
  dueKey,
  dueRange,
  eventKey,
  webhookRange,
} from './records/outbox-keys.ts'
import {
  countsOf,
  deliveryCodec,
  finishedValue,
  lastPriceCodec,
  noTotals,
  type OutboxTotals,
  readFinished,
  storedFinished,
  totalsCodec,
} from './records/outbox-records.ts'
import { TABLES } from './tables.ts'

const PRESENT = Buffer.of(1)
const ATTEMPT_KINDS: readonly AttemptKind[] = ['first', 'retry']
const ROWS_A_CHANGE = 6

interface DuePosition {
  readonly dueAtMs: TimeMs
  readonly number: number
}

interface WebhookEntry {
  readonly key: Buffer
  readonly totals: OutboxTotals
  /** No delivery below this number is pending. The search for the oldest pending delivery starts here. */
  pendingFrom: number
}

/**
 * Reads are synchronous and include all puts of this process. Puts of one event-loop tick commit together with the
 * tick's other market rows.
 */
export class Outbox {
  readonly #environment: Environment
  readonly #deliveries: RecordTable<StoredDelivery>
  readonly #due: Table
  readonly #finished: Table
  readonly #events: Table
  readonly #totals: RecordTable<OutboxTotals>
  readonly #prices: RecordTable<PriceMicros>
  readonly #entries = new Map<WebhookNumber, WebhookEntry>()

  #watcher: OutboxWatcher | null = null

  constructor(environment: Environment) {
    this.#environment = environment
    this.#deliveries = new RecordTable(environment.table(TABLES.deliveries), deliveryCodec)
    this.#due = environment.table(TABLES.dueDeliveries)
    this.#finished = environment.table(TABLES.finishedDeliveries)
    this.#events = environment.table(TABLES.deliveryEvents)
    this.#totals = new RecordTable(environment.table(TABLES.outboxTotals), totalsCodec)
    this.#prices = new RecordTable(environment.table(TABLES.lastPrices), lastPriceCodec)
  }

  watch(watcher: OutboxWatcher): void {
    this.#watcher = watcher
  }

  /**
   * Stores a pending delivery that is due at `dueAtMs`. Returns null and stores nothing if the webhook already has a
   * delivery of the event, or if storage rejects writes.
   */
  create(webhook: WebhookNumber, created: NewDelivery): StoredDelivery | null {
    const { eventId, eventType, createdAtMs, dueAtMs, body } = created
    const idKey = eventKey(webhook, eventId)
    if (this.#events.has(idKey) || !this.#environment.accepts(ROWS_A_CHANGE)) return null
    const entry = this.#load(webhook)
    const number = entry.totals.lastNumber + 1
    const delivery: StoredDelivery = {
      number,
      eventId,
      eventType,
      createdAtMs,
      status: 'pending',
      dueAtMs,
      attempts: 0,
      body,
      last: null,
    }
    const key = groupKey(webhook, number)
    this.#deliveries.put(key, delivery)
    this.#due.put(dueKey(webhook, 'first', { dueAtMs, number }), PRESENT)
    this.#events.put(idKey, key.subarray(4))
    entry.totals.lastNumber = number
    addPending(entry.totals, 1, body.byteLength)
    this.#putTotals(entry)
    this.#watcher?.onCreated(webhook, created)
    return delivery
  }

  get(webhook: WebhookNumber, number: number): StoredDelivery | null {
    const key = groupKey(webhook, number)
    const value = this.#deliveries.rows.get(key)
    if (value === null) return null
    const delivery = this.#deliveries.decode({ key, value })
    if (delivery === null) this.#giveUp(webhook, number)
    return delivery
  }

  /** The number of the delivery of an event to a webhook. Null if there is none. */
  numberOf(webhook: WebhookNumber, eventId: string): number | null {
    const value = this.#events.get(eventKey(webhook, eventId))
    return value === null ? null : readInteger(value, 0)
  }

  /**
   * Replaces status, dueAtMs, attempts and last of a stored delivery. A pending delivery with attempts moves to the
   * 'retry' queue. Returns false and changes nothing if the delivery was deleted or storage rejects writes.
   */
  update(webhook: WebhookNumber, change: Delivery): boolean {
    const stored = this.get(webhook, change.number)
    if (stored === null || !this.#environment.accepts(ROWS_A_CHANGE)) return false
    const { status, dueAtMs, attempts, last } = change
    const changed = { ...stored, status, dueAtMs, attempts, last }
    const entry = this.#load(webhook)
    const key = groupKey(webhook, stored.number)
    const oldDueKey = dueKeyOf(webhook, stored)
    if (oldDueKey !== null) this.#due.remove(oldDueKey)
    if (stored.status !== 'pending') this.#finished.remove(key)
    this.#deliveries.put(key, changed)
    const newDueKey = dueKeyOf(webhook, changed)
    if (newDueKey !== null) this.#due.put(newDueKey, PRESENT)
    if (changed.status === 'pending') {
      entry.pendingFrom = Math.min(entry.pendingFrom, changed.number)
    } else {
      this.#finished.put(key, finishedValue(changed.status, changed.createdAtMs))
      if (entry.pendingFrom === changed.number) entry.pendingFrom += 1
    }
    this.#watcher?.onUpdated(webhook, change)
    if (stored.status === changed.status) return true
    const { byteLength } = stored.body
    entry.totals[stored.status] -= 1
    entry.totals[changed.status] += 1
    if (stored.status === 'pending') addPending(entry.totals, 0, -byteLength)
    else if (changed.status === 'pending') addPending(entry.totals, 0, byteLength)
    this.#putTotals(entry)
    return true
  }

  /** At most `limit` pending deliveries of a queue strictly after `after`, in order of due time, then number. */
  due({
    webhook,
    attemptKind,
    after,
    limit,
  }: {
    readonly webhook: WebhookNumber
    readonly attemptKind: AttemptKind
    readonly after: DuePosition | null
    readonly limit: number
  }): readonly DuePosition[] {
    const found: DuePosition[] = []
    if (limit < 1) return found
    this.#due.scan(dueRange(webhook, attemptKind, after), ({ key }) => {
      const dueAtMs = timeMs(readInteger(key, DUE_TIME_AT))
      found.push({ dueAtMs, number: readInteger(key, DUE_NUMBER_AT) })
      return found.length < limit
    })
    return found
  }

  /** Deliveries of a webhook with a status, newest first. */
  list({
    webhook,
    status,
    before,
    limit,
  }: {
    readonly webhook: WebhookNumber
    readonly status: DeliveryStatus | null
    readonly before: number | null
    readonly limit: number
  }): readonly Delivery[] {
    const found: Delivery[] = []
    if (limit < 1) return found
    const range: KeyRange = {
      from: groupKey(webhook, 0),
      to: groupKey(webhook, before ?? LAST),
      isReverse: true,
    }
    const take = (delivery: StoredDelivery | null): boolean => {
      const fits = delivery !== null && (status === null || delivery.status === status)
      if (fits) found.push(withoutBody(delivery))
      return found.length < limit
    }
    if (status === null || status === 'pending') {
      this.#deliveries.rows.scan(range, (row) => take(this.#deliveries.decode(row)))
    } else {
      this.#finished.scan(range, ({ key, value }) => {
        return readFinished(value).status !== status || take(this.#deliveries.get(key))
      })
    }
    return found
  }

  oldestPending(webhook: WebhookNumber): Delivery | null {
    const entry = this.#load(webhook)
    if (entry.totals.pending === 0) return null
    // If deliveries are dropped in sequence, the next number is the oldest pending one. The lookup avoids a range read.
    const next = this.get(webhook, entry.pendingFrom)
    if (next?.status === 'pending') return withoutBody(next)
    const range = { from: groupKey(webhook, entry.pendingFrom), to: groupKey(webhook, LAST) }
    const [oldest] = this.#deliveries.range(range, 1, ({ status }) => status === 'pending')
    if (oldest === undefined) return null
    entry.pendingFrom = oldest.number
    return withoutBody(oldest)
  }

  state(webhook: WebhookNumber): OutboxState {
    const { totals } = this.#load(webhook)
    const { throttled: throttledCount, pendingBytes, failingSinceMs } = totals
    return { counts: countsOf(totals), throttledCount, pendingBytes, failingSinceMs }
  }

  /**
   * Counts events that were dropped without storing them. Returns false and counts nothing while storage rejects
   * writes.
   */
  throttle(webhook: WebhookNumber, count: number): boolean {
    if (!this.#environment.accepts(1)) return false
    const entry = this.#load(webhook)
    entry.totals.dropped += count
    entry.totals.throttled += count
    entry.totals.prunedCount += count
    this.#putTotals(entry)
    return true
  }

  putFailingSince(webhook: WebhookNumber, sinceMs: TimeMs | null): void {
    const entry = this.#load(webhook)
    if (entry.totals.failingSinceMs === sinceMs || !this.#environment.accepts(1)) return
    entry.totals.failingSinceMs = sinceMs
    this.#putTotals(entry)
  }

  /** The price of a market in the last price.changed event to a webhook, or null. */
  lastPrice(webhook: WebhookNumber, market: MarketNumber): PriceMicros | null {
    return this.#prices.get(lastPriceKey(webhook, market))
  }

  putLastPrice(webhook: WebhookNumber, market: MarketNumber, price: PriceMicros): void {
    if (!this.#environment.accepts(2)) return
    this.#prices.put(lastPriceKey(webhook, market), price)
    const entry = this.#load(webhook)
    // A webhook with any row needs a row of totals, because `webhooks` lists only webhooks with totals.
    if (!this.#totals.rows.has(entry.key)) this.#putTotals(entry)
  }

  removeLastPrice(webhook: WebhookNumber, market: MarketNumber): void {
    const key = lastPriceKey(webhook, market)
    if (this.#prices.rows.has(key)) this.#prices.rows.remove(key)
  }

  /**
   * Deletes at most `rowsMax` finished deliveries of the webhook. Deletes deliveries beyond the newest `finishedMax`
   * and deliveries that were created before `beforeMs`. The counts do not change. Returns true if more remain.
   */
  prune({
    webhook,
    finishedMax,
    beforeMs,
    rowsMax,
  }: {
    readonly webhook: WebhookNumber
    readonly finishedMax: number
    readonly beforeMs: TimeMs
    readonly rowsMax: number
  }): boolean {
    const entry = this.#load(webhook)
    let excess = storedFinished(entry.totals) - finishedMax
    const numbers: number[] = []
    this.#finished.scan(webhookRange(webhook), ({ key, value }) => {
      if (excess <= 0 && readFinished(value).createdAtMs >= beforeMs) return false
      numbers.push(readInteger(key, 4))
      excess -= 1
      return numbers.length <= rowsMax
    })
    const isMore = numbers.length > rowsMax
    if (isMore) numbers.pop()
    for (const number of numbers) {
      // This read must come first: reading a damaged row removes the delivery.
      const eventId = this.get(webhook, number)?.eventId
      if (!this.#environment.accepts(ROWS_A_CHANGE)) return isMore
      const key = groupKey(webhook, number)
      if (eventId !== undefined) this.#events.remove(eventKey(webhook, eventId))
      if (this.#finished.has(key)) entry.totals.prunedCount += 1
      this.#finished.remove(key)
      this.#deliveries.rows.remove(key)
      this.#putTotals(entry)
    }
    return isMore
  }

  /** Deletes at most `rowsMax` rows of a webhook. Returns true while rows remain. */
  clear(webhook: WebhookNumber, rowsMax: number): boolean {
    if (!this.#environment.accepts(rowsMax)) return true
    const range = webhookRange(webhook)
    let rowsLeft = rowsMax
    // Due rows are removed first, so that a partly removed delivery is not attempted.
    for (const attemptKind of ATTEMPT_KINDS) {
      rowsLeft -= this.#due.removeRange(dueRange(webhook, attemptKind, null), rowsLeft).rowCount
    }
    const [{ rows: deliveries }, { rows: prices }] = [this.#deliveries, this.#prices]
    for (const table of [deliveries, this.#finished, this.#events, prices]) {
      rowsLeft -= table.removeRange(range, rowsLeft).rowCount
    }
    if (rowsLeft <= 0) return this.#totals.rows.has(numberKey(webhook))
    this.#totals.rows.remove(numberKey(webhook))
    this.#entries.delete(webhook)
    return false
  }

  /** Webhooks with a row of totals, including webhooks that were removed. */
  *webhooks(): Iterable<WebhookNumber> {
    for (const { key } of this.#totals.rows.all()) yield webhookNumber(key.readUInt32BE(0))
  }

  /** The highest webhook number that has rows. 0 if there is none. */
  lastWebhook(): number {
    const last = this.#totals.rows.first({ ...EVERY_KEY, isReverse: true })
    return last === null ? 0 : last.key.readUInt32BE(0)
  }

  #putTotals({ key, totals }: WebhookEntry): void {
    this.#totals.put(key, totals)
  }

  #load(webhook: WebhookNumber): WebhookEntry {
    const entry = this.#entries.get(webhook)
    if (entry !== undefined) return entry
    const key = numberKey(webhook)
    const totals = this.#totals.get(key) ?? this.#recount(webhook)
    const made: WebhookEntry = { key, totals, pendingFrom: 0 }
    this.#entries.set(webhook, made)
    return made
  }

  /** Recomputes the totals from the stored rows, for a new webhook or if the stored totals are damaged. */
  #recount(webhook: WebhookNumber): OutboxTotals {
    const totals = noTotals()
    for (const row of this.#deliveries.rows.all(webhookRange(webhook))) {
      const delivery = this.#deliveries.decode(row)
      const isFinished = this.#finished.has(row.key)
      const status = delivery?.status ?? (isFinished ? 'dropped' : 'pending')
      totals[status] += 1
      if (status === 'pending') addPending(totals, 0, delivery?.body.byteLength ?? 0)
      totals.lastNumber = readInteger(row.key, 4)
    }
    return totals
  }

  /** Removes a delivery whose row is damaged. A pending delivery is counted as dropped. */
  #giveUp(webhook: WebhookNumber, number: number): void {
    if (!this.#environment.accepts(ROWS_A_CHANGE)) return
    const { totals } = this.#load(webhook)
    const key = groupKey(webhook, number)
    if (!this.#finished.has(key)) {
      for (const attemptKind of ATTEMPT_KINDS) this.#removeDue(webhook, attemptKind, number)
      addPending(totals, -1, -Math.round(totals.pendingBytes / totals.pending))
      totals.dropped += 1
    }
    totals.prunedCount += 1
    this.#finished.remove(key)
    this.#deliveries.rows.remove(key)
    this.#putTotals(this.#load(webhook))
  }

  #removeDue(webhook: WebhookNumber, attemptKind: AttemptKind, number: number): void {
    const found: Buffer[] = []
    this.#due.scan(dueRange(webhook, attemptKind, null), ({ key }) => {
      if (readInteger(key, DUE_NUMBER_AT) === number) found.push(key)
      return found.length === 0
    })
    for (const key of found) this.#due.remove(key)
  }
}

/** Resets the bytes to 0 when no delivery is pending, because some sizes are only estimates. */
function addPending(totals: OutboxTotals, count: number, byteCount: number): void {
  totals.pending += count
  totals.pendingBytes = totals.pending > 0 ? Math.max(0, totals.pendingBytes + byteCount) : 0
}

/** Null if the delivery is not pending. */
function dueKeyOf(webhook: WebhookNumber, delivery: StoredDelivery): Buffer | null {
  const { status, attempts, dueAtMs, number } = delivery
  if (status !== 'pending' || dueAtMs === null) return null
  return dueKey(webhook, attempts > 0 ? 'retry' : 'first', { dueAtMs, number })
}

function withoutBody({ body: _, ...delivery }: StoredDelivery): Delivery {
  return delivery
}
