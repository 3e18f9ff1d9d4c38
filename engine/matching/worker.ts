// The thread of the matcher: one index and one choice, kept between tasks, at lower priority than the loop.

import { setPriority } from 'node:os'
import { openPairFinder } from './pair-finder.ts'
import type { MatchResult, MatchTask } from './task.ts'

// Of this thread alone on Linux; elsewhere of whoever calls, which is not worth failing for.
if (process.platform === 'linux') setPriority(0, 10)

const finder = openPairFinder()

export default function run(task: MatchTask): MatchResult {
  return finder.run(task)
}
