// One attempt of a delivery: the posted headers, and the delivery's state after an outcome. Secrets are opened only
// while signing.

import type { Random } from '../../engine/random.ts'
import { type TimeMs, toSeconds } from '../../engine/units.ts'
import { POST_HEADERS, type PostOutcome } from '../../engine/webhooks/post.ts'
import { nextAttemptMs } from '../../engine/webhooks/retry-schedule.ts'
import type { SecretBox } from '../../engine/webhooks/secret-box.ts'
import { signatureHeaders } from '../../engine/webhooks/signature.ts'
import type { Delivery, StoredDelivery, Webhook } from '../../engine/webhooks/webhook.ts'

/** Characters stored of an error text. */
const ERROR_CHARACTERS_MAX = 200
const GONE = 410

/**
 * The headers of an attempt at `nowMs`. Throws if the stored secret cannot be opened. Skips a previous secret that
 * cannot be opened.
 */
export function headersOf(
  webhook: Webhook,
  { eventId, body }: Pick<StoredDelivery, 'eventId' | 'body'>,
  { box, nowMs }: { box: SecretBox; nowMs: TimeMs },
): Readonly<Record<string, string>> {
  const { id, secret, previousSecrets } = webhook
  const secrets = [box.open(secret, id)]
  for (const previous of previousSecrets) {
    const isSigning = nowMs < previous.untilMs && box.opens(previous.secret, id)
    if (isSigning) secrets.push(box.open(previous.secret, id))
  }
  const signature = signatureHeaders({ secrets, eventId, timeSeconds: toSeconds(nowMs), body })
  return { ...POST_HEADERS, ...signature }
}

export interface AttemptTimes {
  /** Start of the attempt. */
  readonly atMs: TimeMs
  readonly nowMs: TimeMs
  readonly durationMs: number
}

interface AttemptResult {
  readonly delivery: Delivery
  readonly isSuccess: boolean
  /** The receiver answered 410: the webhook must be disabled. */
  readonly isGone: boolean
}

/** The delivery after an attempt. */
export function applyOutcome(
  record: Delivery,
  outcome: PostOutcome,
  { atMs, nowMs, durationMs }: AttemptTimes,
  random: Random,
): AttemptResult {
  const attempts = record.attempts + 1
  const { status, error } = describeOutcome(outcome)
  const answer = outcome.kind === 'answered' ? outcome.answer : undefined
  const last = { atMs, durationMs, status, error, ...(answer === undefined ? {} : { answer }) }
  const isSuccess = error === null
  const isGone = status === GONE
  const retryAfterMs = outcome.kind === 'answered' ? outcome.retryAfterMs : null
  const isOver = isSuccess || isGone
  const dueAtMs = isOver ? null : nextAttemptMs({ attempts, nowMs, retryAfterMs, random })
  const unfinished = dueAtMs === null ? 'exhausted' : 'pending'
  const delivery: Delivery = {
    number: record.number,
    eventId: record.eventId,
    eventType: record.eventType,
    createdAtMs: record.createdAtMs,
    ...{ status: isSuccess ? 'delivered' : unfinished, dueAtMs, attempts, last },
  }
  return { delivery, isSuccess, isGone }
}

function describeOutcome(outcome: PostOutcome): { status: number | null; error: string | null } {
  if (outcome.kind === 'failed') {
    return { status: null, error: outcome.detail.slice(0, ERROR_CHARACTERS_MAX) }
  }
  const { status } = outcome
  if (status >= 200 && status < 300) return { status, error: null }
  const isRedirect = status >= 300 && status < 400
  return { status, error: `answered ${status}${isRedirect ? '; no redirect is followed' : ''}` }
}
