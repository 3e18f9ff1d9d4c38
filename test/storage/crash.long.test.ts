// Kills a process that writes to one data folder. Runs five rounds, or 100 with TEST_LONG=1.

import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Bar, barOf, joined } from '../../engine/market/candle.ts'
import { seededRandom } from '../../engine/random.ts'
import { timeMs } from '../../engine/units.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { openCheckedData, testFolder } from '../support/rigs/data-folder.ts'
import { account, key, NOON_MS } from '../support/worlds/stored.ts'

const ROUNDS = process.env.TEST_LONG === '1' ? 100 : 5
const MARKETS = 5

const folder = testFolder('crash')

interface Told {
  readonly kind: string
  readonly id: string
}

test('loses no acknowledged write and leaves no partial write when the process is killed with SIGKILL', async (t) => {
  const dataDir = join(folder, 'data')
  const random = seededRandom('kill')
  const accounts = new Set<string>()
  const keys = new Set<string>()
  const removed = new Set<string>()
  let trades = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const published = await runAndKill(dataDir, { round, messages: 3 + random.below(60) })
    for (const { kind, id } of published) {
      if (kind === 'account') accounts.add(id)
      if (kind === 'key') keys.add(id)
      if (kind === 'removed') removed.add(id)
    }
    const storage = await openCheckedData(dataDir)
    try {
      assertAcknowledged(storage, { accounts, keys, removed })
      trades = assertConsistent(storage)
      assert.equal(storage.runs.all().length <= round + 1, true)
    } finally {
      await storage.close()
    }
  }
  t.diagnostic(`${accounts.size} accounts, ${removed.size} removals, ${trades} trades in the end`)
  assert.ok(trades > 0)
})

test('commits every write when storage closes, including the writes of the last event-loop tick', async () => {
  const dataDir = join(folder, 'closed')
  const storage = await openCheckedData(dataDir)
  storage.marks.put('last', 7)
  await storage.close()
  const again = await openCheckedData(dataDir)
  assert.equal(again.marks.get('last'), 7)
  await again.close()
})

/** Kills the writer after `messages` reports and returns the reports. */
async function runAndKill(
  dataDir: string,
  options: { round: number; messages: number },
): Promise<readonly Told[]> {
  const program = fileURLToPath(new URL('./crash-writer.ts', import.meta.url))
  const child: ChildProcess = fork(program, [dataDir, String(options.round)], {
    execArgv: ['--import', 'tsx'],
  })
  const published: Told[] = []
  child.on('message', (message: unknown) => {
    published.push(toldOf(message))
    if (published.length === options.messages) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'exit')
  assert.equal(signal, 'SIGKILL', 'the writer lived until it was killed')
  return published
}

function toldOf(message: unknown): Told {
  assert.ok(typeof message === 'object' && message !== null && 'kind' in message)
  assert.ok('id' in message && typeof message.id === 'string')
  return { kind: String(message.kind), id: message.id }
}

function assertAcknowledged(
  storage: Storage,
  published: { accounts: Set<string>; keys: Set<string>; removed: Set<string> },
): void {
  const storedAccounts = new Set<string>()
  for (const record of storage.accounts.accounts()) storedAccounts.add(record.id)
  for (const id of published.accounts)
    assert.ok(storedAccounts.has(account(id).id), `account ${id}`)
  const storedKeys = new Set<string>()
  for (const record of storage.accounts.keys()) storedKeys.add(record.id)
  for (const id of published.keys) {
    // The writer removes every third key. A kill may precede the report of the removal.
    const step = Number(id.split('x')[1])
    if (step % 3 !== 0) assert.ok(storedKeys.has(key(id).id), `key ${id}`)
  }
  for (const id of published.removed) assert.ok(!storedKeys.has(key(id).id), `removed key ${id}`)
}

/** Checks that rows, ids, offsets, ordinals and bars are consistent. Returns the number of trades. */
function assertConsistent(storage: Storage): number {
  const byOffset = new Map<string, string>()
  for (const run of storage.runs.all()) {
    const rows = storage.trades.rangeByOffset({ run: run.number, offset: -1, limit: 1_000_000 })
    rows.forEach(({ market, trade }, index) => {
      assert.equal(trade.offset, index, 'a prefix of the run, without holes')
      byOffset.set(trade.nativeId, `${market} ${trade.timeMs} ${trade.ordinal}`)
    })
  }
  let count = 0
  for (let market = 0; market < MARKETS; market += 1) {
    const query = { market, fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2), after: null } as const
    const rows = storage.trades.range({ ...query, order: 'asc', limit: 1_000_000 })
    let previous = { timeMs: 0, ordinal: -1 }
    for (const row of rows) {
      const expected = row.timeMs === previous.timeMs ? previous.ordinal + 1 : 0
      assert.equal(row.ordinal, expected, 'ordinals without holes')
      assert.deepEqual(storage.trades.get(market, row.nativeId), row)
      assert.equal(byOffset.get(row.nativeId), `${market} ${row.timeMs} ${row.ordinal}`)
      previous = row
    }
    count += rows.length
    for (const size of ['minute', 'hour'] as const) {
      const bars = new Map<number, Bar>()
      for (const row of rows) {
        const one = barOf(size, row)
        const existing = bars.get(one.startMs)
        bars.set(one.startMs, existing === undefined ? one : joined(existing, one))
      }
      const stored = storage.bars.range({ ...query, size, order: 'asc', limit: 1_000_000 })
      assert.deepEqual(stored, [...bars.values()], 'bars are what the trades come to')
    }
  }
  assertVenue(storage, count)
  assert.equal(count, byOffset.size)
  assert.equal(count, storage.trades.count())
  return count
}

/** The venue's index must contain every trade once, with consecutive ordinals. */
function assertVenue(storage: Storage, count: number): void {
  const query = { venue: 'a', fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2), after: null } as const
  const rows = storage.trades.rangeOfVenue({ ...query, order: 'asc', limit: 1_000_000 })
  assert.equal(rows.length, count)
  let previous = { timeMs: 0, ordinal: -1 }
  for (const { market, venueOrdinal, trade } of rows) {
    const expected = trade.timeMs === previous.timeMs ? previous.ordinal + 1 : 0
    assert.equal(venueOrdinal, expected, 'ordinals of the venue without holes')
    assert.deepEqual(storage.trades.get(market, trade.nativeId), trade)
    previous = { timeMs: trade.timeMs, ordinal: venueOrdinal }
  }
}
