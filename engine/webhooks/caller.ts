// Sends POSTs to URLs that users supply, restricted to public addresses. Each attempt validates the URL, all addresses
// of its host, and the connected address again. There are no redirects, proxies or retries. Errors are returned as
// outcomes, never thrown.

import type { Clock } from '../clock.ts'
import { callsMax } from '../limits.ts'
import { onAbort } from '../on-abort.ts'
import type { Log } from '../process/log.ts'
import type { Count, Metrics } from '../process/metrics.ts'
import { Call } from './call.ts'
import { failure, OUTCOME_LABELS, type OutcomeLabel, outcomeLabel } from './call-outcome.ts'
import { type AddressesOf, guardedLookup, NameServers } from './guarded-lookup.ts'
import type { Caller, CallPolicy, PostOutcome, PostRequest } from './post.ts'
import { ReceiverAgents } from './receiver-agents.ts'
import { readTargetUrl } from './target-url.ts'

export interface CallerParts {
  readonly policy: CallPolicy
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: Log
  /** Resolves names. Default: the machine's DNS servers. */
  readonly lookup?: AddressesOf
  /** Certificate authorities that replace the built-in ones, PEM. */
  readonly ca?: string
}

/** The caller must be stopped with `stop`. */
export function openCaller(parts: CallerParts): Caller {
  return new ReceiverCaller(parts)
}

class ReceiverCaller implements Caller {
  readonly #parts: CallerParts
  readonly #names = new NameServers()
  readonly #agents: ReceiverAgents
  readonly #running = new Set<Call>()
  readonly #counts: ReadonlyMap<OutcomeLabel, Count>
  #isStopped = false

  constructor(parts: CallerParts) {
    this.#parts = parts
    const addressesOf = parts.lookup ?? ((host: string) => this.#names.addressesOf(host))
    const lookup = guardedLookup(addressesOf, parts.policy.allowsPrivate)
    this.#agents = new ReceiverAgents({ lookup, ca: parts.ca ?? null })
    const help = 'POSTs to receivers, by outcome'
    this.#counts = new Map(
      OUTCOME_LABELS.map((outcome) => [
        outcome,
        parts.metrics.count('webhook_posts_total', help, { outcome }),
      ]),
    )
  }

  async post(request: PostRequest): Promise<PostOutcome> {
    const outcome = await this.#outcomeOf(request)
    this.#counts.get(outcomeLabel(outcome))?.inc()
    if (outcome.kind === 'failed') {
      const { reason, detail } = outcome
      this.#parts.log.debug({ reason, detail }, 'a post to a receiver failed')
    }
    return outcome
  }

  stop(): void {
    this.#isStopped = true
    for (const call of [...this.#running]) call.abort()
    this.#names.stop()
    this.#agents.stop()
  }

  async #outcomeOf(request: PostRequest): Promise<PostOutcome> {
    const { policy, clock } = this.#parts
    if (this.#isStopped || request.signal.aborted) {
      return failure('aborted', 'ended before it was sent')
    }
    const target = readTargetUrl(request.url, policy)
    if ('problem' in target) return failure('refused', target.problem)
    if (this.#running.size >= callsMax) return failure('network', 'too many calls at once')
    return new Promise((resolve) => {
      const call = new Call(target.url, request, {
        agents: this.#agents,
        clock,
        allowsPrivate: policy.allowsPrivate,
        onEnd: (outcome) => {
          ignoreSignal()
          this.#running.delete(call)
          resolve(outcome)
        },
      })
      this.#running.add(call)
      const ignoreSignal = onAbort(request.signal, () => call.abort())
      call.start()
    })
  }
}
