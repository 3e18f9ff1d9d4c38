// Closes the files that a killed process left open: removes incomplete bytes at the end, and writes the journal's rows
// as a block.

import type { TapeDisk } from './disk.ts'
import { type HourFolder, partPath, partsOf } from './layout.ts'
import { lostItem } from './lost.ts'
import { openPart, type Part } from './part.ts'
import { PartWriter } from './part-writer.ts'

/** The last row of a venue on the tape. */
export interface TapeEnd {
  /** Publish time of the last row. */
  readonly lastUs: number
  /** Whether the run ended without closing its file. */
  readonly wasKilled: boolean
}

/** Repairs the parts of an hour that is not final. Null: the hour has no rows. Throws file system errors. */
export function repairHour(hour: HourFolder, disk: TapeDisk): TapeEnd | null {
  let end: TapeEnd | null = null
  for (const number of partsOf(hour)) {
    const repaired = repairPart(hour, number, disk)
    if (repaired !== null) end = repaired
  }
  return end
}

function repairPart(hour: HourFolder, number: number, disk: TapeDisk): TapeEnd | null {
  const journalPath = partPath(hour, number, 'journal')
  const part = openPart(hour, number)
  if (part === null) {
    // The process was killed before it had written the first frame.
    disk.remove(partPath(hour, number, 'tape'))
    disk.remove(journalPath)
    return null
  }
  part.close()
  const lastUs = part.blocks.at(-1)?.head.lastUs ?? null
  if (part.isClosed) {
    disk.remove(journalPath)
    return lastUs === null ? null : { lastUs, wasKilled: false }
  }
  const writer = new PartWriter(disk, hour, number, part.scanned)
  try {
    return completePart(writer, part, lastUs)
  } catch (error) {
    writer.release()
    throw error
  }
}

/** Moves the journal's rows to the file, records damaged ranges as lost, and closes the file. */
function completePart(writer: PartWriter, part: Part, lastUs: number | null): TapeEnd {
  const { entries, endsAt, damaged } = part.scanned
  const { startUs } = writer.hour
  if (part.journal !== null) writer.take(part.journal)
  let us = lastUs ?? startUs
  for (const { position } of damaged) {
    if (position >= endsAt) continue
    const before = entries.findLast((entry) => entry.position < position)
    const after = entries.find((entry) => entry.position > position)
    const fromUs = before?.head.lastUs ?? startUs
    const toUs = after?.head.firstUs ?? us
    us += 1
    writer.add(us, lostItem({ cause: 'damaged', fromUs, toUs, offsets: [], rows: null }))
  }
  writer.close()
  return { lastUs: us, wasKilled: true }
}
