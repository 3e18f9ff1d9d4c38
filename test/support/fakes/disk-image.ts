import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../engine/clock.ts'
import { VENUE_KEYS } from '../../../engine/ids.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { timeMs } from '../../../engine/units.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../../storage/lmdb/lmdb.ts'

export interface DiskImage {
  /** Each entry is the webhook's id, a blank and the event's id. */
  readonly deliveries: ReadonlySet<string>
  readonly problems: readonly string[]
  /** Native ids. */
  readonly trades: ReadonlySet<string>
}

/** Copies a data folder and reads the copy. No engine may use the folder. */
export async function readDiskImage(dataDir: string): Promise<DiskImage> {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-platter-'))
  try {
    const copy = join(folder, 'data')
    cpSync(dataDir, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    rmSync(join(copy, 'lock'), { force: true })
    const parts = { clock: systemClock, log: silentLog, metrics: new Metrics() }
    const storage = await openLmdbStorage({ dataDir: copy, ...parts })
    try {
      return platterOf(storage)
    } finally {
      await storage.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function platterOf(storage: Storage): DiskImage {
  const deliveries = new Set<string>()
  const problems: string[] = []
  for (const { id, number } of storage.webhooks.all()) {
    const { counts } = storage.outbox.state(number)
    const { created, delivered, exhausted, dropped, pending } = counts
    if (created !== delivered + exhausted + dropped + pending) {
      problems.push(`${id}: ${JSON.stringify(counts)} do not add up`)
    }
    const query = { webhook: number, status: null, before: null, limit: 1_000_000 } as const
    const rows = storage.outbox.list(query)
    for (const { eventId } of rows) deliveries.add(`${id} ${eventId}`)
    const pendingRows = rows.filter(({ status }) => status === 'pending').length
    if (pendingRows !== pending) problems.push(`${id}: ${pendingRows} pending rows, not ${pending}`)
    const dueRows = (['first', 'retry'] as const)
      .map((variant) =>
        storage.outbox.due({
          webhook: number,
          attemptKind: variant,
          after: null,
          limit: 1_000_000,
        }),
      )
      .reduce((sum, due) => sum + due.length, 0)
    if (dueRows !== pending) problems.push(`${id}: ${dueRows} due rows, not ${pending}`)
  }
  return { deliveries, problems, trades: tradesOf(storage) }
}

function tradesOf(storage: Storage): ReadonlySet<string> {
  const ids = new Set<string>()
  const all = { fromMs: timeMs(0), toMs: timeMs(Number.MAX_SAFE_INTEGER), after: null } as const
  for (const venue of VENUE_KEYS) {
    const query = { ...all, venue, order: 'asc', limit: 1_000_000 } as const
    for (const { trade } of storage.trades.rangeOfVenue(query)) ids.add(trade.nativeId)
  }
  return ids
}
