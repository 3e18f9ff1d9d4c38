// Background work of an engine: checkpoints, retention, removal of old markets, backups. Runs in slices of a
// millisecond, so that messages are not delayed.

import type { Clock, StopTimer } from '../engine/clock.ts'
import type { Log } from '../engine/process/log.ts'
import { HOUR_MS } from '../engine/units.ts'
import type { Storage } from '../storage/contract/storage.ts'
import type { Accounts } from './accounts/accounts.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { MarketActor } from './market/market.ts'

const TICK_EVERY_MS = 25
const TICK_MS_MAX = 1
const TICK_ROUND_MS = 5_000
const PRUNE_EVERY_MS = 60_000
/** Rows deleted per slice. Deleting a trade takes about 35 µs. */
const PRUNE_ROWS = 24
const REMOVE_OLD_EVERY_MS = 5_000
const REMOVE_OLD_COUNT = 10
const SOON_MS = 10
const SAVE_USE_EVERY_MS = 300_000
const BACKUP_EVERY_MS = HOUR_MS
/**
 * Delay after a start until deleted rows of earlier runs are overwritten. The hourly backup overwrites later deletions.
 */
const OVERWRITE_AFTER_MS = 60_000

interface HousekeepingParts {
  readonly clock: Clock
  readonly storage: Storage
  readonly log: Log
  readonly catalog: Catalog
  readonly accounts: Accounts
  readonly retentionDays: number
  readonly sizeBytesMax: number
}

export function startHousekeeping(parts: HousekeepingParts): readonly StopTimer[] {
  const { clock, storage, log, catalog, accounts, retentionDays, sizeBytesMax } = parts
  const tick = ticker(clock, catalog)
  const removeOldMarkets = () =>
    catalog.removeOld(clock.nowMs(), retentionDays, REMOVE_OLD_COUNT) === REMOVE_OLD_COUNT
  const onError = (error: unknown) => log.error({ err: error }, 'retention failed')
  const saveUse = () => {
    accounts.saveUse().catch((error) => log.error({ err: error }, 'use of keys not saved'))
  }
  return [
    clock.every(TICK_EVERY_MS, tick),
    startStorageHousekeeping({ clock, storage, log, retentionDays, sizeBytesMax }),
    runInSlices({
      clock,
      everyMs: REMOVE_OLD_EVERY_MS,
      work: removeOldMarkets,
      onError,
      isStartedNow: true,
    }),
    clock.every(SAVE_USE_EVERY_MS, saveUse),
  ]
}

/**
 * Deletes expired and surplus rows, overwrites deleted accounts and backs up accounts. Returns a function that stops
 * the work. A standby engine runs only this work, because its disk also stores accounts.
 */
export function startStorageHousekeeping(
  parts: Omit<HousekeepingParts, 'catalog' | 'accounts'>,
): StopTimer {
  const { clock, storage, log, retentionDays, sizeBytesMax } = parts
  const work = () =>
    storage.prune({ nowMs: clock.nowMs(), retentionDays, sizeBytesMax, rowsMax: PRUNE_ROWS })
  const onError = (error: unknown) => log.error({ err: error }, 'retention failed')
  const timers = [
    runInSlices({ clock, everyMs: PRUNE_EVERY_MS, work, onError }),
    // These promises never reject, because the storage logs and counts failures.
    clock.after(OVERWRITE_AFTER_MS, () => void storage.overwriteDeleted()),
    clock.every(BACKUP_EVERY_MS, () => void storage.backupAccounts(clock.nowMs())),
  ]
  return () => {
    for (const stop of timers) stop()
  }
}

/** After a start every market has a checkpoint to write. The work is split into slices of at most a millisecond. */
function ticker(clock: Clock, catalog: Catalog): () => void {
  let round: Iterator<{ readonly actor: MarketActor }> | null = null
  return () => {
    const nowMs = clock.nowMs()
    const endsAtMs = clock.monotonicMs() + TICK_MS_MAX
    const count = Math.ceil((catalog.marketCount * TICK_EVERY_MS) / TICK_ROUND_MS)
    round ??= catalog.entries()[Symbol.iterator]()
    for (let seen = 0; seen < count; seen += 1) {
      const next = round.next()
      if (next.done === true) {
        round = null
        return
      }
      next.value.actor.tick(nowMs)
      if (clock.monotonicMs() > endsAtMs) return
    }
  }
}

function runInSlices(parts: {
  clock: Clock
  everyMs: number
  work: () => boolean
  onError: (error: unknown) => void
  isStartedNow?: boolean
}): StopTimer {
  const { clock, everyMs, work, onError } = parts
  let stopNext: StopTimer = () => undefined
  const run = () => {
    stopNext()
    try {
      if (work()) stopNext = clock.after(SOON_MS, run)
    } catch (error) {
      onError(error)
    }
  }
  if (parts.isStartedNow === true) run()
  const stopEvery = clock.every(everyMs, run)
  return () => {
    stopEvery()
    stopNext()
  }
}
