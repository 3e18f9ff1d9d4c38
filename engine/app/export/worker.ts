// Entry point of the thread that exports hours of the tape. Keeps the positions within the files between tasks.

import { exportFile } from '../../../storage/tape/export/export-file.ts'
import { Tape } from '../../../storage/tape/tape.ts'
import { lowerThreadPriority } from '../../process/thread-priority.ts'
import type { ExportResult, ExportTask } from './export-task.ts'
import { hoursText, requestedHour } from './hour-files.ts'
import { MemoryShares } from './memory-shares.ts'

lowerThreadPriority(15)

const open = new Map<number, Generator<Uint8Array | null>>()
const shares = new MemoryShares()

export default function run(task: ExportTask): ExportResult {
  if (task.kind === 'list') return { kind: 'hours', text: hoursText(task.folder, task.query) }
  if (task.kind === 'open') {
    const { folder, request, id } = task
    const hour = requestedHour(folder, request)
    if ('kind' in hour) return hour
    open.set(id, exportFile(new Tape(folder), hour, request, shares.take(id)))
    return { kind: 'done' }
  }
  const chunks = open.get(task.id)
  if (task.kind === 'close') {
    chunks?.return(undefined)
    remove(task.id)
    return { kind: 'done' }
  }
  if (chunks === undefined) return { kind: 'unknown' }
  const { value, done } = chunks.next()
  const isLast = done === true
  if (isLast) remove(task.id)
  return { kind: 'chunk', bytes: value ?? new Uint8Array(), isLast }
}

function remove(id: number): void {
  open.delete(id)
  shares.release(id)
}
