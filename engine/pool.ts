// The one way to use piscina: a bounded queue, a time limit, a typed task, a typed failure, in a
// thread that runs what this one runs. A full queue refuses; nothing waits without a bound.

import { Piscina } from 'piscina'
import { EngineError } from './errors.ts'
import { programOf } from './process/program.ts'

/** A pool of threads that turn a Task into a Result. */
export interface Pool<Task, Result> {
  /** Rejects with EngineError: UNAVAILABLE when the queue is full, TIMED_OUT, INTERNAL. */
  run(task: Task): Promise<Result>
  /** Waits for running tasks, then ends the threads. */
  close(): Promise<void>
}

interface PoolOptions<Task, Result> {
  /** The thread's entry, a module whose default export takes a Task. */
  readonly worker: URL
  readonly threads: number
  /** Whether threads start at once and stay, since they keep state; otherwise they end when idle. */
  readonly isPersistent?: boolean
  /** Tasks waiting besides those running; one more is refused. */
  readonly queueMax: number
  readonly timeoutMs: number
  /** Whether what came back is a Result; checked, since a thread's answer is untyped. */
  readonly isResult: (value: unknown) => value is Result
  /** Buffers of a task that go over without a copy; the caller loses them. None: all is copied. */
  readonly buffersOf?: (task: Task) => ArrayBuffer[]
}

/** In a thread: gives an array of numbers back as a task's result without a copy being made of it. */
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
    idleTimeout: 30_000,
    // Nobody reads its two histograms of 350 KB.
    recordTiming: false,
    execArgv: [...flags],
  })
  // A thread that cannot start also rejects its task; unheard, the event would end the process.
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
      throw new EngineError('INTERNAL', 'the work gave no usable result')
    },
    close: () => piscina.close(),
  }
}
