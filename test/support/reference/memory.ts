// The real storage with sorted lists in memory instead of LMDB. Nothing survives close().

import { systemClock } from '../../../engine/clock.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { Environment, type Root } from '../../../storage/lmdb/environment.ts'
import { storageOf } from '../../../storage/lmdb/lmdb.ts'
import type { Database, Row } from '../../../storage/lmdb/table.ts'
import { Outbox } from '../../../storage/outbox.ts'
import { compareKeys } from '../../../storage/records/keys.ts'
import type { EnvironmentName } from '../../../storage/tables.ts'
import { StoredWallets } from '../../../storage/wallets.ts'
import { Webhooks } from '../../../storage/webhooks.ts'

const PAGE_BYTES = 4_096

export function openMemoryStorage(): Storage {
  return storageOf({
    metrics: new Metrics(),
    accounts: memoryEnvironment('accounts'),
    market: memoryEnvironment('market'),
    backup: {
      make: async () => undefined,
      overwriteDeleted: async () => undefined,
      stop: async () => undefined,
    },
    release: () => undefined,
  })
}

export function memoryEnvironment(name: EnvironmentName): Environment {
  return new Environment(new MemoryRoot(), {
    ...{ name, path: '', clock: systemClock, log: silentLog, metrics: new Metrics() },
    commitPauseMs: 0,
    failedRows: name === 'accounts' ? 'drop' : 'keep',
  })
}

export class MemoryOutbox extends Outbox {
  constructor() {
    super(memoryEnvironment('market'))
  }
}

export class MemoryWebhooks extends Webhooks {
  constructor() {
    super(memoryEnvironment('accounts'), 0)
  }
}

export class MemoryWallets extends StoredWallets {
  constructor() {
    super(memoryEnvironment('market'))
  }
}

class MemoryRoot implements Root {
  openDB(): Database {
    return new MemoryDatabase()
  }

  async batch(write: () => void): Promise<void> {
    write()
  }

  readerCheck(): void {}
  resetReadTxn(): void {}
  async close(): Promise<void> {}
  async backup(): Promise<void> {}
}

interface Rows {
  readonly list: Row[]
  readerCount: number
}

class MemoryDatabase implements Database {
  #rows: Rows = { list: [], readerCount: 0 }
  #bytes = 0

  get(key: Buffer): Buffer | undefined {
    const row = this.#rows.list[this.#indexOf(key)]
    return row?.key.equals(key) ? row.value : undefined
  }

  getBinaryFast(key: Buffer): Buffer | undefined {
    return this.get(key)
  }

  put(key: Buffer, value: Buffer): void {
    const index = this.#indexOf(key)
    const replaced = this.#rows.list[index]
    const isReplaced = replaced?.key.equals(key) === true
    const row = { key: Buffer.from(key), value: Buffer.from(value) }
    this.#changeable().splice(index, isReplaced ? 1 : 0, row)
    this.#bytes += key.length + value.length
    if (isReplaced) this.#bytes -= key.length + replaced.value.length
  }

  remove(key: Buffer): void {
    const index = this.#indexOf(key)
    const row = this.#rows.list[index]
    if (row?.key.equals(key) !== true) return
    this.#changeable().splice(index, 1)
    this.#bytes -= key.length + row.value.length
  }

  /** Yields the rows that existed at the start, even if rows change meanwhile. */
  *getRange(range: { start: Buffer; end: Buffer; reverse?: boolean }): Iterable<Row> {
    const { start, end, reverse = false } = range
    const from = this.#indexOf(reverse ? end : start)
    const to = this.#indexOf(reverse ? start : end)
    const rows = this.#rows
    rows.readerCount += 1
    try {
      for (let step = 0; step < to - from; step += 1) {
        const row = rows.list[reverse ? to - 1 - step : from + step]
        if (row !== undefined) yield row
      }
    } finally {
      rows.readerCount -= 1
    }
  }

  /** Copies the list if an iterator still reads it. */
  #changeable(): Row[] {
    if (this.#rows.readerCount > 0) this.#rows = { list: [...this.#rows.list], readerCount: 0 }
    return this.#rows.list
  }

  getStats() {
    const pages = { treeLeafPageCount: Math.ceil(this.#bytes / PAGE_BYTES), pageSize: PAGE_BYTES }
    return { entryCount: this.#rows.list.length, ...pages }
  }

  #indexOf(key: Buffer): number {
    const { list } = this.#rows
    let [low, high] = [0, list.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const row = list[middle]
      if (row !== undefined && compareKeys(row.key, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
