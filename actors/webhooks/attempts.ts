// Runs delivery attempts and reports their outcomes. Limits the running attempts in total, of suspect (failing or slow)
// webhooks, and per host.

import type { Clock } from '../../engine/clock.ts'
import type { AccountId } from '../../engine/ids.ts'
import { attemptsMax, attemptsOfFailingMax, attemptsPerHostMax } from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Durations, Metrics } from '../../engine/process/metrics.ts'
import type { Random } from '../../engine/random.ts'
import { type TimeMs, toSeconds } from '../../engine/units.ts'
import { outcomeLabel } from '../../engine/webhooks/call-outcome.ts'
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
}

/** `isAborted`: this process aborted the attempt, so the outcome is no failure of the receiver. */
export interface Finished {
  readonly record: StoredDelivery
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
  noteSuspect({ isSuspect, underWay }: DeliveryQueue): void {
    this.#suspectCount += isSuspect ? underWay.size : -underWay.size
  }

  /** The outcome is reported in a later tick. */
  begin(queue: DeliveryQueue, record: StoredDelivery, atMs: TimeMs): void {
    const { clock, caller, log } = this.#parts
    const { webhook, host } = queue
    const controller = new AbortController()
    const { signal } = controller
    const beganMs = clock.monotonicMs()
    queue.underWay.set(record.number, controller)
    this.#count += 1
    if (queue.isSuspect) this.#suspectCount += 1
    this.#parts.shares.begin(queue)
    add(this.#byHost, host, 1)
    const originMs = queue.takeOrigin(record.number) ?? record.createdAtMs
    const isFirst = record.attempts === 0 && record.last === null
    if (isFirst) this.#sentAfterMs.observe(Math.max(0, atMs - originMs))
    const finish = (outcome: PostOutcome) => {
      queue.underWay.delete(record.number)
      this.#count -= 1
      if (queue.isSuspect) this.#suspectCount -= 1
      this.#parts.shares.end(queue)
      add(this.#byHost, host, -1)
      this.#countOutcome(outcomeLabel(outcome))
      const durationMs = Math.round(clock.monotonicMs() - beganMs)
      const times = { atMs, nowMs: clock.nowMs(), durationMs }
      this.#onFinished(queue, { record, outcome, times, host, isAborted: signal.aborted })
    }
    const headers = this.#headers(webhook, record, atMs)
    const posted =
      headers === null
        ? Promise.resolve(failure('its secret cannot be read; rotate it'))
        : caller.post({ url: webhook.url, headers, body: record.body, signal })
    const fail = (error: unknown) => {
      log.error({ err: error, webhook: webhook.id }, 'the call of a delivery threw')
      finish(failure('internal error'))
    }
    posted.then(finish, fail).catch((error: unknown) => {
      log.error({ err: error, webhook: webhook.id }, 'the outcome of a delivery was not recorded')
    })
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

interface AttemptResult {
  readonly delivery: Delivery
  readonly isSuccess: boolean
  /** Whether the receiver answered 410, after which the webhook must be disabled. */
  readonly isGone: boolean
}

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
