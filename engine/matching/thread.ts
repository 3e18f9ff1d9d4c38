// Where the matcher is: in a thread of its own, or in place for tests. Tasks are carried out in the order in
// which they are given. Not for: what is asked of it, and when (actors/matches/matcher.ts). Upholds MATCHER4.

import { openPool } from '../pool.ts'
import { openPairFinder, type PairFinder } from './search/pair-finder.ts'
import { isMatchResult, type MatchResult, type MatchTask } from './task.ts'

export interface MatchPort {
  /** Rejects with EngineError only: the thread is down, or a task took too long and ended it. */
  run(task: MatchTask): Promise<MatchResult>
  close(): Promise<void>
}

/** A task takes some ten milliseconds of an idle core. */
const TIMEOUT_MS = 120_000
/** Its one user gives it a task at a time; more are refused. */
const QUEUE_MAX = 2

/** One thread that is started now and kept, since it holds the index. */
export function openMatchThread(): MatchPort {
  return openPool<MatchTask, MatchResult>({
    worker: new URL('./worker.ts', import.meta.url),
    threads: 1,
    isKept: true,
    queueMax: QUEUE_MAX,
    timeoutMs: TIMEOUT_MS,
    isResult: isMatchResult,
  })
}

/** The same without a thread, by any matcher. */
export function matchInPlace(
  finder: Pick<PairFinder<unknown>, 'run'> = openPairFinder(),
): MatchPort {
  return {
    run: async (task) => finder.run(task),
    close: async () => undefined,
  }
}
