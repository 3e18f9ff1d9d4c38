// Texts for webhook and delivery states, and merging of delivery pages. Pure functions.

import { countText, durationText } from '../../format.ts'
import type { Deliveries, Delivery, Webhook } from '../../records.ts'

/** Whether events are posted, and the reason if not. */
interface WebhookState {
  readonly name: 'on' | 'failing' | 'off'
  readonly text: string
}

/** `nowMs` is in Unix milliseconds. */
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

/** Nonzero counts: `12 delivered, 1 pending`. */
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

export const DELIVERY_WORDS: Readonly<Record<Delivery['status'], string>> = {
  pending: 'pending',
  delivered: 'delivered',
  exhausted: 'failed',
  dropped: 'dropped',
}

/** Result of the last attempt. */
export function attemptText({ last_attempt: last }: Delivery): string {
  if (last === null) return 'Not tried yet'
  const took = durationText(last.duration_ms)
  if (last.error === null) return `${last.status ?? ''} in ${took}`.trim()
  // Most error messages contain the status already.
  const isNamed = last.status === null || last.error.includes(String(last.status))
  return `${isNamed ? '' : `${last.status}: `}${last.error}, in ${took}`
}

/** Active filters as names and values. */
export function filterRows({ filters }: Webhook): readonly (readonly [string, string])[] {
  return Object.entries(filters).flatMap(([name, wanted]) => {
    if (wanted === null) return []
    return [[name, Array.isArray(wanted) ? wanted.join(', ') : String(wanted)] as const]
  })
}

export interface Shown {
  /** Newest first. */
  readonly rows: readonly Delivery[]
  /** Cursor of the next older page; null: none. */
  readonly cursor: string | null
}

/** Merges the newest page: replaces its rows and retains older ones. */
export function withNewest(shown: Shown | null, page: Deliveries): Shown {
  const fresh = { rows: page.deliveries, cursor: page.cursor }
  if (shown === null) return fresh
  const last = page.deliveries.at(-1)
  const ids = new Set(page.deliveries.map(({ id }) => id))
  // A page without overlap would leave a gap, so it replaces the list.
  const isMeeting = page.has_more && shown.rows.some(({ id }) => id === last?.id)
  if (!isMeeting) return fresh
  const older = shown.rows.filter(({ id }) => !ids.has(id))
  return { rows: [...page.deliveries, ...older], cursor: shown.cursor }
}

/** Appends an older page. */
export function withOlder(shown: Shown, page: Deliveries): Shown {
  const ids = new Set(shown.rows.map(({ id }) => id))
  const older = page.deliveries.filter(({ id }) => !ids.has(id))
  return { rows: [...shown.rows, ...older], cursor: page.cursor }
}

/** Updates a delivery; a new one is inserted at the top. */
export function withOne(shown: Shown, delivery: Delivery): Shown {
  const isListed = shown.rows.some(({ id }) => id === delivery.id)
  const rows = isListed
    ? shown.rows.map((row) => (row.id === delivery.id ? delivery : row))
    : [delivery, ...shown.rows]
  return { ...shown, rows }
}
