// Thread entry: a search thread that exits when it receives a certain text.

import { transferred } from '../../../engine/pool.ts'
import type { SearchTask } from '../../../engine/search/searcher.ts'
import { Searcher } from '../../../engine/search/searcher.ts'

const searcher = new Searcher()

export default function work(task: SearchTask): unknown {
  if (task.kind === 'find' && task.text === 'end this thread') process.exit(1)
  const result = searcher.run(task)
  return result instanceof Uint32Array ? transferred(result) : result
}
