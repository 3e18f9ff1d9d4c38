// Checks webhook deliveries of the complete service. Every trade since the webhook's creation must be delivered,
// pending, exhausted or counted as dropped.

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { eventId } from '../../../engine/webhooks/event-id.ts'
import { EventReceiver, newSecret, type ReceiverBehaviour } from '../fakes/event-receivers.ts'
import { allMarketIds, read, type ServiceLocations, truthOfTrades } from '../rigs/full-service.ts'
import { expectAnswer, keyHeader } from './rest-caller.ts'

/** Allows webhooks to loopback addresses. */
export const TRIAL_ENV = { WEBHOOK_ALLOW_HTTP: 'on', WEBHOOK_ALLOW_PRIVATE: 'on' }

interface Counts {
  readonly created: number
  readonly delivered: number
  readonly exhausted: number
  readonly dropped: number
  readonly pending: number
}
interface HookRecord {
  readonly id: string
  readonly active: boolean
  readonly counts: Counts
}
interface Hook {
  readonly id: string
  readonly receiver: EventReceiver
}
interface DeliveryRow {
  readonly event_id: string
  readonly status: string
}

interface OutboxCheck {
  readonly due: number
  /** Trades of the venues that are not stored yet. */
  readonly unstored: readonly string[]
  readonly lost: readonly string[]
  readonly uncounted: readonly string[]
  readonly faults: readonly string[]
  readonly requests: number
  readonly duplicates: number
  readonly delivered: number
}

export class OutboxChecker {
  readonly #hooks: readonly Hook[]
  /** Trades from this time on are due at each webhook. */
  readonly sinceMs: number

  private constructor(hooks: readonly Hook[], sinceMs: number) {
    this.#hooks = hooks
    this.sinceMs = sinceMs
  }

  /** Creates a webhook of the local account for each behaviour. */
  static async open(
    { api, key }: ServiceLocations,
    manners: readonly ReceiverBehaviour[],
  ): Promise<OutboxChecker> {
    const hooks: Hook[] = []
    for (const manner of manners) {
      const secret = newSecret()
      const receiver = await EventReceiver.open(manner, [secret])
      const { id } = await expectAnswer(201, api, 'POST', '/v1/webhooks', {
        credential: keyHeader(key),
        body: { url: receiver.url, event_types: ['trade.created'], secret },
      })
      hooks.push({ id: String(id), receiver })
    }
    return new OutboxChecker(hooks, Date.now())
  }

  async close(): Promise<void> {
    for (const { receiver } of this.#hooks) await receiver.close()
  }

  /** Each entry is a webhook’s id, a blank and an event’s id. */
  sent(): Set<string> {
    const sent = new Set<string>()
    for (const { id, receiver } of this.#hooks) {
      for (const event of receiver.events.keys()) sent.add(`${id} ${event}`)
    }
    return sent
  }

  /** Throws if the counts of a webhook do not add up, or if a webhook is missing. */
  async counts(
    locations: ServiceLocations,
  ): Promise<readonly (Counts & { readonly manner: ReceiverBehaviour })[]> {
    const url = `${locations.api}/v1/webhooks`
    const { webhooks } = await read<{ webhooks: HookRecord[] }>(url, locations.key)
    return this.#hooks.map(({ id, receiver: { manner } }) => {
      const record = webhooks.find((one) => one.id === id)
      assert.ok(record?.active === true, `${manner}: not there, or not active`)
      const { created, delivered, exhausted, dropped, pending } = record.counts
      const what = `${manner}: ${JSON.stringify(record.counts)}`
      assert.equal(created, delivered + exhausted + dropped + pending, what)
      return { ...record.counts, manner }
    })
  }

  /**
   * Waits until accepting receivers have no pending deliveries and, if `isComplete`, every trade is stored. The world
   * must be paused, and storing may take a minute. Returns silently after the time limit.
   */
  async drained(
    locations: ServiceLocations,
    secondsMax: number,
    isComplete: boolean,
  ): Promise<void> {
    const endsAtMs = performance.now() + secondsMax * 1_000
    while (performance.now() < endsAtMs) {
      const counts = await this.counts(locations)
      const isDrained = counts.every(({ manner, pending }) => manner !== 'accept' || pending === 0)
      if (isDrained && !(isComplete && (await this.#due(locations)).unstored.length > 0)) return
      await pause(250)
    }
  }

  /** The world must be paused and all deliveries finished. */
  async check(locations: ServiceLocations): Promise<OutboxCheck> {
    for (let tries = 0; ; tries += 1) {
      const before = await this.counts(locations)
      const { due, unstored } = await this.#due(locations)
      const lost: string[] = []
      const uncounted: string[] = []
      for (const [index, hook] of this.#hooks.entries()) {
        const listed = await this.#listed(locations, hook.id)
        const found = compare({ hook, due, listed, counts: before[index] })
        lost.push(...found.lost)
        uncounted.push(...found.uncounted)
      }
      const after = await this.counts(locations)
      // A trade that was fetched between the two reads would make the comparison inconsistent.
      const isStill = before.every(({ created }, index) => created === after[index]?.created)
      if (!isStill && tries < 10) continue
      const delivered = after.reduce((sum, counts) => sum + counts.delivered, 0)
      return { due: due.length, unstored, lost, uncounted, delivered, ...this.#received() }
    }
  }

  #received() {
    const receivers = this.#hooks.map(({ receiver }) => receiver)
    return {
      faults: receivers.flatMap(({ faults }) => faults),
      requests: receivers.reduce((sum, { requests }) => sum + requests, 0),
      duplicates: receivers.reduce((sum, { duplicates }) => sum + duplicates, 0),
    }
  }

  /** Event ids of the venues' stored trades, in the service's letter case. */
  async #due(locations: ServiceLocations): Promise<{ due: string[]; unstored: string[] }> {
    const truth = await truthOfTrades(locations)
    const spelled = await spelledTrades(locations)
    const due: string[] = []
    const unstored: string[] = []
    for (const [name, atMs] of truth) {
      if (atMs < this.sinceMs) continue
      const parts = spelled.get(name)
      if (parts === undefined) unstored.push(`${name} of ${new Date(atMs).toISOString()}`)
      else due.push(eventId('trade.created', ...parts))
    }
    return { due, unstored }
  }

  async #listed(locations: ServiceLocations, hook: string): Promise<Map<string, string>> {
    const rows = new Map<string, string>()
    let cursor: string | null = null
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`
      const url = `${locations.api}/v1/webhooks/${hook}/deliveries?limit=200${after}`
      const page: { deliveries: DeliveryRow[]; cursor: string | null } = await read(
        url,
        locations.key,
      )
      for (const { event_id: event, status } of page.deliveries) rows.set(event, status)
      cursor = page.cursor
    } while (cursor !== null)
    return rows
  }
}

function compare(found: {
  readonly hook: Hook
  readonly due: readonly string[]
  readonly listed: ReadonlyMap<string, string>
  readonly counts: Counts | undefined
}): { readonly lost: readonly string[]; readonly uncounted: readonly string[] } {
  const { receiver } = found.hook
  const { created = 0, dropped = 0 } = found.counts ?? {}
  const existing = new Set(found.listed.keys())
  for (const [event, { accepted }] of receiver.events) if (accepted > 0) existing.add(event)
  const missing = found.due.filter((event) => !existing.has(event))
  const uncounted: string[] = []
  // An event was created twice, or was never counted.
  if (created !== existing.size) {
    uncounted.push(`${receiver.manner}: ${created} created, ${existing.size} known`)
  }
  for (const [event, status] of found.listed) {
    const accepted = receiver.events.get(event)?.accepted ?? 0
    if (status !== 'delivered' || accepted > 0) continue
    uncounted.push(`${receiver.manner} ${event}: marked as delivered and never accepted`)
  }
  const lost = missing.length > dropped ? missing : []
  return { lost: lost.map((event) => `${receiver.manner} ${event}`), uncounted }
}

/** Market id and native trade id of every stored trade. The keys are lower case. */
async function spelledTrades(
  locations: ServiceLocations,
): Promise<Map<string, readonly [string, string]>> {
  const spelled = new Map<string, readonly [string, string]>()
  for (const market of await allMarketIds(locations)) {
    let cursor: string | null = null
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`
      const url = `${locations.api}/v1/markets/${encodeURIComponent(market)}/trades?limit=500${after}`
      const page: { trades: { native_trade_id: string }[]; cursor: string | null } = await read(
        url,
        locations.key,
      )
      for (const { native_trade_id: trade } of page.trades) {
        spelled.set(`${market} ${trade}`.toLowerCase(), [market, trade])
      }
      cursor = page.cursor
    } while (cursor !== null)
  }
  return spelled
}
