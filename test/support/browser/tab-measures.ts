// Uses the Chrome DevTools protocol.

import type { CDPSession } from 'playwright-core'

/** One callback, message, timer or frame of the main thread, with all code that runs in it. */
interface TabTask {
  /** Processor time in milliseconds. */
  readonly threadMs: number
  /** Wall time in milliseconds, including waits for a processor. */
  readonly wallMs: number
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Microseconds. */
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

export class TaskTrace {
  readonly #protocol: CDPSession
  readonly #events: TraceEvent[] = []

  private constructor(protocol: CDPSession) {
    this.#protocol = protocol
    protocol.on('Tracing.dataCollected', ({ value }: { value: readonly unknown[] }) => {
      this.#events.push(...value.filter(isTraceEvent))
    })
  }

  static async start(protocol: CDPSession): Promise<TaskTrace> {
    const trace = new TaskTrace(protocol)
    await protocol.send('Tracing.start', {
      transferMode: 'ReportEvents',
      traceConfig: {
        includedCategories: ['disabled-by-default-devtools.timeline', '__metadata'],
        excludedCategories: ['*'],
      },
    })
    return trace
  }

  async end(): Promise<readonly TabTask[]> {
    const complete = new Promise((done) => this.#protocol.once('Tracing.tracingComplete', done))
    await this.#protocol.send('Tracing.end')
    await complete
    const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
    const mains = new Set(
      this.#events
        .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
        .map(threadOf),
    )
    return this.#events
      .filter((event) => event.name === 'RunTask' && mains.has(threadOf(event)))
      .map(({ dur = 0, tdur = dur }) => ({ threadMs: tdur / 1_000, wallMs: dur / 1_000 }))
  }
}

function isTraceEvent(value: unknown): value is TraceEvent {
  return typeof value === 'object' && value !== null && 'name' in value && 'pid' in value
}

interface TabMemory {
  /** Bytes of the script heap. */
  readonly heapBytes: number
  /** Includes detached nodes that scripts still reference. */
  readonly nodes: number
  readonly listeners: number
}

/** Forces a garbage collection first. */
export async function memoryOf(protocol: CDPSession): Promise<TabMemory> {
  await protocol.send('HeapProfiler.enable')
  for (let round = 0; round < 3; round += 1) await protocol.send('HeapProfiler.collectGarbage')
  const { usedSize: heapBytes } = await protocol.send('Runtime.getHeapUsage')
  const { nodes, jsEventListeners: listeners } = await protocol.send('Memory.getDOMCounters')
  return { heapBytes, nodes, listeners }
}
