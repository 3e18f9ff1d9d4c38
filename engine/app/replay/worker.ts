// Entry point of the thread that reads the tape for replays. Keeps their positions between tasks.

import { lowerThreadPriority } from '../../process/thread-priority.ts'
import { ReplayReader } from './replay-reader.ts'
import type { ReplayResult, ReplayTask } from './replay-task.ts'

lowerThreadPriority(5)

const open = new Map<number, ReplayReader>()

export default function run(task: ReplayTask): ReplayResult {
  if (task.kind === 'open') {
    open.set(task.id, new ReplayReader(task.folder, task.query))
    return { kind: 'done' }
  }
  const reader = open.get(task.id)
  if (task.kind === 'close') {
    reader?.close()
    open.delete(task.id)
    return { kind: 'done' }
  }
  if (reader === undefined) return { kind: 'unknown' }
  const chunk = reader.next()
  if (chunk.isLast) open.delete(task.id)
  return { kind: 'chunk', ...chunk, bytes: Uint8Array.from(chunk.bytes) }
}
