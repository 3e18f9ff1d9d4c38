// Uses the full counts with TEST_LONG=1.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { RawReader } from '../../../support/clients/raw-reader.ts'
import { SimulatedUsers } from '../../../support/clients/simulated-users.ts'
import { allMarketIds, Rig } from '../../../support/rigs/full-service.ts'

const isLong = process.env.TEST_LONG === '1'
const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const idleCount = number('LIMITS_IDLE', isLong ? 2_000 : 300)
const busyCount = number('LIMITS_BUSY', isLong ? 200 : 50)

async function closeAll(readers: readonly RawReader[]): Promise<void> {
  for (const reader of readers) reader.destroy()
  await Promise.all(readers.map(({ closed }) => closed))
}

/** Resident memory of a process in kilobytes. */
function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

test('limits memory when some clients stop reading, read slowly or vanish, and sends complete data to other clients', async (t) => {
  const logLine = (line: string) => t.diagnostic(line)
  const rig = new Rig()
  let crowd: SimulatedUsers | null = null
  try {
    const [slow, quick] = isLong ? [20, 180] : [6, 6]
    await rig.startVenues({ messagesPerSecond: 1_000, marketsPerVenue: 60, faults: 'off' })
    const { engine, locations } = await rig.startEngine()
    const port = Number(new URL(locations.api).port)
    const marketIds = await allMarketIds(locations)
    crowd = SimulatedUsers.start({
      ...{
        seed: 'slow',
        host: '127.0.0.1',
        port,
        apiKey: locations.key,
        clients: quick,
        marketIds,
      },
      ...{ wideEvery: 0, marketsPerClient: 20, rough: null },
    })
    await crowd.ask({ kind: 'ready' })
    const beforeKb = residentKb(engine.pid)
    const all = { action: 'subscribe', market_ids: ['*'] }
    const commands = [
      { ...all, id: 1, channels: ['orderbook', 'prices', 'trades', 'candles'] },
      { ...all, id: 2, channel: 'depth', levels: 20, conflate_ms: 100 },
    ]
    const readers: RawReader[] = []
    for (let index = 0; index < slow; index += 1) {
      const reader = await RawReader.open(port, `api_key=${locations.key}`, commands)
      readers.push(reader)
      if (index % 3 === 0) reader.read('dead')
      else if (index % 3 === 1) reader.read('trickling')
      else reader.read('pausing', index % 2 === 0 ? 3_000 : 12_000)
    }
    let mostKb = 0
    let lines: string[] = []
    const hasLags = () => lines.some((line) => /^stream_lags_total [1-9]/.test(line))
    const seconds = isLong ? 60 : 12
    // The kernel buffers megabytes before a connection lags, so a slow reader needs more time.
    for (let second = 0; second < seconds || (!hasLags() && second < 120); second += 1) {
      await pause(1_000)
      mostKb = Math.max(mostKb, residentKb(engine.pid))
      const metrics = await (await fetch(`${locations.api}/metrics`)).text()
      lines = metrics.split('\n').filter((line) => /^stream_(lags|closed)_total/.test(line))
    }
    await rig.flow('pause')
    let report = await crowd.ask({ kind: 'check', trades: [] })
    for (let tries = 0; report.books.wrong.length > 0 && tries < 20; tries += 1) {
      await pause(3_000)
      report = await crowd.ask({ kind: 'check', trades: [] })
    }
    const closed = readers.filter(({ isClosed }) => isClosed).length
    logLine(`${slow} bad readers: ${lines.join(', ')}; ${closed} saw their end`)
    logLine(
      `resident ${(beforeKb / 1_024).toFixed(0)} MiB before, ${(mostKb / 1_024).toFixed(0)} MiB at most; ${quick} good readers: ${report.counts.connections} connections, ${report.books.compared} books, ${report.books.wrong.length} wrong, gaps ${JSON.stringify(report.gaps)}`,
    )
    assert.ok(hasLags())
    assert.deepEqual(report.books.wrong, [])
    assert.deepEqual(report.faults, [])
    assert.equal(report.live, quick)
    assert.equal(report.counts.connections, quick, 'no fast reader was disconnected')
    // Each connection may buffer 1 MiB and the data published between two sweeps, far below the hard limit of 16 MiB.
    assert.ok(mostKb - beforeKb < (slow * 4 + 200) * 1_024, `${mostKb - beforeKb} KiB more`)
    for (const reader of readers) reader.destroy()
    await crowd.stop()
    assert.equal(await engine.end('SIGTERM'), 0, 'the engine ran until it was stopped')
  } finally {
    await crowd?.stop()
    await rig.close()
  }
})

/** Resident memory that these connections add to an engine, in kilobytes. */
async function memoryOf(
  rate: number,
  count: number,
  command: (marketIds: readonly string[]) => Readonly<Record<string, unknown>>,
) {
  const rig = new Rig()
  try {
    await rig.startVenues({ messagesPerSecond: rate, marketsPerVenue: 60, faults: 'off' })
    const { engine, locations } = await rig.startEngine()
    const port = Number(new URL(locations.api).port)
    const subscribe = command(await allMarketIds(locations))
    const open = () => RawReader.open(port, `api_key=${locations.key}`, [subscribe])
    // The first connections load code and buffers that all later connections share.
    await closeAll(await Promise.all(Array.from({ length: 50 }, open)))
    await pause(isLong ? 15_000 : 3_000)
    const beforeKb = residentKb(engine.pid)
    const readers: RawReader[] = []
    while (readers.length < count) {
      readers.push(...(await Promise.all(Array.from({ length: 50 }, open))))
    }
    await pause(isLong ? 15_000 : 3_000)
    const perKb = (residentKb(engine.pid) - beforeKb) / readers.length
    const closedCount = readers.filter(({ isClosed }) => isClosed).length
    await closeAll(readers)
    assert.equal(await engine.end('SIGTERM'), 0)
    return { perKb, closedCount, beforeKb, count: readers.length }
  } finally {
    await rig.close()
  }
}

test('limits the memory of each connection, whether the connection is idle or busy', async (t) => {
  const idle = await memoryOf(1, idleCount, (marketIds) => {
    return { action: 'subscribe', id: 1, channel: 'lifecycle', market_ids: marketIds.slice(0, 1) }
  })
  const busy = await memoryOf(200, busyCount, () => {
    const channels = ['orderbook', 'trades', 'prices']
    return { action: 'subscribe', id: 1, channels, market_ids: ['*'] }
  })
  for (const [name, { count, perKb, beforeKb }] of Object.entries({ idle, busy })) {
    const before = (beforeKb / 1_024).toFixed(0)
    t.diagnostic(`${count} ${name} connections: ${perKb.toFixed(1)} KiB each above ${before} MiB`)
  }
  assert.equal(idle.closedCount + busy.closedCount, 0)
  assert.ok(idle.perKb < 64, 'an idle connection')
  assert.ok(busy.perKb < 1_024, 'a busy connection that reads')
})
