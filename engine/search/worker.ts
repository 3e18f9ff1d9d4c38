// Thread entry of the search. Holds the index of all markets' words. On Linux the lower priority applies to this thread
// only.

import { transferred } from '../pool.ts'
import { lowerThreadPriority } from '../process/thread-priority.ts'
import type { SearchTask } from './searcher.ts'
import { Searcher } from './searcher.ts'

/** A client waits for the result, and a search takes 3 ms at most, so the priority is only slightly lower. */
const NICE = 2
lowerThreadPriority(NICE)

const searcher = new Searcher()

/** Returns a SearchResult. The found numbers are transferred to the main thread, not copied. */
export default function work(task: SearchTask): unknown {
  const result = searcher.run(task)
  return result instanceof Uint32Array ? transferred(result) : result
}
