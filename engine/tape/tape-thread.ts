// The thread that writes the tape.

import { isRecord } from '../json-record.ts'
import { openPool } from '../pool.ts'
import type { TapeResult, TapeTask } from './tape-task.ts'

export interface TapePort {
  /** Rejects with EngineError if the thread is down or hangs. The caller submits one task at a time. */
  run(task: TapeTask): Promise<TapeResult>
  /** Waits for running tasks, then ends the thread. */
  close(): Promise<void>
}

/** A disk that takes longer for one task counts as failed. The thread is replaced. */
const HANG_MS = 60_000

/** Batches are transferred, so the caller can no longer use their buffers. */
export function openTapeThread(): TapePort {
  return openPool<TapeTask, TapeResult>({
    ...{ threads: 1, isPersistent: true, queueMax: 2, timeoutMs: HANG_MS },
    worker: new URL('./worker.ts', import.meta.url),
    isResult: (value): value is TapeResult => isRecord(value) && 'kind' in value,
    buffersOf: (task) =>
      task.kind === 'write' ? task.batches.map(({ values }) => values.buffer) : [],
  })
}
