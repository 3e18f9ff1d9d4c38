// Runs delivery attempts and reports their outcomes. Limits the running attempts in total, of suspect (failing or slow)
// webhooks, and per host.

import type { Clock } from '../../engine/clock.ts'
import type { AccountId } from '../../engine/ids.ts'
import { attemptsMax, attemptsOfFailingMax, attemptsPerHostMax } from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Durations, Metrics } from '../../engine/process/metrics.ts'
import type { Random } from '../../engine/random.ts'
import { type TimeMs, timeMs, toSeconds } from '../../engine/units.ts'
import { outcomeLabel } from '../../engine/webhooks/call-outcome.ts'
import {
  messageIntervalMs,
  postUrlOf,
  requestedPauseMs,
} from '../../engine/webhooks/chat-message.ts'
import type { WebhookBodies } from '../../engine/webhooks/event-type.ts'
import { type Caller, POST_HEADERS, type PostOutcome } from '../../engine/webhooks/post.ts'
import { nextAttemptMs } from '../../engine/webhooks/retry-schedule.ts'
import type { SecretBox } from '../../engine/webhooks/secret-box.ts'
import { signatureHeaders } from '../../engine/webhooks/signature.ts'
import type { Delivery, StoredDelivery, Webhook } from '../../engine/webhooks/webhook.ts'
import type { AccountShares } from './account-shares.ts'
import type { AttemptCapacity } from './delivery-rotation.ts'
import type { DeliveryQueue } from './queue.ts'

const ERROR_CHARACTERS_MAX = 200
const GONE = 410

interface AttemptParts {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly caller: Pick<Caller, 'post'>
  readonly box: SecretBox
  readonly shares: AccountShares
  readonly bodies: Pick<WebhookBodies, 'chat'>
}

/** `isAborted`: this process aborted the attempt, so the outcome is no failure of the receiver. */
export interface Finished {
  /** One delivery, or the deliveries of one chat message. */
  readonly records: readonly StoredDelivery[]
  readonly outcome: PostOutcome
  readonly times: AttemptTimes
  /** The host that was called. The webhook's URL may have changed since. */
  readonly host: string
  readonly isAborted: boolean
}

export class Attempts implements AttemptCapacity {
  readonly #parts: AttemptParts
  readonly #onFinished: (queue: DeliveryQueue, finished: Finished) => void
  readonly #sentAfterMs: Durations
  #count = 0
  #suspectCount = 0
  readonly #byHost = new Map<string, number>()

  constructor(parts: AttemptParts, onFinished: (queue: DeliveryQueue, finished: Finished) => void) {
    this.#parts = parts
    this.#onFinished = onFinished
    this.#sentAfterMs = parts.metrics.histogramMs(
      'webhook_event_to_send_ms',
      'Time from the receipt of an event to its first attempt; for a whale, from the end of its group.',
    )
    parts.metrics.gauge('webhook_attempts_under_way', 'Running attempts.', () => this.#count)
  }

  get hasCapacity(): boolean {
    return this.#count < attemptsMax
  }

  get isQuiet(): boolean {
    return this.#count < attemptsMax / 2
  }

  get hasCapacityForSuspect(): boolean {
    return this.#suspectCount < attemptsOfFailingMax
  }

  hasCapacityForAccount(account: AccountId): boolean {
    return this.#parts.shares.hasAttempt(account)
  }

  hasCapacityForHost(host: string): boolean {
    return (this.#byHost.get(host) ?? 0) < attemptsPerHostMax
  }

  /** Must be called after `isSuspect` of a webhook changed. */
  noteSuspect({ isSuspect, attemptCount }: DeliveryQueue): void {
    this.#suspectCount += isSuspect ? attemptCount : -attemptCount
  }

  /** Sends deliveries that are already in `queue.underWay`. The outcome is reported in a later tick. */
  begin(
    queue: DeliveryQueue,
    records: readonly StoredDelivery[],
    { controller, atMs }: { readonly controller: AbortController; readonly atMs: TimeMs },
  ): void {
    const { clock, log } = this.#parts
    const { webhook, host } = queue
    const { signal } = controller
    const beganMs = clock.monotonicMs()
    this.#count += 1
    if (queue.isSuspect) this.#suspectCount += 1
    this.#parts.shares.begin(queue)
    add(this.#byHost, host, 1)
    for (const record of records) {
      const originMs = queue.takeOrigin(record.number) ?? record.createdAtMs
      const isFirst = record.attempts === 0 && record.last === null
      if (isFirst) this.#sentAfterMs.observe(Math.max(0, atMs - originMs))
    }
    const finish = (outcome: PostOutcome) => {
      for (const { number } of records) queue.underWay.delete(number)
      this.#count -= 1
      if (queue.isSuspect) this.#suspectCount -= 1
      if (queue.webhook.url === webhook.url) {
        queue.pausedUntilMs = pausedUntil(webhook, outcome, { atMs, nowMs: clock.nowMs() })
      }
      this.#parts.shares.end(queue)
      add(this.#byHost, host, -1)
      this.#countOutcome(outcomeLabel(outcome))
      const durationMs = Math.round(clock.monotonicMs() - beganMs)
      const times = { atMs, nowMs: clock.nowMs(), durationMs }
      this.#onFinished(queue, { records, outcome, times, host, isAborted: signal.aborted })
    }
    const fail = (error: unknown) => {
      log.error({ err: error, webhook: webhook.id }, 'the call of a delivery threw')
      finish(failure('internal error'))
    }
    this.#post(webhook, records, { atMs, signal })
      .then(finish, fail)
      .catch((error: unknown) => {
        log.error({ err: error, webhook: webhook.id }, 'the outcome of a delivery was not recorded')
      })
  }

  #post(
    webhook: Webhook,
    records: readonly StoredDelivery[],
    { atMs, signal }: { readonly atMs: TimeMs; readonly signal: AbortSignal },
  ): Promise<PostOutcome> {
    const { caller } = this.#parts
    const { format, url } = webhook
    if (format !== 'standard') {
      const body = this.#chatBody(webhook, records)
      if (body === null) return Promise.resolve(failure('its message cannot be written'))
      return caller.post({ url: postUrlOf(format, url), headers: POST_HEADERS, body, signal })
    }
    const [record] = records
    const headers = record === undefined ? null : this.#headers(webhook, record, atMs)
    if (record === undefined || headers === null) {
      return Promise.resolve(failure('its secret cannot be read; rotate it'))
    }
    return caller.post({ url, headers, body: record.body, signal })
  }

  /** Null if a stored body is damaged. */
  #chatBody({ id, format, url }: Webhook, records: readonly StoredDelivery[]): Uint8Array | null {
    if (format === 'standard') return null
    const bodies = records.map(({ body }) => body)
    try {
      return this.#parts.bodies.chat(format, bodies, url)
    } catch (error) {
      this.#parts.log.error({ err: error, webhook: id }, 'a chat message was not written')
      return null
    }
  }

  /** Null if the stored secret cannot be decrypted. Previous secrets that cannot be decrypted are skipped. */
  #headers(
    { id, secret, previousSecrets }: Webhook,
    { eventId, body }: StoredDelivery,
    nowMs: TimeMs,
  ): Readonly<Record<string, string>> | null {
    const { box, log } = this.#parts
    try {
      const secrets = [box.open(secret, id)]
      for (const previous of previousSecrets) {
        const isSigning = nowMs < previous.untilMs && box.opens(previous.secret, id)
        if (isSigning) secrets.push(box.open(previous.secret, id))
      }
      const timeSeconds = toSeconds(nowMs)
      return { ...POST_HEADERS, ...signatureHeaders({ secrets, eventId, timeSeconds, body }) }
    } catch (error) {
      log.error({ err: error, webhook: id }, 'cannot sign a delivery: its secret cannot be opened')
      return null
    }
  }

  #countOutcome(outcome: string): void {
    const help = 'Finished attempts by outcome.'
    this.#parts.metrics.count('webhook_attempts_total', help, { outcome }).inc()
  }
}

const failure = (detail: string): PostOutcome => ({ kind: 'failed', reason: 'network', detail })

function add<Key>(counts: Map<Key, number>, key: Key, difference: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + difference
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

interface AttemptTimes {
  readonly atMs: TimeMs
  readonly nowMs: TimeMs
  readonly durationMs: number
}

/** When the next message of a chat may be sent. */
function pausedUntil(
  { format, url }: Webhook,
  outcome: PostOutcome,
  { atMs, nowMs }: Pick<AttemptTimes, 'atMs' | 'nowMs'>,
): TimeMs {
  if (format === 'standard') return timeMs(0)
  const pauseMs = outcome.kind === 'answered' ? requestedPauseMs(outcome) : 0
  return timeMs(Math.max(atMs + messageIntervalMs(format, url), nowMs + pauseMs))
}

interface AttemptResult {
  readonly delivery: Delivery
}

export function applyOutcome(
  record: Delivery,
  outcome: PostOutcome,
  { atMs, nowMs, durationMs }: AttemptTimes,
  random: Pick<Random, 'next'>,
): AttemptResult {
  const attempts = record.attempts + 1
  const { status, error } = describeOutcome(outcome)
  const answer = outcome.kind === 'answered' ? outcome.answer : undefined
  const last = { atMs, durationMs, status, error, ...(answer === undefined ? {} : { answer }) }
  const isSuccess = error === null
  const retryAfterMs = outcome.kind === 'answered' ? outcome.retryAfterMs : null
  const isOver = isSuccess || isGone(outcome)
  const dueAtMs = isOver ? null : nextAttemptMs({ attempts, nowMs, retryAfterMs, random })
  const unfinished = dueAtMs === null ? 'exhausted' : 'pending'
  const delivery: Delivery = {
    number: record.number,
    eventId: record.eventId,
    eventType: record.eventType,
    createdAtMs: record.createdAtMs,
    ...{ status: isSuccess ? 'delivered' : unfinished, dueAtMs, attempts, last },
  }
  return { delivery }
}

/** Whether the receiver answered 410, after which the webhook must be disabled. */
export const isGone = (outcome: PostOutcome): boolean =>
  outcome.kind === 'answered' && outcome.status === GONE

/** Null after a 2xx. */
export const errorOf = (outcome: PostOutcome): string | null => describeOutcome(outcome).error

function describeOutcome(outcome: PostOutcome): { status: number | null; error: string | null } {
  if (outcome.kind === 'failed') {
    return { status: null, error: outcome.detail.slice(0, ERROR_CHARACTERS_MAX) }
  }
  const { status } = outcome
  if (status >= 200 && status < 300) return { status, error: null }
  const isRedirect = status >= 300 && status < 400
  return { status, error: `answered ${status}${isRedirect ? '; no redirect is followed' : ''}` }
}
