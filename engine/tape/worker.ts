// Entry point of the tape's thread.

import { lowerThreadPriority } from '../process/thread-priority.ts'
import { tapeDisk } from './disk.ts'
import type { TapeResult, TapeTask } from './tape-task.ts'
import { TapeTaskRunner } from './task-runner.ts'

lowerThreadPriority(5)

const runner = new TapeTaskRunner(tapeDisk)

export default function run(task: TapeTask): TapeResult {
  return runner.run(task)
}
