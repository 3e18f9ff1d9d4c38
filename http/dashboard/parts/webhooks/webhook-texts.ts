// What the page says of a webhook's state and of its deliveries, and how pages of deliveries become one list. Pure.

import { countText, durationText } from '../../format.ts'
import type { Deliveries, Delivery, Webhook } from '../../records.ts'

/** Whether events are posted to a webhook, and if not, why. */
interface WebhookState {
  readonly name: 'on' | 'failing' | 'off'
  readonly text: string
}

/** `nowMs` in Unix milliseconds. */
export function stateOf(webhook: Webhook, nowMs: number): WebhookState {
  if (!webhook.active) return { name: 'off', text: OFF[webhook.disabled_reason ?? 'byUser'] }
  if (!webhook.verified) {
    return { name: 'off', text: 'It gets events once your receiver answers a test with a 2xx.' }
  }
  const since = webhook.failing_since
  if (since === null) return { name: 'on', text: 'Events are posted as they happen.' }
  const text = `Every attempt has failed for ${durationText(nowMs - since * 1_000)}.`
  return { name: 'failing', text: `${text} After five days it is switched off.` }
}

const OFF = {
  byUser: 'You switched it off: nothing is sent.',
  gone: 'It was switched off: your receiver answered 410 Gone.',
  failing: 'It was switched off: every attempt failed for five days.',
} as const

/** `12 delivered, 1 waiting`; only what there is. */
export function countsText(counts: Webhook['counts']): string {
  const parts = COUNTS.flatMap(([name, label]) => {
    return counts[name] === 0 ? [] : [`${countText(counts[name])} ${label}`]
  })
  return parts.length === 0 ? 'None yet' : parts.join(', ')
}

const COUNTS = [
  ['delivered', 'delivered'],
  ['pending', 'pending'],
  ['exhausted', 'failed'],
  ['dropped', 'dropped'],
] as const

/** A delivery's status in one word. */
export const DELIVERY_WORDS: Readonly<Record<Delivery['status'], string>> = {
  pending: 'pending',
  delivered: 'delivered',
  exhausted: 'failed',
  dropped: 'dropped',
}

/** What came of the last attempt. */
export function attemptText({ last_attempt: last }: Delivery): string {
  if (last === null) return 'Not tried yet'
  const took = durationText(last.duration_ms)
  if (last.error === null) return `${last.status ?? ''} in ${took}`.trim()
  // Most errors name the status themselves.
  const isNamed = last.status === null || last.error.includes(String(last.status))
  return `${isNamed ? '' : `${last.status}: `}${last.error}, in ${took}`
}

/** A filter as a row of a list: its name and what it asks for. */
export function filterRows({ filters }: Webhook): readonly (readonly [string, string])[] {
  return Object.entries(filters).flatMap(([name, wanted]) => {
    if (wanted === null) return []
    return [[name, Array.isArray(wanted) ? wanted.join(', ') : String(wanted)] as const]
  })
}

/** What is shown of a webhook's deliveries. */
export interface Shown {
  /** Newest first. */
  readonly rows: readonly Delivery[]
  /** Where older ones begin; null: there are none. */
  readonly cursor: string | null
}

/** The newest page, over what is shown: rows it has are replaced, older ones that were asked for stay. */
export function withNewest(shown: Shown | null, page: Deliveries): Shown {
  const fresh = { rows: page.deliveries, cursor: page.cursor }
  if (shown === null) return fresh
  const last = page.deliveries.at(-1)
  const ids = new Set(page.deliveries.map(({ id }) => id))
  // A page that no longer meets what is shown would leave a hole between them.
  const isMeeting = page.has_more && shown.rows.some(({ id }) => id === last?.id)
  if (!isMeeting) return fresh
  const older = shown.rows.filter(({ id }) => !ids.has(id))
  return { rows: [...page.deliveries, ...older], cursor: shown.cursor }
}

/** An older page, below what is shown. */
export function withOlder(shown: Shown, page: Deliveries): Shown {
  const ids = new Set(shown.rows.map(({ id }) => id))
  const older = page.deliveries.filter(({ id }) => !ids.has(id))
  return { rows: [...shown.rows, ...older], cursor: page.cursor }
}

/** One delivery as it now is; a new one stands on top. */
export function withOne(shown: Shown, delivery: Delivery): Shown {
  const isListed = shown.rows.some(({ id }) => id === delivery.id)
  const rows = isListed
    ? shown.rows.map((row) => (row.id === delivery.id ? delivery : row))
    : [delivery, ...shown.rows]
  return { ...shown, rows }
}
