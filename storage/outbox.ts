// Webhook deliveries with their bodies, by webhook and number. Indexes list due deliveries (by attempt kind and time),
// finished deliveries and event ids. Each webhook has one row of totals. All rows of a change are put in one event-loop
// tick, or none if storage rejects writes, so the totals match the rows after a crash. A delivery costs four small
// puts, one read and no decoding.

import type { MarketNumber } from '../engine/market/market.ts'
import { type PriceMicros, type TimeMs, timeMs } from '../engine/units.ts'
import {
  type Delivery,
  type StoredDelivery,
  type WebhookNumber,
  webhookNumber,
} from '../engine/webhooks/webhook.ts'
import type { AttemptKind, OutboxState, OutboxTable } from './contract/webhooks.ts'
import type { Environment } from './lmdb/environment.ts'
import type { KeyRange, Table } from './lmdb/table.ts'
import { chunkedRows } from './markets.ts'
import { groupKey, KEY_END, KEY_START, numberKey, readInteger } from './records/keys.ts'
import {
  DUE_NUMBER_AT,
  DUE_TIME_AT,
  dueKey,
  dueRange,
  eventKey,
  lastPriceKey,
  webhookRange,
} from './records/outbox-keys.ts'
import {
  changedDelivery,
  countsOf,
  DELIVERY_SCHEMA,
  deliveryFields,
  deliverySchemas,
  finishedValue,
  LAST_PRICE_SCHEMA,
  lastPriceBody,
  lastPriceSchemas,
  noTotals,
  type OutboxTotals,
  readFinished,
  STATE_SCHEMA,
  stateBody,
  stateSchemas,
  storedFinished,
  withoutBody,
} from './records/outbox-records.ts'
import { TABLES } from './tables.ts'

const PRESENT = Buffer.of(1)
const ATTEMPT_KINDS: readonly AttemptKind[] = ['first', 'retry']
/** Maximum number of rows that one change of a delivery puts or removes. */
const ROWS_A_CHANGE = 6

/** Cached state of a webhook: about 300 bytes each. */
interface WebhookEntry {
  readonly key: Buffer
  readonly totals: OutboxTotals
  /** No delivery below this number is pending: the search for the oldest one starts here. */
  pendingFrom: number
}

export class Outbox implements OutboxTable {
  readonly #environment: Environment
  readonly #deliveries: Table
  readonly #due: Table
  readonly #finished: Table
  readonly #events: Table
  readonly #totals: Table
  readonly #prices: Table
  readonly #entries = new Map<WebhookNumber, WebhookEntry>()

  constructor(environment: Environment) {
    this.#environment = environment
    this.#deliveries = environment.table(TABLES.deliveries)
    this.#due = environment.table(TABLES.dueDeliveries)
    this.#finished = environment.table(TABLES.finishedDeliveries)
    this.#events = environment.table(TABLES.deliveryEvents)
    this.#totals = environment.table(TABLES.outboxTotals)
    this.#prices = environment.table(TABLES.lastPrices)
  }

  create(
    webhook: WebhookNumber,
    { eventId, eventType, createdAtMs, dueAtMs, body }: Parameters<OutboxTable['create']>[1],
  ): StoredDelivery | null {
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
    this.#write(key, delivery)
    this.#due.put(dueKey(webhook, 'first', { dueAtMs, number }), PRESENT)
    this.#events.put(idKey, key.subarray(4))
    entry.totals.lastNumber = number
    addPending(entry.totals, 1, body.byteLength)
    this.#putTotals(entry)
    return delivery
  }

  get(webhook: WebhookNumber, number: number): StoredDelivery | null {
    const key = groupKey(webhook, number)
    const value = this.#deliveries.get(key)
    if (value === null) return null
    const delivery = this.#deliveries.decode({ key, value }, deliverySchemas(key))
    if (delivery === null) this.#giveUp(webhook, number)
    return delivery
  }

  numberOf(webhook: WebhookNumber, eventId: string): number | null {
    const value = this.#events.get(eventKey(webhook, eventId))
    return value === null ? null : readInteger(value, 0)
  }

  update(webhook: WebhookNumber, change: Delivery): boolean {
    const stored = this.get(webhook, change.number)
    if (stored === null || !this.#environment.accepts(ROWS_A_CHANGE)) return false
    const changed = changedDelivery(stored, change)
    const entry = this.#load(webhook)
    const key = groupKey(webhook, stored.number)
    const oldDueKey = dueKeyOf(webhook, stored)
    if (oldDueKey !== null) this.#due.remove(oldDueKey)
    if (stored.status !== 'pending') this.#finished.remove(key)
    this.#write(key, changed)
    const newDueKey = dueKeyOf(webhook, changed)
    if (newDueKey !== null) this.#due.put(newDueKey, PRESENT)
    if (changed.status === 'pending') {
      entry.pendingFrom = Math.min(entry.pendingFrom, changed.number)
    } else {
      this.#finished.put(key, finishedValue(changed.status, changed.createdAtMs))
      if (entry.pendingFrom === changed.number) entry.pendingFrom += 1
    }
    if (stored.status === changed.status) return true
    const { byteLength } = stored.body
    entry.totals[stored.status] -= 1
    entry.totals[changed.status] += 1
    if (stored.status === 'pending') addPending(entry.totals, 0, -byteLength)
    else if (changed.status === 'pending') addPending(entry.totals, 0, byteLength)
    this.#putTotals(entry)
    return true
  }

  due({
    webhook,
    attemptKind,
    after,
    limit,
  }: Parameters<OutboxTable['due']>[0]): ReturnType<OutboxTable['due']> {
    const found: { readonly dueAtMs: TimeMs; readonly number: number }[] = []
    if (limit < 1) return found
    this.#due.scan(dueRange(webhook, attemptKind, after), ({ key }) => {
      const dueAtMs = timeMs(readInteger(key, DUE_TIME_AT))
      found.push({ dueAtMs, number: readInteger(key, DUE_NUMBER_AT) })
      return found.length < limit
    })
    return found
  }

  /**
   * A list of a finished status reads only the index and the matching rows. A list of pending deliveries also reads
   * the finished rows between them, whose number `prune` bounds.
   */
  list({
    webhook,
    status,
    before,
    limit,
  }: Parameters<OutboxTable['list']>[0]): readonly Delivery[] {
    const found: Delivery[] = []
    if (limit < 1) return found
    const range: KeyRange = {
      from: groupKey(webhook, 0),
      to: groupKey(webhook, before ?? Number.MAX_SAFE_INTEGER),
      isReverse: true,
    }
    const take = (key: Buffer, value: Buffer | null): boolean => {
      const delivery =
        value === null ? null : this.#deliveries.decode({ key, value }, deliverySchemas(key))
      const fits = delivery !== null && (status === null || delivery.status === status)
      if (fits) found.push(withoutBody(delivery))
      return found.length < limit
    }
    if (status === null || status === 'pending') {
      this.#deliveries.scan(range, ({ key, value }) => take(key, value))
    } else {
      this.#finished.scan(range, ({ key, value }) => {
        return readFinished(value).status !== status || take(key, this.#deliveries.get(key))
      })
    }
    return found
  }

  oldestPending(webhook: WebhookNumber): Delivery | null {
    const entry = this.#load(webhook)
    if (entry.totals.pending === 0) return null
    // When deliveries are dropped in sequence, the next number is the oldest: one lookup instead of a range.
    const next = this.get(webhook, entry.pendingFrom)
    if (next?.status === 'pending') return withoutBody(next)
    const from = groupKey(webhook, entry.pendingFrom)
    const found: StoredDelivery[] = []
    this.#deliveries.scan({ from, to: groupKey(webhook, Number.MAX_SAFE_INTEGER) }, (row) => {
      const delivery = this.#deliveries.decode(row, deliverySchemas(row.key))
      if (delivery?.status === 'pending') found.push(delivery)
      return found.length === 0
    })
    const [oldest] = found
    if (oldest === undefined) return null
    entry.pendingFrom = oldest.number
    return withoutBody(oldest)
  }

  state(webhook: WebhookNumber): OutboxState {
    const { totals } = this.#load(webhook)
    const { throttled: throttledCount, pendingBytes, failingSinceMs } = totals
    return { counts: countsOf(totals), throttledCount, pendingBytes, failingSinceMs }
  }

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

  lastPrice(webhook: WebhookNumber, market: MarketNumber): PriceMicros | null {
    const key = lastPriceKey(webhook, market)
    const value = this.#prices.get(key)
    return value === null ? null : this.#prices.decodePacked({ key, value }, lastPriceSchemas)
  }

  putLastPrice(webhook: WebhookNumber, market: MarketNumber, price: PriceMicros): void {
    if (!this.#environment.accepts(2)) return
    const key = lastPriceKey(webhook, market)
    this.#prices.put(key, this.#prices.encodePacked(key, LAST_PRICE_SCHEMA, lastPriceBody(price)))
    const entry = this.#load(webhook)
    // Each webhook with rows needs a totals row, so that `webhooks` lists it.
    if (!this.#totals.has(entry.key)) this.#putTotals(entry)
  }

  removeLastPrice(webhook: WebhookNumber, market: MarketNumber): void {
    const key = lastPriceKey(webhook, market)
    if (this.#prices.has(key)) this.#prices.remove(key)
  }

  prune(query: Parameters<OutboxTable['prune']>[0]): boolean {
    const { webhook, finishedMax, beforeMs, rowsMax } = query
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
      // Read first, since reading a damaged row already removes the delivery.
      const eventId = this.get(webhook, number)?.eventId
      if (!this.#environment.accepts(ROWS_A_CHANGE)) return isMore
      const key = groupKey(webhook, number)
      if (eventId !== undefined) this.#events.remove(eventKey(webhook, eventId))
      if (this.#finished.has(key)) entry.totals.prunedCount += 1
      this.#finished.remove(key)
      this.#deliveries.remove(key)
      this.#putTotals(entry)
    }
    return isMore
  }

  clear(webhook: WebhookNumber, rowsMax: number): boolean {
    if (!this.#environment.accepts(rowsMax)) return true
    const range = webhookRange(webhook)
    let rowsLeft = rowsMax
    // Due rows are removed first, so that a partly removed delivery is never attempted.
    for (const attemptKind of ATTEMPT_KINDS) {
      rowsLeft -= this.#due.removeRange(dueRange(webhook, attemptKind, null), rowsLeft).rowCount
    }
    for (const table of [this.#deliveries, this.#finished, this.#events, this.#prices]) {
      rowsLeft -= table.removeRange(range, rowsLeft).rowCount
    }
    if (rowsLeft <= 0) return this.#totals.has(numberKey(webhook))
    this.#totals.remove(numberKey(webhook))
    this.#entries.delete(webhook)
    return false
  }

  *webhooks(): Iterable<WebhookNumber> {
    for (const { key } of chunkedRows(this.#totals)) yield webhookNumber(key.readUInt32BE(0))
  }

  /** The highest webhook number that has rows; 0 if there is none. */
  lastWebhook(): number {
    const last = this.#totals.first({ from: KEY_START, to: KEY_END, isReverse: true })
    return last === null ? 0 : last.key.readUInt32BE(0)
  }

  #write(key: Buffer, delivery: StoredDelivery): void {
    const fields = deliveryFields(delivery)
    this.#deliveries.put(key, this.#deliveries.encode(key, DELIVERY_SCHEMA, fields))
  }

  #putTotals({ key, totals }: WebhookEntry): void {
    this.#totals.put(key, this.#totals.encodePacked(key, STATE_SCHEMA, stateBody(totals)))
  }

  #load(webhook: WebhookNumber): WebhookEntry {
    const entry = this.#entries.get(webhook)
    if (entry !== undefined) return entry
    const key = numberKey(webhook)
    const value = this.#totals.get(key)
    const totals = value === null ? null : this.#totals.decodePacked({ key, value }, stateSchemas)
    const made: WebhookEntry = { key, totals: totals ?? this.#recount(webhook), pendingFrom: 0 }
    this.#entries.set(webhook, made)
    return made
  }

  /** Totals recomputed from the stored rows: for a new webhook, or if its totals are damaged. */
  #recount(webhook: WebhookNumber): OutboxTotals {
    const totals = noTotals()
    for (const row of chunkedRows(this.#deliveries, webhookRange(webhook))) {
      const delivery = this.#deliveries.decode(row, deliverySchemas(row.key))
      const isFinished = this.#finished.has(row.key)
      const status = delivery?.status ?? (isFinished ? 'dropped' : 'pending')
      totals[status] += 1
      if (status === 'pending') addPending(totals, 0, delivery?.body.byteLength ?? 0)
      totals.lastNumber = readInteger(row.key, 4)
    }
    return totals
  }

  /** Removes a delivery whose row is damaged; a pending one is counted as dropped. */
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
    this.#deliveries.remove(key)
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

/** Resets the bytes to 0 when no delivery is pending, which removes the error of estimated sizes. */
function addPending(totals: OutboxTotals, count: number, byteCount: number): void {
  totals.pending += count
  totals.pendingBytes = totals.pending > 0 ? Math.max(0, totals.pendingBytes + byteCount) : 0
}

/** The key of a delivery in the due index; null if it is not waiting. */
function dueKeyOf(webhook: WebhookNumber, delivery: StoredDelivery): Buffer | null {
  const { status, attempts, dueAtMs, number } = delivery
  if (status !== 'pending' || dueAtMs === null) return null
  return dueKey(webhook, attempts > 0 ? 'retry' : 'first', { dueAtMs, number })
}
