// Assigns epoch, offset and seq to all updates, and calls the watchers in a fixed order. The counters are not in the
// actors, so that they survive the restart of an actor. An error of a watcher is counted and logged, and does not
// affect other watchers.

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

/** Receives every update synchronously, in publishing order. */
export interface Watcher {
  readonly name: string
  onUpdate(update: Update): void
  /** Called when a trade from before the first contact with the venue was stored. The trade is not published. */
  onPastTrade?(market: MarketRef, trade: Trade, receivedAtMs: TimeMs): void
  /** Called when a wallet of a stored trade became known. The change is not published. */
  onCompletedTrade?(market: MarketRef, trade: Trade, completion: TradeCompletion): void
  /** Called for an open opportunity that has not changed. No update is published. */
  onArbitrageRefresh?(update: ArbitrageRefresh): void
  /** Called when a market was removed permanently. Its data can be deleted. */
  onMarketRemoved?(market: MarketNumber): void
}

export interface TradeCompletion {
  /**
   * `maker`: the wallet is one of the makers of the transaction. The trade's `maker` field is set only if the
   * transaction has a single maker.
   */
  readonly role: 'maker' | 'taker'
  readonly wallet: string
  readonly previousWallets: readonly string[]
}

class ChannelCounters {
  offset = 0
  readonly seqs = new Map<MarketNumber, number>()
}

export class Publisher {
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

  /** Increments and returns the offset and seq of a channel and market. */
  stamp(channel: CountedChannel, market: MarketNumber): Stamp {
    const counters = this.#counters[channel]
    counters.offset += 1
    const seq = (counters.seqs.get(market) ?? 0) + 1
    counters.seqs.set(market, seq)
    return { offset: counters.offset, seq }
  }

  latest(channel: CountedChannel, market: MarketNumber): Stamp {
    const counters = this.#counters[channel]
    return { offset: counters.offset, seq: counters.seqs.get(market) ?? 0 }
  }

  /**
   * Sets a channel's counters to the counters of another process's publisher. Called by a mirror, which never calls
   * `stamp`.
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
