// Counters, gauges and histograms on prom-client. Names contain units. Label values are from small fixed sets, never
// from users or venues. The registry reads the plain numbers of counters on collection.

import { Counter, Gauge, Histogram, Registry } from 'prom-client'

export interface Count {
  inc(by?: number): void
  readonly value: number
}

class PlainCount implements Count {
  value = 0
  inc(by = 1): void {
    this.value += by
  }
}

/** Histogram of durations in milliseconds. */
export interface Durations {
  observe(ms: number): void
}

const BOUNDS_MS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 5000]

class PlainDurations implements Durations {
  readonly counts = new Float64Array(BOUNDS_MS.length + 1)
  sum = 0

  observe(ms: number): void {
    let index = 0
    while (index < BOUNDS_MS.length && ms > (BOUNDS_MS[index] ?? 0)) index += 1
    this.counts[index] = (this.counts[index] ?? 0) + 1
    this.sum += ms
  }
}

/**
 * A histogram that the registry reads on collection through `getForPromString` (prom-client 15), because the library's
 * `observe` takes a microsecond.
 */
class DurationsReader extends Histogram {
  readonly #name: string
  readonly #help: string
  readonly #durations: PlainDurations

  constructor(name: string, help: string, durations: PlainDurations) {
    super({ name, help, buckets: BOUNDS_MS, registers: [] })
    this.#name = name
    this.#help = help
    this.#durations = durations
  }

  async getForPromString() {
    const { counts, sum } = this.#durations
    const value = (part: string, labels: object, amount: number) => ({
      ...{ metricName: `${this.#name}_${part}`, labels, sharedLabels: {}, value: amount },
    })
    let count = 0
    const buckets = Array.from(counts, (some, index) => {
      count += some
      return value('bucket', { le: BOUNDS_MS[index] ?? '+Inf' }, count)
    })
    const values = [...buckets, value('sum', {}, sum), value('count', {}, count)]
    return { name: this.#name, help: this.#help, type: 'histogram', values, aggregator: 'sum' }
  }
}

/** The metrics of one engine. They are not global, because tests run several engines. */
export class Metrics {
  readonly registry = new Registry()
  readonly #counts = new Map<string, Map<string, PlainCount>>()

  /**
   * Returns the counter with this name and these labels, and creates it on first use. Callers should store it, because
   * a lookup builds a string.
   */
  count(name: string, help: string, labels: Readonly<Record<string, string>> = {}): Count {
    let series = this.#counts.get(name)
    if (series === undefined) {
      series = new Map<string, PlainCount>()
      this.#counts.set(name, series)
      const family = series
      const counter = new Counter({
        name,
        help,
        labelNames: Object.keys(labels),
        registers: [this.registry],
        collect() {
          this.reset()
          for (const [key, count] of family) this.inc(JSON.parse(key), count.value)
        },
      })
      void counter
    }
    const key = JSON.stringify(labels)
    let count = series.get(key)
    if (count === undefined) {
      count = new PlainCount()
      series.set(key, count)
    }
    return count
  }

  /** Registers a gauge whose value is read on collection. Replaces a gauge of the same name. */
  gauge(name: string, help: string, read: () => number): void {
    this.registry.removeSingleMetric(name)
    const gauge = new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read())
      },
    })
    void gauge
  }

  histogramMs(name: string, help: string): Durations {
    const durations = new PlainDurations()
    this.registry.removeSingleMetric(name)
    this.registry.registerMetric(new DurationsReader(name, help, durations))
    return durations
  }

  /** The values of a counter's label combinations, for tests and /v1/stats. */
  counts(name: string): ReadonlyMap<string, Count> {
    return this.#counts.get(name) ?? new Map()
  }
}
