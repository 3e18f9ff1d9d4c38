// Loses its last writes in a crash, like a killed process. A new storage replays all earlier writes. Webhooks always
// survive, because their writes are durable at once.

import type { Storage } from '../../../storage/contract/storage.ts'
import { openMemoryStorage } from '../reference/memory.ts'

type Write = (storage: Storage) => void

const OUTBOX_WRITES = ['create', 'update', 'putFailingSince', 'putLastPrice', 'prune', 'clear']

export class CrashingStorage {
  #writes: { readonly atMs: number; readonly isAwaited: boolean; readonly write: Write }[] = []
  readonly #nowMs: () => number
  storage: Storage

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.storage = this.#watch(openMemoryStorage())
  }

  /** Simulates a restart without the last `count` writes. Writes that are older than `withinMs` are never lost. */
  crash(count: number, withinMs: number): void {
    const sinceMs = this.#nowMs() - withinMs
    const loose = this.#writes.filter(({ isAwaited }) => !isAwaited)
    const lost = new Set(loose.slice(-count).filter(({ atMs }) => atMs >= sinceMs))
    if (count > 0) this.#writes = this.#writes.filter((one) => !lost.has(one))
    const storage = openMemoryStorage()
    for (const { write } of this.#writes) write(storage)
    this.storage = this.#watch(storage)
  }

  #watch(storage: Storage): Storage {
    const note = (write: Write, isAwaited = false) =>
      this.#writes.push({ atMs: this.#nowMs(), isAwaited, write })
    const { trades, whales, runs, marks, outbox, webhooks } = storage
    return Object.assign(storage, {
      trades: noting(trades, ['put', 'setMaker', 'setTaker'], (name, args) =>
        note((later) => Reflect.apply(Reflect.get(later.trades, name), later.trades, args)),
      ),
      whales: noting(whales, ['put', 'replace'], (name, args) =>
        note((later) => Reflect.apply(Reflect.get(later.whales, name), later.whales, args)),
      ),
      runs: noting(runs, ['begin', 'end'], (name, args) =>
        note((later) => Reflect.apply(Reflect.get(later.runs, name), later.runs, args)),
      ),
      marks: noting(marks, ['put'], (name, args) =>
        note((later) => Reflect.apply(Reflect.get(later.marks, name), later.marks, args)),
      ),
      outbox: noting(outbox, OUTBOX_WRITES, (name, args) =>
        note((later) => Reflect.apply(Reflect.get(later.outbox, name), later.outbox, args)),
      ),
      webhooks: noting(webhooks, ['create', 'put', 'remove'], (name, args) =>
        note(
          (later) => Reflect.apply(Reflect.get(later.webhooks, name), later.webhooks, args),
          true,
        ),
      ),
    })
  }
}

function noting<Table extends object>(
  table: Table,
  names: readonly string[],
  note: (name: string, args: readonly unknown[]) => void,
): Table {
  return new Proxy(table, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, args)
        if (typeof name === 'string' && names.includes(name)) note(name, args)
        return result
      }
    },
  })
}
