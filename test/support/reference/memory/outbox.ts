// Reference implementation of storage/outbox.ts: plain objects, searched from the beginning on each query.

import type { MarketNumber } from '../../../../engine/market/market.ts'
import type { PriceMicros, TimeMs } from '../../../../engine/units.ts'
import type {
  Delivery,
  StoredDelivery,
  WebhookNumber,
} from '../../../../engine/webhooks/webhook.ts'
import type { OutboxState, OutboxTable } from '../../../../storage/contract/webhooks.ts'

interface Box {
  /** In order of number. */
  deliveries: StoredDelivery[]
  lastNumber: number
  /** Removed finished deliveries, by final status. */
  readonly missing: { delivered: number; exhausted: number; dropped: number }
  throttledCount: number
  failingSinceMs: TimeMs | null
  readonly prices: Map<MarketNumber, PriceMicros>
}

export class MemoryOutbox implements OutboxTable {
  readonly #boxes = new Map<WebhookNumber, Box>()

  create(
    webhook: WebhookNumber,
    { eventId, eventType, createdAtMs, dueAtMs, body }: Parameters<OutboxTable['create']>[1],
  ): StoredDelivery | null {
    const box = this.#box(webhook)
    if (box.deliveries.some((one) => one.eventId === eventId)) return null
    box.lastNumber += 1
    const fresh = { status: 'pending', attempts: 0, last: null } as const
    const delivery = { number: box.lastNumber, eventId, eventType, createdAtMs, dueAtMs, ...fresh }
    const stored = { ...delivery, body: Uint8Array.from(body) }
    box.deliveries.push(stored)
    return stored
  }

  get(webhook: WebhookNumber, number: number): StoredDelivery | null {
    return this.#stored(webhook).find((one) => one.number === number) ?? null
  }

  numberOf(webhook: WebhookNumber, eventId: string): number | null {
    return this.#stored(webhook).find((one) => one.eventId === eventId)?.number ?? null
  }

  update(webhook: WebhookNumber, delivery: Delivery): boolean {
    const box = this.#box(webhook)
    const isThere = box.deliveries.some((one) => one.number === delivery.number)
    box.deliveries = box.deliveries.map((one) =>
      one.number === delivery.number ? { ...one, ...delivery } : one,
    )
    return isThere
  }

  due({
    webhook,
    attemptKind: variant,
    after,
    limit,
  }: Parameters<OutboxTable['due']>[0]): ReturnType<OutboxTable['due']> {
    const locations: { dueAtMs: TimeMs; number: number }[] = []
    for (const { status, attempts, dueAtMs, number } of this.#stored(webhook)) {
      const isHere = status === 'pending' && attempts > 0 === (variant === 'retry')
      if (isHere && dueAtMs !== null) locations.push({ dueAtMs, number })
    }
    locations.sort((one, other) => one.dueAtMs - other.dueAtMs || one.number - other.number)
    const isBehind = (one: { dueAtMs: number; number: number }) =>
      after === null ||
      one.dueAtMs > after.dueAtMs ||
      (one.dueAtMs === after.dueAtMs && one.number > after.number)
    return locations.filter(isBehind).slice(0, Math.max(limit, 0))
  }

  list({
    webhook,
    status,
    before,
    limit,
  }: Parameters<OutboxTable['list']>[0]): readonly Delivery[] {
    return this.#stored(webhook)
      .filter((one) => status === null || one.status === status)
      .filter((one) => before === null || one.number < before)
      .reverse()
      .slice(0, Math.max(limit, 0))
      .map(withoutBody)
  }

  oldestPending(webhook: WebhookNumber): Delivery | null {
    const oldest = this.#stored(webhook).find((one) => one.status === 'pending')
    return oldest === undefined ? null : withoutBody(oldest)
  }

  state(webhook: WebhookNumber): OutboxState {
    const box = this.#boxes.get(webhook)
    const missing = box?.missing ?? { delivered: 0, exhausted: 0, dropped: 0 }
    const throttledCount = box?.throttledCount ?? 0
    const dropped = missing.dropped + throttledCount
    const created = (box?.lastNumber ?? 0) + throttledCount
    const counts = { created, ...missing, dropped, pending: 0 }
    let pendingBytes = 0
    for (const { status, body } of box?.deliveries ?? []) {
      counts[status] += 1
      if (status === 'pending') pendingBytes += body.byteLength
    }
    return { counts, throttledCount, pendingBytes, failingSinceMs: box?.failingSinceMs ?? null }
  }

  throttle(webhook: WebhookNumber, count: number): boolean {
    this.#box(webhook).throttledCount += count
    return true
  }

  putFailingSince(webhook: WebhookNumber, sinceMs: TimeMs | null): void {
    if (this.state(webhook).failingSinceMs !== sinceMs) this.#box(webhook).failingSinceMs = sinceMs
  }

  lastPrice(webhook: WebhookNumber, market: MarketNumber): PriceMicros | null {
    return this.#boxes.get(webhook)?.prices.get(market) ?? null
  }

  removeLastPrice(webhook: WebhookNumber, market: MarketNumber): void {
    this.#boxes.get(webhook)?.prices.delete(market)
  }

  putLastPrice(webhook: WebhookNumber, market: MarketNumber, price: PriceMicros): void {
    this.#box(webhook).prices.set(market, price)
  }

  prune({ webhook, finishedMax, beforeMs, rowsMax }: Parameters<OutboxTable['prune']>[0]): boolean {
    const box = this.#boxes.get(webhook)
    if (box === undefined) return false
    const finished = box.deliveries.filter((one) => one.status !== 'pending')
    const firstKept = finished.findIndex(
      (one, index) => finished.length - index <= finishedMax && one.createdAtMs >= beforeMs,
    )
    const due = firstKept < 0 ? finished : finished.slice(0, firstKept)
    const removed = new Set(due.slice(0, rowsMax))
    for (const { status } of removed) if (status !== 'pending') box.missing[status] += 1
    box.deliveries = box.deliveries.filter((one) => !removed.has(one))
    return due.length > rowsMax
  }

  clear(webhook: WebhookNumber, rowsMax: number): boolean {
    const box = this.#boxes.get(webhook)
    if (box === undefined) return false
    const rows = box.deliveries.length
    box.deliveries.splice(0, rowsMax)
    const prices = [...box.prices.keys()].slice(0, Math.max(rowsMax - rows, 0))
    for (const market of prices) box.prices.delete(market)
    if (rows + prices.length >= rowsMax) return true
    this.#boxes.delete(webhook)
    return false
  }

  webhooks(): Iterable<WebhookNumber> {
    return [...this.#boxes.keys()].sort((one, other) => one - other)
  }

  #stored(webhook: WebhookNumber): readonly StoredDelivery[] {
    return this.#boxes.get(webhook)?.deliveries ?? []
  }

  #box(webhook: WebhookNumber): Box {
    const existing = this.#boxes.get(webhook)
    if (existing !== undefined) return existing
    const missing = { delivered: 0, exhausted: 0, dropped: 0 }
    const state = { throttledCount: 0, failingSinceMs: null }
    const box = { deliveries: [], lastNumber: 0, missing, ...state, prices: new Map() }
    this.#boxes.set(webhook, box)
    return box
  }
}

function withoutBody({ body: _, ...delivery }: StoredDelivery): Delivery {
  return delivery
}
