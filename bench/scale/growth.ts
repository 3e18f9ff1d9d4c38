import type { Histogram } from 'hdr-histogram-js'
import { aimedRow, figureRow, type Row } from '../harness.ts'
import { QUESTIONS, type Question } from './requests.ts'

/** Target: maximum memory in KB of a market without events. */
export const MARKET_KB_MAX = 6
/**
 * Number of markets that receive events. With events for all markets, cache misses of the processor would dominate the
 * growth.
 */
export const BUSY_OWNERS = 1_000
/** Target: maximum ratio of costs that grow logarithmically with the number of markets. */
const LOG_TIMES_MAX = Math.log(100_000) / Math.log(1_000)

export interface Measured {
  readonly marketCount: number
  readonly rows: readonly Row[]
  /** Before a collection. */
  readonly uncollectedBytes: number
  /** After a collection. */
  readonly anonymousBytes: number
  readonly heapBytes: number
  /** Measured at the client. */
  readonly times: Readonly<Partial<Record<Question, Histogram>>>
  /** Processor time of the server per request, in milliseconds. */
  readonly processorMs: Readonly<Partial<Record<Question, number>>>
  readonly route: Histogram
  readonly lines: readonly string[]
}

/** Cost per additional market between two consecutive numbers. The target applies to the largest two. */
export function slopes(
  what: string,
  measured: readonly Measured[],
  aim: { readonly atMost: number } | null,
): Row[] {
  return measured.slice(1).map((more, index) => {
    const fewer = measured[index]
    const count = more.marketCount - (fewer?.marketCount ?? 0)
    const kilobytes = (more.anonymousBytes - (fewer?.anonymousBytes ?? 0)) / count / 1_000
    const heap = (more.heapBytes - (fewer?.heapBytes ?? 0)) / count / 1_000
    const title = `${what}, from ${fewer?.marketCount} to ${more.marketCount}`
    const isLast = index === measured.length - 2
    if (aim !== null && isLast) return aimedRow(`${title}, RssAnon`, kilobytes, aim, 'kB')
    const value = `${kilobytes.toFixed(2)} kB, ${heap.toFixed(2)} kB of it in the main heap`
    return figureRow(`${title}, RssAnon`, value)
  })
}

/** Ratio between the costs at the largest and at the smallest number. */
export function growth(measured: readonly Measured[]): Row[] {
  const [least, most] = [measured[0], measured.at(-1)]
  if (least === undefined || most === undefined || least === most) return []
  const span = `${most.marketCount} markets / ${least.marketCount} markets`
  const aim = { atMost: Number(LOG_TIMES_MAX.toFixed(2)) }
  const times = (one: Histogram) => Math.max(one.getValueAtPercentile(50), 1)
  return [
    ...QUESTIONS.map((question) => {
      const ratio =
        (most.processorMs[question] ?? Number.NaN) / (least.processorMs[question] ?? Number.NaN)
      return aimedRow(`${question}, processor a request: ${span}`, ratio, aim)
    }),
    aimedRow(
      `an event to its owner, ${BUSY_OWNERS} busy ones, median: ${span}`,
      times(most.route) / times(least.route),
      aim,
    ),
  ]
}
