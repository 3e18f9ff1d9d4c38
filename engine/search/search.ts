// Word search. Runs in this thread for few texts, otherwise in a worker thread. Tasks run in the order of submission.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { openPool } from '../pool.ts'
import { isSearchResult, Searcher, type SearchResult, type SearchTask } from './searcher.ts'

export interface SearchPort {
  /** Rejects only with EngineError: the thread is down, or the task timed out and ended the thread. */
  run(task: SearchTask): Promise<SearchResult>
  close(): Promise<void>
}

/** A task takes at most some 10 ms. After this time the thread is considered stuck and is replaced. */
const TIMEOUT_MS = 10_000
const QUEUE_MAX = 2
/**
 * Maximum texts that are searched in the calling thread. The slowest search then blocks the event loop for some 0.05
 * ms.
 */
const INLINE_TEXTS_MAX = 2_048

/**
 * Opens an index in this thread. A change above `inlineTextsMax` texts starts a worker thread with an empty index and
 * returns `lost`.
 */
export function openSearch(inlineTextsMax = INLINE_TEXTS_MAX): SearchPort {
  let searcher = new Searcher()
  let thread: SearchPort | null = null
  let isClosed = false
  return {
    async run(task) {
      if (thread !== null) return thread.run(task)
      // Each change runs in its own event-loop tick.
      if (task.kind === 'change') await nextTurn()
      const result = searcher.run(task)
      if (isClosed || searcher.count <= inlineTextsMax) return result
      searcher = new Searcher()
      thread = openSearchThread()
      return 'lost'
    },
    async close() {
      isClosed = true
      await thread?.close()
    },
  }
}

/** Starts one thread that never ends, because it holds the index. */
export function openSearchThread(): SearchPort {
  return openPool<SearchTask, SearchResult>({
    worker: new URL('./worker.ts', import.meta.url),
    threads: 1,
    isPersistent: true,
    queueMax: QUEUE_MAX,
    timeoutMs: TIMEOUT_MS,
    isResult: isSearchResult,
  })
}
