// Costs of a tab, by Chromium's protocol: tasks of its main thread and memory of its scripts. A task's processor time
// is reported beside its wall time, since other tests run on the machine.

import type { CDPSession } from 'playwright-core'

/** A task of the main thread: one callback, message, timer or frame, with everything that it caused. */
interface TabTask {
  /** Milliseconds of processor time. */
  readonly threadMs: number
  /** Milliseconds of wall time, including the wait for a processor. */
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

/** Every task of the tab's main thread between `start` and `end`. */
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

/** Memory use of a tab. */
interface TabHeld {
  /** Of its scripts. */
  readonly heapBytes: number
  /** Of the document, and detached ones that scripts still reference. */
  readonly nodes: number
  readonly listeners: number
}

/** Memory use after a forced collection. */
export async function heldBy(protocol: CDPSession): Promise<TabHeld> {
  await protocol.send('HeapProfiler.enable')
  for (let round = 0; round < 3; round += 1) await protocol.send('HeapProfiler.collectGarbage')
  const { usedSize: heapBytes } = await protocol.send('Runtime.getHeapUsage')
  const { nodes, jsEventListeners: listeners } = await protocol.send('Memory.getDOMCounters')
  return { heapBytes, nodes, listeners }
}
