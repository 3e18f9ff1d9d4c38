// The attempts under way of all webhooks, and the bound on them: begins an attempt, measures it, and hands its outcome on.
// A bound of its own keeps endpoints that only fail from taking every place.
// Not for: which delivery is sent (deliveries.ts), or what an outcome means (actors/webhooks/attempt.ts).
// Upholds DELIVER1, DELIVER2, DELIVER8, DELIVER13.

import type { Clock } from '../../engine/clock.ts'
import { attemptsMax, attemptsOfFailingMax } from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Durations, Metrics } from '../../engine/process/metrics.ts'
import type { TimeMs } from '../../engine/units.ts'
import { outcomeLabel } from '../../engine/webhooks/call-outcome.ts'
import type { Caller, PostOutcome } from '../../engine/webhooks/post.ts'
import type { SecretBox } from '../../engine/webhooks/secret-box.ts'
import type { StoredDelivery, Webhook } from '../../engine/webhooks/webhook.ts'
import { type AttemptTimes, headersOf } from './attempt.ts'
import type { DeliveryQueue } from './queue.ts'

interface AttemptParts {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly caller: Pick<Caller, 'post'>
  readonly box: SecretBox
}

/** A finished attempt; `isAborted`: by this process, so the outcome says nothing about the receiver. */
export interface Finished {
  readonly record: StoredDelivery
  readonly outcome: PostOutcome
  readonly times: AttemptTimes
  readonly isAborted: boolean
}

export class Attempts {
  readonly #parts: AttemptParts
  readonly #onFinished: (queue: DeliveryQueue, finished: Finished) => void
  readonly #sentAfterMs: Durations
  #count = 0
  #failingCount = 0

  constructor(parts: AttemptParts, onFinished: (queue: DeliveryQueue, finished: Finished) => void) {
    this.#parts = parts
    this.#onFinished = onFinished
    this.#sentAfterMs = parts.metrics.histogramMs(
      'webhook_event_to_send_ms',
      'From an event, as it reached us, to its first attempt; of a whale, from its closing.',
    )
    parts.metrics.gauge('webhook_attempts_under_way', 'Attempts now.', () => this.#count)
  }

  get hasRoom(): boolean {
    return this.#count < attemptsMax
  }

  /** Less than half of the places are taken. */
  get isQuiet(): boolean {
    return this.#count < attemptsMax / 2
  }

  get hasRoomForFailing(): boolean {
    return this.#failingCount < attemptsOfFailingMax
  }

  /** The queue began to fail, or stopped failing: its attempts under way count with the others of its kind. */
  noteFailing({ isFailing, underWay }: DeliveryQueue): void {
    this.#failingCount += isFailing ? underWay.size : -underWay.size
  }

  /** Sends a delivery; the outcome comes in a later turn. */
  begin(queue: DeliveryQueue, record: StoredDelivery, atMs: TimeMs): void {
    const { clock, caller, log } = this.#parts
    const { webhook } = queue
    const controller = new AbortController()
    const { signal } = controller
    const beganMs = clock.monotonicMs()
    queue.underWay.set(record.number, controller)
    this.#count += 1
    if (queue.isFailing) this.#failingCount += 1
    const originMs = queue.takeOrigin(record.number) ?? record.createdAtMs
    const isFirst = record.attempts === 0 && record.last === null
    if (isFirst) this.#sentAfterMs.observe(Math.max(0, atMs - originMs))
    const finish = (outcome: PostOutcome) => {
      queue.underWay.delete(record.number)
      this.#count -= 1
      if (queue.isFailing) this.#failingCount -= 1
      this.#countOutcome(outcomeLabel(outcome))
      const durationMs = Math.round(clock.monotonicMs() - beganMs)
      const times = { atMs, nowMs: clock.nowMs(), durationMs }
      this.#onFinished(queue, { record, outcome, times, isAborted: signal.aborted })
    }
    const headers = this.#headers(webhook, record, atMs)
    const posted =
      headers === null
        ? Promise.resolve(failure('its secret cannot be read; rotate it'))
        : caller.post({ url: webhook.url, headers, body: record.body, signal })
    const fail = (error: unknown) => {
      log.error({ err: error, webhook: webhook.id }, 'a call threw')
      finish(failure('internal error'))
    }
    posted.then(finish, fail).catch((error: unknown) => {
      log.error({ err: error, webhook: webhook.id }, 'an outcome was not noted')
    })
  }

  #headers(webhook: Webhook, record: StoredDelivery, nowMs: TimeMs) {
    try {
      return headersOf(webhook, record, { box: this.#parts.box, nowMs })
    } catch (error) {
      this.#parts.log.error({ err: error, webhook: webhook.id }, 'a webhook cannot sign')
      return null
    }
  }

  #countOutcome(outcome: string): void {
    const help = 'Attempts of deliveries.'
    this.#parts.metrics.count('webhook_attempts_total', help, { outcome }).inc()
  }
}

const failure = (detail: string): PostOutcome => ({ kind: 'failed', reason: 'network', detail })
