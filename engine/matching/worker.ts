// The thread of the matcher: one index and one choice, kept between tasks, at lower priority than the loop.

import { stepBack } from '../process/thread-priority.ts'
import { openPairFinder } from './search/pair-finder.ts'
import type { MatchResult, MatchTask } from './task.ts'

stepBack(10)

const finder = openPairFinder()

export default function run(task: MatchTask): MatchResult {
  return finder.run(task)
}
