// The only way for an update to leave an actor: assigns epoch, offset and seq, and calls an ordered list of
// watchers. The counters are here and not in the actors, so that they survive an actor's restart and sleep.
// An error of one watcher is counted and logged, and does not affect the others.

import {
  type ArbitrageRefresh,
  type CountedChannel,
  perChannel,
  type Stamp,
  type Trade,
  type Update,
} from './events.ts'
import type { MarketNumber, MarketRef } from './market/market.ts'
import type { Log } from './process/log.ts'
import type { Count, Metrics } from './process/metrics.ts'
import type { TimeMs } from './units.ts'

/** Receives every update, synchronously, in publishing order. Must return at once. */
export interface Watcher {
  readonly name: string
  onUpdate(update: Update): void
  /** A historical trade, from before the first contact with the venue, was stored. No stream carries it. */
  onPastTrade?(market: MarketRef, trade: Trade, receivedAtMs: TimeMs): void
  /** A wallet of a stored trade became known. No stream carries that. */
  onCompletedTrade?(market: MarketRef, trade: Trade, completion: TradeCompletion): void
  /** An open opportunity still exists. No stream carries that. */
  onArbitrageRefresh?(update: ArbitrageRefresh): void
  /** A market was removed for good. Data under its number can be deleted. */
  onMarketRemoved?(market: MarketNumber): void
}

export interface TradeCompletion {
  /**
   * `maker`: the wallet is one of the makers of the transaction. `maker` of the trade is set if it is the
   * only one.
   */
  readonly role: 'maker' | 'taker'
  readonly wallet: string
  /** Wallets of the trade that were known before. */
  readonly previousWallets: readonly string[]
}

class ChannelCounters {
  offset = 0
  readonly seqs = new Map<MarketNumber, number>()
}

export class Publisher {
  /** Identifies this run in every message. */
  readonly epoch: string
  readonly #counters = perChannel(() => new ChannelCounters())
  readonly #watchers: Watcher[] = []
  readonly #log: Log
  readonly #published: Count
  readonly #failed: Count

  constructor(parts: { epoch: string; log: Log; metrics: Metrics }) {
    this.epoch = parts.epoch
    this.#log = parts.log
    this.#published = parts.metrics.count('updates_published_total', 'Updates passed to watchers.')
    this.#failed = parts.metrics.count('watcher_failures_total', 'Watchers that threw.')
  }

  watch(watcher: Watcher): void {
    this.#watchers.push(watcher)
  }

  /** Consumes and returns the next offset and seq of a channel and market. */
  stamp(channel: CountedChannel, market: MarketNumber): Stamp {
    const counters = this.#counters[channel]
    counters.offset += 1
    const seq = (counters.seqs.get(market) ?? 0) + 1
    counters.seqs.set(market, seq)
    return { offset: counters.offset, seq }
  }

  /** Returns the newest offset and seq of a channel and market. Unlike `stamp`, does not advance them. */
  latest(channel: CountedChannel, market: MarketNumber): Stamp {
    const counters = this.#counters[channel]
    return { offset: counters.offset, seq: counters.seqs.get(market) ?? 0 }
  }

  /**
   * Sets a channel's counters to those of another process's publisher. For a mirror, which stamps nothing
   * itself.
   */
  follow(channel: CountedChannel, to: { offset: number; market: MarketNumber; seq: number }): void {
    const counters = this.#counters[channel]
    if (to.offset > counters.offset) counters.offset = to.offset
    if (to.seq > 0) counters.seqs.set(to.market, to.seq)
  }

  offset(channel: CountedChannel): number {
    return this.#counters[channel].offset
  }

  publish(update: Update): void {
    this.#published.inc()
    for (const watcher of this.#watchers) {
      try {
        watcher.onUpdate(update)
      } catch (error) {
        this.#onFailed(watcher, error)
      }
    }
  }

  publishPastTrade(market: MarketRef, trade: Trade, receivedAtMs: TimeMs): void {
    this.#notifyAll((watcher) => watcher.onPastTrade?.(market, trade, receivedAtMs))
  }

  publishCompletedTrade(market: MarketRef, trade: Trade, completion: TradeCompletion): void {
    this.#notifyAll((watcher) => watcher.onCompletedTrade?.(market, trade, completion))
  }

  publishArbitrageRefresh(update: ArbitrageRefresh): void {
    this.#notifyAll((watcher) => watcher.onArbitrageRefresh?.(update))
  }

  /** Drops the counters of a market whose number is never reused, and notifies the watchers. */
  removeMarket(market: MarketNumber): void {
    for (const { seqs } of Object.values(this.#counters)) seqs.delete(market)
    this.#notifyAll((watcher) => watcher.onMarketRemoved?.(market))
  }

  #notifyAll(notify: (watcher: Watcher) => void): void {
    for (const watcher of this.#watchers) {
      try {
        notify(watcher)
      } catch (error) {
        this.#onFailed(watcher, error)
      }
    }
  }

  #onFailed(watcher: Watcher, error: unknown): void {
    this.#failed.inc()
    this.#log.error({ err: error, watcher: watcher.name }, 'a watcher failed')
  }
}
