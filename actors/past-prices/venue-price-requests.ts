// Requests past prices from venues, with limits on concurrent requests and on waits.

import type { Clock } from '../../engine/clock.ts'
import type { EngineError } from '../../engine/errors.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import type { VenueKey } from '../../engine/ids.ts'
import {
  pastQueriesPerMinute,
  pastQueriesPerRequesterMax,
  pastQueriesRunningMax,
  pastQueriesWaitingMax,
  pastQueryMsMax,
} from '../../engine/limits.ts'
import { type Log, LogSampler } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { PastMarket, VenuePastPrices } from '../../engine/venues/venue.ts'
import { Deadline, unavailable } from '../deadline.ts'
import { Slots, SlotsFull } from '../slots.ts'
import { VenueBudget } from '../venue-budget.ts'
import type { CatalogView, MarketView, PricePoint } from '../views.ts'

export interface VenuePriceRequestParts {
  readonly events: Pick<CatalogView, 'event'>
  readonly pastPricesOf: (venue: VenueKey) => VenuePastPrices | null
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

const TOO_MANY = 'too many requests for past prices are running'

export class VenuePriceRequests {
  readonly #parts: VenuePriceRequestParts
  readonly #slots = new Slots({
    runningMax: pastQueriesRunningMax,
    waitingMax: pastQueriesWaitingMax,
    runningOfOneMax: pastQueriesPerRequesterMax,
  })
  readonly #budget: VenueBudget
  readonly #stopping = new AbortController()
  readonly #sampler = new LogSampler()

  constructor(parts: VenuePriceRequestParts) {
    this.#parts = parts
    this.#budget = new VenueBudget(parts.clock, pastQueriesPerMinute, 'past prices of venues')
  }

  deadline(): Deadline {
    return new Deadline(this.#parts.clock, pastQueryMsMax, [this.#stopping.signal])
  }

  /**
   * Rejects with EngineError UNAVAILABLE if `signal` aborts before the answer, and with RATE_LIMITED if the requester
   * has used up its requests per minute.
   */
  async prices(
    market: MarketView,
    range: { fromMs: TimeMs; toMs: TimeMs; stepMs?: number },
    { signal, requester }: { readonly signal: AbortSignal; readonly requester: Requester },
  ): Promise<readonly PricePoint[]> {
    const { platform, venue } = market.ref
    const prices = this.#parts.pastPricesOf(venue)
    if (prices === null || this.#stopping.signal.aborted) {
      throw this.#refusal(`${platform} is not connected`)
    }
    if (this.#slots.isFull(requester)) throw this.#refusal(TOO_MANY)
    this.#budget.take(requester)
    try {
      const pastMarket = this.#pastMarket(market)
      const points = await this.#slots.run(
        signal,
        () => prices.read(pastMarket, range, signal),
        requester,
      )
      signal.throwIfAborted()
      this.#count('answered')
      return points
    } catch (cause) {
      if (cause instanceof SlotsFull) throw this.#refusal(TOO_MANY)
      this.#count('failed')
      const { isWritten, count } = this.#sampler.admit(platform)
      const details = { err: cause, market: market.ref.id, count }
      if (isWritten) this.#parts.log.warn(details, 'past prices not read')
      throw unavailable(`${platform} does not answer`, cause)
    }
  }

  stop(): void {
    this.#stopping.abort()
  }

  #pastMarket({ summary }: MarketView): PastMarket {
    const { venue, nativeId, event, outcomes } = summary
    const series = event === null ? null : (this.#parts.events.event(venue, event)?.series ?? null)
    return { nativeId, event, series, outcomes: outcomes.map(({ id }) => id) }
  }

  #refusal(detail: string): EngineError {
    this.#count('refused')
    return unavailable(detail)
  }

  #count(outcome: 'answered' | 'failed' | 'refused'): void {
    const help = 'Ranges of past prices requested from the venues.'
    this.#parts.metrics.count('past_prices_asked_total', help, { outcome }).inc()
  }
}
