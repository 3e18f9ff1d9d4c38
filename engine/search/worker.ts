import { transferred } from '../pool.ts'
import { lowerThreadPriority } from '../process/thread-priority.ts'
import type { SearchTask } from './searcher.ts'
import { Searcher } from './searcher.ts'

/** The priority is only slightly lower, because a client waits for the result. On Linux it applies only to this thread. */
const NICE = 2
lowerThreadPriority(NICE)

const searcher = new Searcher()

/** Returns a SearchResult. The found numbers are transferred to the main thread, not copied. */
export default function work(task: SearchTask): unknown {
  const result = searcher.run(task)
  return result instanceof Uint32Array ? transferred(result) : result
}
