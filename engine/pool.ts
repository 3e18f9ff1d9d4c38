// Worker pools on piscina, with a bounded queue, a time limit, and typed tasks and errors.

import { Piscina } from 'piscina'
import { EngineError } from './errors.ts'
import { programOf } from './process/program.ts'

export interface Pool<Task, Result> {
  /** Rejects with EngineError UNAVAILABLE if the queue is full, with TIMED_OUT, or with INTERNAL. */
  run(task: Task): Promise<Result>
  close(): Promise<void>
}

interface PoolOptions<Task, Result> {
  readonly worker: URL
  readonly threads: number
  /** Whether the threads start at once and never end, because they hold state. Otherwise idle threads end. */
  readonly isPersistent?: boolean
  readonly queueMax: number
  /** Tasks that a thread runs at once, for tasks that wait for input. Default: 1. */
  readonly tasksPerThread?: number
  readonly timeoutMs: number
  readonly isResult: (value: unknown) => value is Result
  /**
   * Buffers of a task that are transferred without a copy. The caller can no longer use them. By default all data is
   * copied.
   */
  readonly buffersOf?: (task: Task) => ArrayBuffer[]
}

/** Called in a thread: returns an array as a task's result without copying it. */
export function transferred(result: Uint32Array | Uint8Array<ArrayBuffer>): unknown {
  return Piscina.move(result)
}

export function openPool<Task, Result>(options: PoolOptions<Task, Result>): Pool<Task, Result> {
  const { url, flags } = programOf(options.worker)
  const piscina = new Piscina({
    filename: url.href,
    minThreads: options.isPersistent === true ? options.threads : 0,
    maxThreads: options.threads,
    maxQueue: options.queueMax,
    concurrentTasksPerWorker: options.tasksPerThread ?? 1,
    // An idle thread blocks by default. Its open connections would not see that the other side closes them.
    atomics: options.tasksPerThread === undefined ? 'sync' : 'disabled',
    idleTimeout: 30_000,
    // Saves the memory of two unused histograms of 350 KB.
    recordTiming: false,
    execArgv: [...flags],
  })
  // A thread that cannot start also rejects its task. Without a listener the 'error' event would end the process.
  piscina.on('error', () => undefined)
  return {
    async run(task) {
      if (piscina.queueSize >= options.queueMax) {
        throw new EngineError('UNAVAILABLE', 'too much of this work is waiting, try again soon')
      }
      const deadline = AbortSignal.timeout(options.timeoutMs)
      let result: unknown
      try {
        const transferList = options.buffersOf?.(task) ?? []
        result = await piscina.run(task, { signal: deadline, transferList })
      } catch (error) {
        if (deadline.aborted) {
          throw new EngineError('TIMED_OUT', 'the work took too long', { cause: error })
        }
        throw new EngineError('INTERNAL', 'the work failed', { cause: error })
      }
      if (options.isResult(result)) return result
      throw new EngineError('INTERNAL', 'the work returned an invalid result')
    },
    close: () => piscina.close(),
  }
}
