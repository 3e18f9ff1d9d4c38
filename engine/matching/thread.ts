// Where the matcher is: in a thread of its own. Tasks are carried out in the order in which they are given.
// Not for: what is asked of it, and when (actors/matches/matcher.ts). Upholds MATCHER4.

import { openPool } from '../pool.ts'
import { isMatchResult, type MatchResult, type MatchTask } from './task.ts'

export interface MatchPort {
  /** Rejects with EngineError only: the thread is down, or a task took too long and ended it. */
  run(task: MatchTask): Promise<MatchResult>
  close(): Promise<void>
}

/**
 * One thread that is started now and kept, since it holds the index. A task takes some ten milliseconds of an idle core;
 * its one user gives it a task at a time, and more are refused.
 */
export const MATCH_POOL = { threads: 1, isKept: true, queueMax: 2, timeoutMs: 120_000 } as const

export function openMatchThread(): MatchPort {
  return openPool<MatchTask, MatchResult>({
    ...MATCH_POOL,
    worker: new URL('./worker.ts', import.meta.url),
    isResult: isMatchResult,
  })
}
