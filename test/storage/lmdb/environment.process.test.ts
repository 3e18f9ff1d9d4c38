import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { outstandingWritesMax } from '../../../engine/limits.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { timeMs } from '../../../engine/units.ts'
import { webhookNumber } from '../../../engine/webhooks/webhook.ts'
import { Accounts } from '../../../storage/accounts.ts'
import { Hours } from '../../../storage/hours.ts'
import { type DiskSpace, Environment, openDatabase } from '../../../storage/lmdb/environment.ts'
import { Marks } from '../../../storage/marks.ts'
import { Outbox } from '../../../storage/outbox.ts'
import { type EnvironmentName, TABLES } from '../../../storage/tables.ts'
import { Trades } from '../../../storage/trades.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { account, key, trade, traded } from '../../support/worlds/stored.ts'
import { newDelivery } from '../../support/worlds/stored-webhooks.ts'

type Fault = 'none' | 'full' | 'broken' | 'hangs'

interface Bench {
  readonly path: string
  readonly clock: ManualClock
  readonly metrics: Metrics
  readonly environment: Environment
  fault: Fault
  commitCount: number
  capacity: DiskSpace
  /** Every read of a table throws this error. */
  readFault: Error | null
}

const cleanups: (() => Promise<void>)[] = []

function openBench(name: EnvironmentName): Bench {
  const path = mkdtempSync(join(tmpdir(), 'twinbook-environment-'))
  const root = openDatabase(path)
  const clock = new ManualClock()
  const metrics = new Metrics()
  const failing = {
    openDB: ((...args: Parameters<typeof root.openDB>) =>
      new Proxy(root.openDB(...args), {
        get: (database, name) => {
          if (bench.readFault !== null && /^get/.test(String(name))) throw bench.readFault
          const value: unknown = Reflect.get(database, name)
          return typeof value === 'function' ? value.bind(database) : value
        },
      })) as typeof root.openDB,
    readerCheck: () => root.readerCheck(),
    resetReadTxn: () => root.resetReadTxn(),
    close: () => root.close(),
    backup: root.backup.bind(root),
    batch: (write: () => void) => {
      bench.commitCount += 1
      if (bench.fault === 'hangs') return new Promise<boolean>(() => {})
      if (bench.fault === 'none') return root.batch(write)
      const text = bench.fault === 'full' ? 'No space left on device' : 'Input/output error'
      const error = new Error('Commit failed (see commitError for details)')
      return Promise.reject(Object.assign(error, { commitError: Promise.reject(new Error(text)) }))
    },
  }
  const environment = new Environment(failing, {
    name,
    path,
    clock,
    log: silentLog,
    metrics,
    commitPauseMs: name === 'market' ? 20 : 0,
    failedRows: name === 'market' ? 'keep' : 'drop',
    diskSpace: () => bench.capacity,
  })
  const capacity = { freeBytes: 2 ** 40, totalBytes: 2 ** 40 }
  const bench: Bench = {
    ...{ path, clock, metrics, environment, fault: 'none', commitCount: 0, capacity },
    readFault: null,
  }
  cleanups.push(async () => {
    const closing = environment.close(1_000).catch(() => {})
    clock.advance(1_000)
    await closing
    rmSync(path, { recursive: true, force: true })
  })
  return bench
}

const ALL = { from: Buffer.of(0), to: Buffer.of(255) }

const marksOf = (environment: Environment) => new Marks(environment.table(TABLES.marks))

describe('LMDB environment', () => {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup()
  })

  test('maps a growing LMDB database file into memory once', {
    skip: process.platform !== 'linux' && 'only Linux shows what is mapped',
  }, async () => {
    const { environment, clock, path } = openBench('market')
    const marks = marksOf(environment)
    const maps = () =>
      readFileSync('/proc/self/maps', 'utf8')
        .split('\n')
        .filter((line) => line.endsWith(join(path, 'data.mdb')))
    for (let count = 0; count < 20_000; count += 1) marks.put(`one of many marks ${count}`, count)
    clock.advance(20)
    await environment.committed()
    assert.ok(
      statSync(join(path, 'data.mdb')).size > 2 ** 19,
      'it grew beyond the first maps of lmdb-js',
    )
    assert.equal(marks.get('one of many marks 19999'), 19_999)
    assert.equal(maps().length, 1)
  })

  test('commits all writes of one commit pause in one LMDB transaction', async () => {
    const bench = openBench('market')
    const marks = marksOf(bench.environment)
    for (let count = 0; count < 100; count += 1) marks.put(`mark ${count % 50}`, count)
    assert.equal(bench.environment.outstandingWrites(), 50, 'a row put twice is written once')
    bench.clock.advance(19)
    assert.equal(bench.commitCount, 0)
    bench.clock.advance(1)
    assert.equal(bench.commitCount, 1)
    marks.put('mark 1', -1)
    assert.equal(marks.get('mark 1'), -1)
    await bench.environment.committed()
    assert.equal(bench.environment.outstandingWrites(), 0)
    assert.equal(bench.commitCount, 2)
    assert.equal(marks.get('mark 1'), -1)
    assert.equal(marks.get('mark 2'), 52)
  })

  test('enters the failed state after a failed commit, and returns rows that were put before and after the failure', async () => {
    const bench = openBench('market')
    const marks = marksOf(bench.environment)
    bench.fault = 'broken'
    marks.put('a', 1)
    await assert.rejects(bench.environment.committed(), /writing to the disk failed/)
    assert.equal(bench.environment.state, 'failed')
    assert.equal(marks.get('a'), 1)
    marks.put('b', 2)
    assert.equal(marks.get('b'), 2)
    await assert.rejects(bench.environment.committed(), /writing to the disk failed/)
    assert.equal(bench.commitCount, 1, 'after a failed flush nothing more is written')
    const failures = [...bench.metrics.counts('storage_commit_failures').values()]
    assert.deepEqual(
      failures.map((count) => count.value),
      [1],
    )
  })

  test('rejects the promise of a caller that waits for the next commit when the running commit fails', async () => {
    const bench = openBench('market')
    const marks = marksOf(bench.environment)
    bench.fault = 'broken'
    marks.put('committing', 1)
    bench.clock.advance(20)
    assert.equal(bench.commitCount, 1)
    marks.put('waiting', 2)
    await assert.rejects(bench.environment.committed(), /writing to the disk failed/)
  })

  for (const { freeMiB, totalMiB } of [
    { freeMiB: 63, totalMiB: 1_000 },
    { freeMiB: 190, totalMiB: 10_000 },
    { freeMiB: 1_023, totalMiB: 2_000_000 },
  ]) {
    test(`starts no LMDB commit when ${freeMiB} of ${totalMiB} MiB are free`, async () => {
      const bench = openBench('accounts')
      const accounts = new Accounts(bench.environment)
      bench.capacity = { freeBytes: freeMiB * 2 ** 20, totalBytes: totalMiB * 2 ** 20 }
      await assert.rejects(accounts.putAccount(account('refused')), {
        code: 'UNAVAILABLE',
        retryAfterSeconds: 30,
        detail: 'the disk is full: nothing was changed; try again later',
      })
      assert.equal(bench.environment.state, 'diskFull')
      assert.equal(bench.commitCount, 0)
      bench.capacity = {
        freeBytes: bench.capacity.freeBytes + 2 ** 24,
        totalBytes: bench.capacity.totalBytes,
      }
      await accounts.putAccount(account('accepted'))
      assert.equal(bench.environment.state, 'ok')
      assert.deepEqual(
        Array.from(accounts.accounts(), ({ email }) => email),
        [account('accepted').email],
      )
    })
  }

  test('detects a full disk, retries the commit, and leaves the full-disk state when space is free', async () => {
    const bench = openBench('market')
    const trades = new Trades(bench.environment, new Hours(bench.environment.table(TABLES.hours)))
    bench.fault = 'full'
    trades.put(traded(1), trade('t1'))
    await assert.rejects(bench.environment.committed(), /the disk is full/)
    assert.equal(bench.environment.state, 'diskFull')
    trades.put(traded(1), trade('t2'))
    bench.fault = 'none'
    bench.clock.advance(5_000)
    await bench.environment.committed()
    assert.equal(bench.environment.state, 'ok')
    assert.equal(trades.get(1, 't1')?.ordinal, 0)
    assert.equal(trades.get(1, 't2')?.ordinal, 1)
    assert.equal(bench.environment.outstandingWrites(), 0)
  })

  test('returns from the full-disk state to ok within 5 s after space is free, even if nothing is written', async () => {
    const bench = openBench('accounts')
    const accounts = new Accounts(bench.environment)
    await accounts.putAccount(account('one'))
    bench.fault = 'full'
    await assert.rejects(accounts.putAccount(account('two')), /the disk is full/)
    assert.deepEqual(
      [bench.environment.state, bench.environment.outstandingWrites()],
      ['diskFull', 0],
    )
    bench.clock.advance(4_000)
    await bench.environment.committed().catch(() => undefined)
    assert.equal(bench.environment.state, 'diskFull', 'still full')
    bench.fault = 'none'
    bench.clock.advance(4_000)
    await bench.environment.committed()
    assert.equal(bench.environment.state, 'ok')
  })

  test('limits the number of uncommitted rows while commits fail, and counts the dropped rows', async () => {
    const bench = openBench('market')
    const marks = marksOf(bench.environment)
    bench.fault = 'broken'
    marks.put('first', 1)
    await assert.rejects(bench.environment.committed())
    for (let count = 0; count < outstandingWritesMax + 10; count += 1) marks.put(`m${count}`, count)
    assert.equal(bench.environment.outstandingWrites(), outstandingWritesMax)
    const dropped = [...bench.metrics.counts('storage_writes_dropped').values()]
    assert.equal(dropped[0]?.value, 11)
  })

  test('stores either all rows or no row of a delivery change while the disk is full', async () => {
    const bench = openBench('market')
    const [marks, outbox] = [marksOf(bench.environment), new Outbox(bench.environment)]
    const one = webhookNumber(1)
    const first = outbox.create(one, newDelivery('evt_1'))
    await bench.environment.committed()
    bench.fault = 'full'
    marks.put('first', 1)
    await assert.rejects(bench.environment.committed())
    // `left` is the number of rows that still fit: all rows of a change, then some, then none.
    for (let left = 20; left >= 0; left -= 1) {
      for (
        let count = bench.environment.outstandingWrites();
        count < outstandingWritesMax - left;
        count += 1
      ) {
        marks.put(`m${count}`, 1)
        assert.equal(bench.environment.outstandingWrites(), count + 1)
      }
      outbox.create(one, newDelivery(`evt_left_${left}`))
      if (first !== null) outbox.update(one, { ...first, status: 'delivered', dueAtMs: null })
      outbox.prune({ webhook: one, finishedMax: 0, beforeMs: timeMs(0), rowsMax: 5 })
    }
    const checkedCounts = () => {
      const listed = outbox.list({ webhook: one, status: null, before: null, limit: 99 })
      const { counts } = outbox.state(one)
      const due = outbox.due({ webhook: one, attemptKind: 'first', after: null, limit: 99 })
      const pending = listed.filter(({ status }) => status === 'pending')
      assert.equal(counts.pending, pending.length)
      assert.equal(due.length, pending.length)
      assert.equal(counts.created, listed[0]?.number ?? 1)
      return counts
    }
    const counts = checkedCounts()
    assert.ok(counts.created < 22, 'some were refused')
    bench.fault = 'none'
    bench.clock.advance(5_000)
    await bench.environment.committed()
    assert.deepEqual(checkedCounts(), counts)
    assert.deepEqual(new Outbox(bench.environment).state(one).counts, counts)
  })

  test('rejects an account change that the disk cannot store, and discards the change', async () => {
    const bench = openBench('accounts')
    const accounts = new Accounts(bench.environment)
    await accounts.putAccount(account('one'))
    bench.fault = 'full'
    await assert.rejects(accounts.putAccount(account('two')), /the disk is full/)
    await assert.rejects(accounts.putAccount(account('one', { tier: 'pro' })), /the disk is full/)
    assert.deepEqual([...accounts.accounts()], [account('one')])
    bench.fault = 'none'
    await accounts.putKey(key('k1'))
    assert.equal(bench.environment.state, 'ok')
    bench.fault = 'broken'
    await assert.rejects(accounts.removeKey(key('k1').id), /writing to the disk failed/)
    await assert.rejects(accounts.putKey(key('k2')), /writing to the disk failed/)
    assert.deepEqual([...accounts.keys()], [key('k1')])
  })

  test('rejects a write when the disk does not respond within 5 s', async () => {
    const bench = openBench('accounts')
    const accounts = new Accounts(bench.environment)
    bench.fault = 'hangs'
    const put = accounts.putAccount(account('one'))
    bench.clock.advance(5_000)
    await assert.rejects(put, /TIMED_OUT/)
    const closing = assert.rejects(bench.environment.close(1_000), /TIMED_OUT/)
    bench.clock.advance(1_000)
    await closing
  })

  test('rejects each waiting write when storage closes while a commit does not return', async () => {
    const bench = openBench('market')
    const { environment, clock } = bench
    const marks = marksOf(environment)
    const isClosed = {
      code: 'UNAVAILABLE',
      detail: 'the database was closed before it confirmed the write',
    }
    bench.fault = 'hangs'
    marks.put('committing', 1)
    const waits = [assert.rejects(environment.committed(), isClosed)]
    clock.advance(20)
    await nextTick()
    marks.put('waiting', 2)
    waits.push(assert.rejects(environment.committed(), isClosed))
    const closing = assert.rejects(environment.close(1_000), /TIMED_OUT/)
    clock.advance(1_000)
    await Promise.all([...waits, closing])
    await assert.rejects(environment.committed(), isClosed)
  })

  test('stores trades separately when the hashes of their ids are equal', async () => {
    const bench = openBench('market')
    const hours = new Hours(bench.environment.table(TABLES.hours))
    const trades = new Trades(bench.environment, hours, () => [1, 1])
    for (let count = 0; count < 5; count += 1) trades.put(traded(1), trade(`t${count}`))
    await bench.environment.committed()
    trades.put(traded(1), trade('t5'))
    for (let count = 0; count < 6; count += 1) {
      assert.equal(trades.get(1, `t${count}`)?.ordinal, count)
    }
    assert.equal(trades.has(1, 't6'), false)
    trades.removeBefore({ market: 1, beforeMs: trade('x').timeMs + 1, rowsMax: 2 })
    await bench.environment.committed()
    assert.deepEqual(
      [0, 1, 2, 3, 4, 5].map((count) => trades.has(1, `t${count}`)),
      [false, false, true, true, true, true],
    )
  })

  test('answers UNAVAILABLE and becomes unhealthy when LMDB cannot read a page of the database file', async () => {
    const bench = openBench('market')
    const table = bench.environment.table(TABLES.marks)
    const marks = marksOf(bench.environment)
    marks.put('a', 1)
    await bench.environment.committed()
    assert.equal(bench.environment.isHealthy, true)
    bench.readFault = new Error('MDB_CORRUPTED: Located page was wrong type')
    for (const read of [
      () => marks.get('a'),
      () => table.has(Buffer.of(1)),
      () => table.first(ALL),
    ]) {
      assert.throws(read, { code: 'UNAVAILABLE', detail: /stored data is damaged \(table marks\)/ })
    }
    assert.equal(bench.environment.isHealthy, false)
  })
})
