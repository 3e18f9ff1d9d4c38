// Webhooks of the whole service with receivers that are known, and the judge of what came of them:
// every true trade since they were made is an event that was delivered, waits, was given up or was
// counted as dropped, at each of them, and the counts add up. Not for: one part (naive-deliveries.ts).

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { eventId } from '../../engine/webhooks/event-id.ts'
import { EventReceiver, type Manner, newSecret } from './event-receivers.ts'
import { expectAnswer, keyHeader } from './rest-caller.ts'
import { allMarketIds, type Places, read, truthOfTrades } from './rig.ts'

/** Lets webhooks point to loopback. */
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

/** What was found in the end. */
export interface Verdict {
  readonly due: number
  readonly lost: readonly string[]
  readonly uncounted: readonly string[]
  readonly faults: readonly string[]
  readonly requests: number
  readonly duplicates: number
  readonly delivered: number
}

/** Hooks on trade.created and their receivers; `close` it at the end. */
export class OutboxWitness {
  readonly #hooks: readonly Hook[]
  /** Trades from here on are due at each. */
  readonly sinceMs: number

  private constructor(hooks: readonly Hook[], sinceMs: number) {
    this.#hooks = hooks
    this.sinceMs = sinceMs
  }

  /** Makes a webhook of the local account for each manner. */
  static async open({ api, key }: Places, manners: readonly Manner[]): Promise<OutboxWitness> {
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
    return new OutboxWitness(hooks, Date.now())
  }

  async close(): Promise<void> {
    for (const { receiver } of this.#hooks) await receiver.close()
  }

  /** The counts of every hook now; throws when those of one do not add up, or one is missing. */
  async counts(places: Places): Promise<readonly (Counts & { readonly manner: Manner })[]> {
    const url = `${places.api}/v1/webhooks`
    const { webhooks } = await read<{ webhooks: HookRecord[] }>(url, places.key)
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
   * Waits until every true trade is stored and nothing is pending at those that accept, for so long at
   * most; the world must be paused. What is not right then is the judge's.
   */
  async drained(places: Places, secondsMax: number): Promise<void> {
    const endsAtMs = performance.now() + secondsMax * 1_000
    while (performance.now() < endsAtMs) {
      const { missing } = await this.#due(places)
      const waiting = (await this.counts(places)).some(
        ({ manner, pending }) => manner === 'accept' && pending > 0,
      )
      if (missing.length === 0 && !waiting) return
      await pause(500)
    }
  }

  /** Compares with the venues' own trades; the world must be paused and everything drained. */
  async judge(places: Places): Promise<Verdict> {
    const { due, missing: lost } = await this.#due(places)
    const uncounted: string[] = []
    const counts = await this.counts(places)
    for (const [index, { id, receiver }] of this.#hooks.entries()) {
      const listed = await this.#listed(places, id)
      const known = new Set(listed.keys())
      for (const [event, { accepted }] of receiver.events) if (accepted > 0) known.add(event)
      const count = counts[index]
      const dropped = count?.dropped ?? 0
      const missing = due.filter((event) => !known.has(event))
      if (missing.length > dropped)
        lost.push(...missing.map((event) => `${receiver.manner} ${event}`))
      const created = count?.created ?? 0
      // An event made twice, or one that was never counted.
      if (created !== known.size + dropped) {
        uncounted.push(`${receiver.manner}: ${created} created, ${known.size} known`)
      }
      for (const [event, status] of listed) {
        const received = receiver.events.get(event)
        if (status === 'delivered' && (received?.accepted ?? 0) === 0) {
          uncounted.push(`${receiver.manner} ${event}: marked as delivered and never accepted`)
        }
      }
    }
    return { due: due.length, lost, uncounted, ...this.#received(), ...totals(counts) }
  }

  #received() {
    const receivers = this.#hooks.map(({ receiver }) => receiver)
    return {
      faults: receivers.flatMap(({ faults }) => faults),
      requests: receivers.reduce((sum, { requests }) => sum + requests, 0),
      duplicates: receivers.reduce((sum, { duplicates }) => sum + duplicates, 0),
    }
  }

  /** Event ids of the true trades that are due, named as the service spells them. */
  async #due(places: Places): Promise<{ due: string[]; missing: string[] }> {
    const spelled = await spelledTrades(places)
    const due: string[] = []
    const missing: string[] = []
    for (const [name, atMs] of await truthOfTrades(places)) {
      if (atMs < this.sinceMs) continue
      const parts = spelled.get(name)
      if (parts === undefined) missing.push(`never stored: ${name}`)
      else due.push(eventId('trade.created', ...parts))
    }
    return { due, missing }
  }

  async #listed(places: Places, hook: string): Promise<Map<string, string>> {
    const rows = new Map<string, string>()
    let cursor: string | null = null
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`
      const url = `${places.api}/v1/webhooks/${hook}/deliveries?limit=200${after}`
      const page: { deliveries: DeliveryRow[]; cursor: string | null } = await read(url, places.key)
      for (const { event_id: event, status } of page.deliveries) rows.set(event, status)
      cursor = page.cursor
    } while (cursor !== null)
    return rows
  }
}

function totals(counts: readonly Counts[]): { readonly delivered: number } {
  return { delivered: counts.reduce((sum, { delivered }) => sum + delivered, 0) }
}

/** Market id and native trade id of every stored trade, by both in lower case. */
async function spelledTrades(places: Places): Promise<Map<string, readonly [string, string]>> {
  const spelled = new Map<string, readonly [string, string]>()
  for (const market of await allMarketIds(places)) {
    let cursor: string | null = null
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`
      const url = `${places.api}/v1/markets/${encodeURIComponent(market)}/trades?limit=500${after}`
      const page: { trades: { native_trade_id: string }[]; cursor: string | null } = await read(
        url,
        places.key,
      )
      for (const { native_trade_id: trade } of page.trades) {
        spelled.set(`${market} ${trade}`.toLowerCase(), [market, trade])
      }
      cursor = page.cursor
    } while (cursor !== null)
  }
  return spelled
}
