import { readdirSync, readFileSync } from 'node:fs'
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import type { Durations, Metrics } from './metrics.ts'

const SAMPLE_MS = 10
const NANOS_PER_MS = 1e6

/** Observes this process until it ends. Must be called once per process. */
export function watchRuntime(metrics: Metrics): void {
  watchMemory(metrics)
  watchCollections(metrics)
  watchLoop(metrics)
  if (process.platform !== 'linux') return
  const pages = 'Resident pages of files, which the system reclaims when it needs memory.'
  metrics.gauge('process_resident_files_bytes', pages, residentFileBytes)
  const help = 'Threads of the process, including those of libraries.'
  metrics.gauge('process_threads', help, () => readdirSync('/proc/self/task').length)
}

/** Limit of open file descriptors of this process. Infinite if the system does not state it. */
export function descriptorsMax(): number {
  if (process.platform !== 'linux') return Number.POSITIVE_INFINITY
  const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
}

function watchMemory(metrics: Metrics): void {
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gauge(`process_${name}_bytes`, help, read)
  gauge('resident', 'Resident memory of the process, without the simulator.', () =>
    process.memoryUsage.rss(),
  )
  gauge('heap', 'Used heap of the main thread.', () => process.memoryUsage().heapUsed)
  gauge('buffers', 'Buffers outside the heap.', () => process.memoryUsage().arrayBuffers)
  for (const [index, { space_name: space }] of getHeapSpaceStatistics().entries()) {
    const read = () => getHeapSpaceStatistics()[index]?.space_used_size ?? Number.NaN
    metrics.gauge(`heap_${space}_bytes`, 'Used bytes of this heap space of the main thread.', read)
  }
}

/** Resident bytes of programs and mapped databases. The system can reclaim them. */
function residentFileBytes(): number {
  const kilobytes = /^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return Number(kilobytes) * 1_024
}

function watchCollections(metrics: Metrics): void {
  const durations = (kind: string, help: string) =>
    metrics.histogramMs(`collection_${kind}_ms`, help)
  const kinds = new Map<unknown, Durations>([
    [
      constants.NODE_PERFORMANCE_GC_MINOR,
      durations('young', 'Pauses for collections of the young generation.'),
    ],
    [constants.NODE_PERFORMANCE_GC_MAJOR, durations('full', 'Pauses for full collections.')],
    [
      constants.NODE_PERFORMANCE_GC_INCREMENTAL,
      durations('step', 'Pauses for incremental steps of a full collection.'),
    ],
  ])
  let longestMs = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration } = entry
      // Node's type declarations lack this field.
      const detail: unknown = Reflect.get(entry, 'detail')
      kinds.get(Reflect.get(Object(detail), 'kind'))?.observe(duration)
      longestMs = Math.max(longestMs, duration)
    }
  }).observe({ entryTypes: ['gc'] })
  metrics.gauge('collection_longest_ms', 'Longest pause since the start.', () => longestMs)
}

function watchLoop(metrics: Metrics): void {
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_MS })
  delays.enable()
  const ms = (nanos: number) => Math.max(0, nanos / NANOS_PER_MS - SAMPLE_MS)
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gauge(`loop_late_${name}_ms`, help, () => ms(read()))
  gauge('p50', 'Median event-loop delay since the start.', () => delays.percentile(50))
  gauge('p99', '99th percentile of the event-loop delay since the start.', () =>
    delays.percentile(99),
  )
  gauge('max', 'Longest event-loop delay since the start.', () => delays.max)
}
