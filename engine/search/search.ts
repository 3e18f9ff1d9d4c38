// The port to the index of words: in place while there are few texts, and in a thread of its own from then on. Tasks are
// carried out in the order in which they are given.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { openPool } from '../pool.ts'
import { isSearchResult, type SearchResult, type SearchTask } from './search-task.ts'
import { Searcher } from './searcher.ts'

export interface SearchPort {
  /** Rejects with EngineError only: the thread is down, or a task took too long and ended it. */
  run(task: SearchTask): Promise<SearchResult>
  close(): Promise<void>
}

/** A task takes some 10 ms at most; after this a thread is stuck and another one takes its place. */
const TIMEOUT_MS = 10_000
/** Its one user gives it a task at a time; more are refused. */
const QUEUE_MAX = 2
/** Of so many texts the slowest search takes some 0.05 ms of the loop, and a thread would hold more memory than they do. */
const INLINE_TEXTS_MAX = 2_048

/** An index in place; once it has too many texts, one in a thread, which begins empty: the task is answered as lost. */
export function openSearch(inlineTextsMax = INLINE_TEXTS_MAX): SearchPort {
  let searcher = new Searcher()
  let thread: SearchPort | null = null
  let isClosed = false
  return {
    async run(task) {
      if (thread !== null) return thread.run(task)
      // Texts that are given one after the other each have a turn of the loop.
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

/** One thread that is started now and kept, since it holds the index. */
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

/** The same without a thread. */
export function searchInline(): SearchPort {
  const searcher = new Searcher()
  return {
    run: async (task) => searcher.run(task),
    close: async () => undefined,
  }
}
