// Begins and measures attempts, and reports their outcomes. Bounds running attempts over all webhooks, over failing or
// slow ones, and per host.

import type { Clock } from '../../engine/clock.ts'
import type { AccountId } from '../../engine/ids.ts'
import { attemptsMax, attemptsOfFailingMax, attemptsPerHostMax } from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Durations, Metrics } from '../../engine/process/metrics.ts'
import type { TimeMs } from '../../engine/units.ts'
import { outcomeLabel } from '../../engine/webhooks/call-outcome.ts'
import type { Caller, PostOutcome } from '../../engine/webhooks/post.ts'
import type { SecretBox } from '../../engine/webhooks/secret-box.ts'
import type { StoredDelivery, Webhook } from '../../engine/webhooks/webhook.ts'
import type { AccountShares } from './account-shares.ts'
import { type AttemptTimes, headersOf } from './attempt.ts'
import type { AttemptCapacity } from './delivery-rotation.ts'
import type { DeliveryQueue } from './queue.ts'

interface AttemptParts {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly caller: Pick<Caller, 'post'>
  readonly box: SecretBox
  readonly shares: AccountShares
}

/** A finished attempt. `isAborted`: aborted by this process, so the outcome is no evidence about the receiver. */
export interface Finished {
  readonly record: StoredDelivery
  readonly outcome: PostOutcome
  readonly times: AttemptTimes
  /** The host that it was sent to: the webhook's URL may have changed since. */
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
      'From an event, as it reached us, to its first attempt; of a whale, from its closing.',
    )
    parts.metrics.gauge('webhook_attempts_under_way', 'Attempts now.', () => this.#count)
  }

  get hasCapacity(): boolean {
    return this.#count < attemptsMax
  }

  /** Less than half of the attempt slots are in use. */
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

  /** `isSuspect` changed: recounts the queue's running attempts. */
  noteSuspect({ isSuspect, underWay }: DeliveryQueue): void {
    this.#suspectCount += isSuspect ? underWay.size : -underWay.size
  }

  /** Sends a delivery; the outcome arrives in a later tick. */
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

function add<Key>(counts: Map<Key, number>, key: Key, difference: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + difference
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
