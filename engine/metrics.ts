// Counters, gauges and histograms (prom-client behind one small door). Names carry their units.
// Label values come from small fixed sets (venue, reason, kind), never from users or venues' ids.
// Counters are plain numbers on the path of a message and read by the registry when it is asked.

import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** A number that only grows. */
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

/** The metrics of one engine; nothing is global, so that tests can run several. */
export class Metrics {
  readonly registry = new Registry()
  readonly #counts = new Map<string, Map<string, PlainCount>>()

  /** The counter of this name and labels, made on first use. Keep the result: look-up costs a string. */
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

  /** A value read when the registry is asked. */
  gauge(name: string, help: string, read: () => number): void {
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

  /** A histogram of milliseconds. */
  histogramMs(name: string, help: string): Histogram {
    const buckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 5000]
    return new Histogram({ name, help, buckets, registers: [this.registry] })
  }

  /** The values of one counter family by label text, for tests and /v1/stats. */
  counts(name: string): ReadonlyMap<string, Count> {
    return this.#counts.get(name) ?? new Map()
  }
}
