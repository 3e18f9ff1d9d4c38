// The port to the index of words: in a thread of its own, or in place for tests. Tasks are carried out in the order in
// which they are given. Not for: what is searched, or how long a search may wait (actors/catalog/search.ts). Upholds SEARCH5.

import { openPool } from '../pool.ts'
import { Searcher } from './searcher.ts'
import { isSearchResult, type SearchResult, type SearchTask } from './task.ts'

export interface SearchPort {
  /** Rejects with EngineError only: the thread is down, or a task took too long and ended it. */
  run(task: SearchTask): Promise<SearchResult>
  close(): Promise<void>
}

/** A task takes some 10 ms at most; after this a thread is stuck and another one takes its place. */
const TIMEOUT_MS = 10_000
/** Its one user gives it a task at a time; more are refused. */
const QUEUE_MAX = 2

/** One thread that is started now and kept, since it holds the index. */
export function openSearchThread(): SearchPort {
  return openPool<SearchTask, SearchResult>({
    worker: new URL('./worker.ts', import.meta.url),
    threads: 1,
    isKept: true,
    queueMax: QUEUE_MAX,
    timeoutMs: TIMEOUT_MS,
    isResult: isSearchResult,
  })
}

/** The same without a thread. */
export function searchInPlace(): SearchPort {
  const searcher = new Searcher()
  return {
    run: async (task) => searcher.run(task),
    close: async () => undefined,
  }
}
