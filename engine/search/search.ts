// Word search: inline while there are few texts, in a thread above that. Tasks run in the order of submission.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { openPool } from '../pool.ts'
import { isSearchResult, Searcher, type SearchResult, type SearchTask } from './searcher.ts'

export interface SearchPort {
  /** Rejects with EngineError only: the thread is down, or a task timed out and ended it. */
  run(task: SearchTask): Promise<SearchResult>
  close(): Promise<void>
}

/** A task takes some 10 ms at most. After this time the thread is stuck and is replaced. */
const TIMEOUT_MS = 10_000
/** The caller submits one task at a time; more are refused. */
const QUEUE_MAX = 2
/**
 * Up to this many texts the slowest search takes some 0.05 ms of the event loop, and a thread would take more memory
 * than the texts.
 */
const INLINE_TEXTS_MAX = 2_048

/**
 * Opens an inline index. Above `inlineTextsMax` texts it starts a thread with an empty index and answers the task with
 * `lost`.
 */
export function openSearch(inlineTextsMax = INLINE_TEXTS_MAX): SearchPort {
  let searcher = new Searcher()
  let thread: SearchPort | null = null
  let isClosed = false
  return {
    async run(task) {
      if (thread !== null) return thread.run(task)
      // Each change gets its own event-loop tick.
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

/** Starts one thread and retains it, because it holds the index. */
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
