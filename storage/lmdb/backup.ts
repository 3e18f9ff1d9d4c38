// Backups of the environment `accounts` while the engine runs. Each backup is a data folder without the file `secrets`,
// at DATA_DIR/backups/accounts-<UTC time>. Its `database.json` is marked incomplete. engine/app/OPERATING.md explains
// how to restore a backup.

import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { flush } from '../../engine/process/durable-file.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { TimeMs } from '../../engine/units.ts'
import { SENTINEL_TABLE } from '../tables.ts'
import { diskSpace, type Environment, isBelowReserve } from './environment.ts'
import { environmentBytes, sideFileText, sidePath } from './sentinel.ts'
import { countRows } from './startup-check.ts'

/** Backups are made hourly. */
const RETAINED_MAX = 24
const NAME = /^accounts-\d{8}T\d{6}Z$/
const PARTIAL = /^accounts-\d{8}T\d{6}Z\.part$/

const REWRITE_FAILED = 'deleted accounts could not be overwritten'

interface AccountsBackupOptions {
  readonly environment: Pick<
    Environment,
    'rowCounts' | 'handedOver' | 'putCount' | 'copyTo' | 'rewrite'
  >
  readonly dataDir: string
  readonly databaseId: string
  readonly log: Log
  readonly metrics: Metrics
}

export class AccountsBackup {
  readonly #options: AccountsBackupOptions
  readonly #folder: string
  #running: Promise<void> | null = null
  #isStopped = false

  constructor(options: AccountsBackupOptions) {
    this.#options = options
    this.#folder = join(resolve(options.dataDir), 'backups')
  }

  /** Makes a backup named by `nowMs`. If a backup is in progress, waits for it and makes none. Never rejects. */
  make(nowMs: TimeMs): Promise<void> {
    this.#running ??= this.#attempt(nowMs).finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /** Never rejects. */
  overwriteDeleted(): Promise<void> {
    this.#running ??= this.#rewrite()
      .catch((error: unknown) => this.#options.log.error({ err: error }, REWRITE_FAILED))
      .finally(() => {
        this.#running = null
      })
    return this.#running
  }

  async #rewrite(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await this.#requireSpace()
    await this.#options.environment.rewrite()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #attempt(nowMs: TimeMs): Promise<void> {
    const { log, metrics } = this.#options
    const name = `accounts-${new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '')}`
    const result = (outcome: string) =>
      metrics.count('storage_backups', 'backups of accounts', { result: outcome })
    try {
      await this.#rewrite()
      await this.#removeWhere((one) => PARTIAL.test(one))
      const part = join(this.#folder, `${name}.part`)
      const rowCount = await this.#copy(part).catch(async (error: unknown) => {
        await rm(part, { recursive: true, force: true })
        throw error
      })
      await rm(join(this.#folder, name), { recursive: true, force: true })
      await rename(part, join(this.#folder, name))
      await flush(this.#folder)
      await this.#removeOlder(name)
      result('made').inc()
      log.info({ name, rowCount }, 'accounts were backed up')
    } catch (error) {
      result('failed').inc()
      log.error({ name, cause: String(error) }, 'accounts could not be backed up')
    }
  }

  async #copy(part: string): Promise<number> {
    const { environment, databaseId } = this.#options
    const path = join(part, 'accounts')
    await mkdir(path, { recursive: true, mode: 0o700 })
    const [before, handedOver] = [environment.rowCounts(), environment.handedOver()]
    await environment.copyTo(path)
    if (this.#isStopped) throw new Error('the storage is closing')
    const changed = environment.putCount - handedOver
    const rowCount = compare(await countRows({ name: 'accounts', path }), before, changed)
    await rm(join(path, 'lock.mdb'), { force: true })
    const file = join(path, 'data.mdb')
    await chmod(file, 0o600)
    const side = sidePath(part)
    await writeFile(side, sideFileText({ databaseId, isComplete: false }), { mode: 0o600 })
    for (const one of [file, path, side, part]) await flush(one)
    return rowCount
  }

  /** Throws unless the disk has room for four copies, so that a backup does not fill the disk. */
  async #requireSpace(): Promise<void> {
    const bytes = environmentBytes(resolve(this.#options.dataDir), 'accounts') ?? 0
    const { freeBytes, totalBytes } = diskSpace(this.#folder)
    if (isBelowReserve({ freeBytes: freeBytes - 4 * bytes, totalBytes }))
      throw new Error('the disk has too little room for a copy')
  }

  /** Never removes the backup just made, even if the clock was set back. */
  async #removeOlder(made: string): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => NAME.test(name) && name !== made)
    const retained = new Set(names.sort().slice(-(RETAINED_MAX - 1)))
    await this.#removeWhere((name) => names.includes(name) && !retained.has(name))
  }

  async #removeWhere(shouldRemove: (name: string) => boolean): Promise<void> {
    for (const name of (await readdir(this.#folder)).filter(shouldRemove)) {
      await rm(join(this.#folder, name), { recursive: true, force: true })
    }
  }
}

/**
 * Throws if a table's row counts in copy and source differ by more than the number of rows written during the copy.
 * Each write changes a count by at most one. Returns the total row count.
 */
function compare(
  copied: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
  changed: number,
): number {
  if (copied.get(SENTINEL_TABLE) !== 1) throw new Error('the copy has no sentinel')
  let rowCount = 0
  for (const [table, count] of before) {
    const found = copied.get(table) ?? 0
    if (Math.abs(found - count) > changed) {
      throw new Error(`the copy has ${found} rows in ${table} where there were ${count}`)
    }
    rowCount += found
  }
  return rowCount
}
