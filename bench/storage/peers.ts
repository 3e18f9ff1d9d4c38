// Stores with which ours is compared: a bare LMDB with our options, and LevelDB through the package `classic-level`.
// They receive the rows of our tables as finished keys and values. They do not read, encode or check for duplicates.

import { ClassicLevel } from 'classic-level'
import type { Database, RootDatabase } from 'lmdb'
import { systemClock } from '../../engine/clock.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { Hours } from '../../storage/hours.ts'
import { Environment, openDatabase, openTable, type Root } from '../../storage/lmdb/environment.ts'
import { rowsOf } from '../../storage/lmdb/packed-table.ts'
import { TABLE_LAYOUTS, TABLES } from '../../storage/tables.ts'
import { Trades } from '../../storage/trades.ts'
import type { TradeInput } from './inputs.ts'

export interface WrittenRow {
  readonly table: string
  readonly key: Buffer
  readonly value: Buffer
}

/** `write` receives the rows of one commit and resolves when they are durable. */
export interface RowStore {
  write(rows: readonly WrittenRow[]): Promise<void>
  /** Every row as one line, by table and key. */
  lines(): Promise<readonly string[]>
  close(): Promise<void>
}

const CLOSE_MS_MAX = 10_000

/** The rows that our tables write for some trades, in commits of `perCommit` trades. Uses a temporary folder. */
export async function recordedRows(
  folder: string,
  inputs: readonly TradeInput[],
  perCommit: number,
): Promise<readonly (readonly WrittenRow[])[]> {
  const commits: WrittenRow[][] = []
  let rows: WrittenRow[] = []
  const root = openDatabase(folder)
  const environment = new Environment(
    listened(root, (row) => rows.push(row)),
    {
      ...{ name: 'market', path: folder, clock: systemClock, log: silentLog },
      ...{ metrics: new Metrics(), commitPauseMs: 0, failedRows: 'keep' },
    },
  )
  const trades = new Trades(environment, new Hours(environment.table(TABLES.hours)))
  for (let from = 0; from < inputs.length; from += perCommit) {
    for (const { market, trade } of inputs.slice(from, from + perCommit)) trades.put(market, trade)
    await environment.committed()
    commits.push(rows)
    rows = []
  }
  await environment.close(CLOSE_MS_MAX)
  return commits
}

const PACKED: ReadonlySet<string> = new Set(
  [TABLES.trades, TABLES.tradeOffsets, TABLES.venueTrades].map(({ name }) => name),
)

/** The same rows unpacked. Each is in the first commit that contains it. */
export function unpackedRows(
  commits: readonly (readonly WrittenRow[])[],
): readonly (readonly WrittenRow[])[] {
  const seen = new Set<string>()
  return commits.map((rows) =>
    rows.flatMap((written) => {
      const { table } = written
      const each = PACKED.has(table) ? rowsOf(written) : [written]
      return each.flatMap(({ key, value }) => {
        const name = `${table} ${key.toString('latin1')}`
        if (PACKED.has(table) && seen.has(name)) return []
        seen.add(name)
        return [{ table, key, value }]
      })
    }),
  )
}

function listened(root: RootDatabase<Buffer, Buffer>, onPut: (row: WrittenRow) => void): Root {
  const databaseOf = (table: string, database: Database<Buffer, Buffer>) =>
    new Proxy(database, {
      get(target, name) {
        if (name === 'put') {
          return (key: Buffer, value: Buffer) => {
            onPut({ table, key: Buffer.from(key), value: Buffer.from(value) })
            return target.put(key, value)
          }
        }
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  return new Proxy(root, {
    get(target, name) {
      if (name === 'openDB') {
        return (table: string) => {
          const layout = TABLE_LAYOUTS.find((one) => one.name === table)
          // The sentinel's database is not in TABLE_LAYOUTS, and its rows are not recorded.
          if (layout === undefined) return openTable(target, { name: table, isCompressed: false })
          return databaseOf(table, openTable(target, layout))
        }
      }
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

/** Bare LMDB with one batch per commit. */
export class BareLmdb implements RowStore {
  readonly #root: RootDatabase<Buffer, Buffer>
  readonly #tables = new Map<string, Database<Buffer, Buffer>>()

  constructor(folder: string) {
    this.#root = openDatabase(folder)
    for (const layout of TABLE_LAYOUTS) {
      if (layout.environment === 'market')
        this.#tables.set(layout.name, openTable(this.#root, layout))
    }
  }

  async write(rows: readonly WrittenRow[]): Promise<void> {
    await this.#root.batch(() => {
      for (const { table, key, value } of rows) void this.#tables.get(table)?.put(key, value)
    })
  }

  async lines(): Promise<readonly string[]> {
    const lines: string[] = []
    for (const [table, database] of this.#tables) {
      for (const { key, value } of database.getRange()) lines.push(rowLine({ table, key, value }))
    }
    return lines.sort()
  }

  close(): Promise<void> {
    return this.#root.close()
  }
}

/** LevelDB. Each commit is one batch, after which the log is synced. */
export class Level implements RowStore {
  readonly #level: ClassicLevel<Buffer, Buffer>
  /**
   * Batches run in sequence, because later ones contain newer versions of some rows and concurrent batches have no
   * order.
   */
  #written: Promise<void> = Promise.resolve()

  constructor(folder: string) {
    const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
    this.#level = new ClassicLevel<Buffer, Buffer>(folder, encodings)
  }

  write(rows: readonly WrittenRow[]): Promise<void> {
    const puts = rows.map(({ table, key, value }) => ({
      ...{ type: 'put' as const, value },
      key: Buffer.concat([Buffer.from(`${table} `), key]),
    }))
    this.#written = this.#written.then(() => this.#level.batch(puts, { sync: true }))
    return this.#written
  }

  async lines(): Promise<readonly string[]> {
    const lines: string[] = []
    for await (const [named, value] of this.#level.iterator()) {
      const end = named.indexOf(' ')
      const table = named.toString('latin1', 0, end)
      lines.push(rowLine({ table, key: named.subarray(end + 1), value }))
    }
    return lines.sort()
  }

  close(): Promise<void> {
    return this.#level.close()
  }
}

export function rowLine({ table, key, value }: WrittenRow): string {
  return `${table} ${Buffer.from(key).toString('hex')} ${Buffer.from(value).toString('hex')}`
}
