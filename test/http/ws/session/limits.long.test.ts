// The limits of the stream on the real engine: how many connections a plan may have, how soon a
// revoked key's are closed, what readers that do not read cost the others, and what a connection
// costs. Short under `npm test`, the counts of the issue under TEST_LONG=1.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { SignJWT } from 'jose'
import {
  hashKey,
  KEY_SCOPES,
  keyPrefix,
  makeKey,
  TIERS,
} from '../../../../engine/accounts/account.ts'
import { accountId, keyId } from '../../../../engine/ids.ts'
import { timeMs } from '../../../../engine/units.ts'
import type { Storage } from '../../../../storage/contract/storage.ts'
import { RawReader } from '../../../support/clients/raw-reader.ts'
import { SimulatedUsers } from '../../../support/clients/simulated-users.ts'
import { allMarketIds, Rig } from '../../../support/rigs/full-service.ts'
import { jwtSecret, startWatchedEngine } from '../../../support/rigs/watched-engine.ts'

const isLong = process.env.TEST_LONG === '1'
const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const handshakeRounds = number('LIMITS_ROUNDS', isLong ? 100 : 20)
const revokedSockets = number('LIMITS_REVOKED', isLong ? 100 : 40)
const revokedRounds = number('LIMITS_REVOKED_ROUNDS', isLong ? 10 : 2)
const idleCount = number('LIMITS_IDLE', isLong ? 2_000 : 300)
const busyCount = number('LIMITS_BUSY', isLong ? 200 : 50)
const HANDSHAKES = 50
/** Times, 20 ms apart, that a place which is about to come back is waited for. */
const PLACE_TRIES = 1_500

/** Accounts without passwords, one a name, with a key each; the tier is what a test needs. */
async function addAccounts(storage: Storage, tier: 'free' | 'pro' | 'enterprise', names: string[]) {
  const keys: string[] = []
  for (const name of names) {
    const [id, key] = [accountId(`acc_${name}`), makeKey()]
    const [createdAtMs, lastUsedAtMs] = [timeMs(Date.now()), null]
    const rest = {
      passwordHash: null,
      requestsPerMinute: null,
      socketsMax: null,
      isDisabled: false,
      tokenGeneration: 0,
    }
    await storage.accounts.putAccount({ id, email: `${name}@x.org`, tier, createdAtMs, ...rest })
    const scopes = KEY_SCOPES
    const shown = { prefix: keyPrefix(key), label: name, scopes, createdAtMs, lastUsedAtMs }
    await storage.accounts.putKey({
      ...{ id: keyId(`key_${name}`), accountId: id, hash: hashKey(key) },
      ...shown,
    })
    keys.push(key)
  }
  return keys
}

/** A login token of an account without a password. */
function tokenOf(name: string): Promise<string> {
  return new SignJWT()
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
    .setIssuer('twinbook')
    .setAudience('twinbook-api')
    .setSubject(`acc_${name}`)
    .setJti(name)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(jwtSecret))
}

/** All connected first, then all handshakes in one turn. */
async function handshakes(port: number, queries: readonly string[]): Promise<RawReader[]> {
  const readers = await Promise.all(queries.map(() => RawReader.connect(port)))
  for (const [index, reader] of readers.entries()) reader.ask(queries[index] ?? '')
  await Promise.all(readers.map((reader) => reader.answered()))
  return readers
}

async function closeAll(readers: readonly RawReader[]): Promise<void> {
  for (const reader of readers) reader.destroy()
  await Promise.all(readers.map(({ closed }) => closed))
}

const admitted = (readers: readonly RawReader[], status: number) =>
  readers.filter((reader) => reader.status === status).length

test('admits exactly as many of 50 simultaneous upgrades as the plan allows, and leaks no slot', async (t) => {
  const rig = new Rig()
  await rig.startVenues({ messagesPerSecond: 50, marketsPerVenue: 20, faults: 'off' })
  const names = Array.from({ length: handshakeRounds }, (_, index) => `round${index}`)
  const keys = { free: [] as string[], pro: [] as string[] }
  const watched = await startWatchedEngine(rig, async (storage) => {
    for (const tier of ['free', 'pro'] as const) {
      keys[tier] = await addAccounts(
        storage,
        tier,
        names.map((name) => `${tier}_${name}`),
      )
    }
  })
  const { port } = watched.engine
  const wrong: string[] = []
  try {
    for (const tier of ['free', 'pro'] as const) {
      const { socketsMax } = TIERS[tier]
      for (const [round, key] of keys[tier].entries()) {
        const token = await tokenOf(`${tier}_${names[round]}`)
        // By key and by token: by turns, and mixed.
        const query = (index: number) =>
          (round + (round % 3 === 0 ? index : 0)) % 2 === 0
            ? `api_key=${key}`
            : `access_token=${token}`
        const readers = await handshakes(
          port,
          Array.from({ length: HANDSHAKES }, (_, i) => query(i)),
        )
        const [let_in, refused] = [admitted(readers, 101), admitted(readers, 429)]
        if (let_in !== socketsMax || refused !== HANDSHAKES - socketsMax) {
          const closed = readers.filter(({ isClosed, status }) => isClosed && status === 101)
          wrong.push(
            `${tier} round ${round}: ${let_in} let in, ${refused} refused; of those let in closed meanwhile: ` +
              `${closed.length} (${closed.map(({ closeCode }) => closeCode).join(', ')})`,
          )
        }
        await closeAll(readers)
        // Places come back when the server has seen the ends, at once or a turn later; peers that
        // leave in the middle of a handshake keep none.
        if (tier === 'free') continue
        const aborted = await Promise.all(Array.from({ length: 20 }, () => RawReader.connect(port)))
        for (const [index, reader] of aborted.entries()) {
          reader.ask(query(index))
          if (index % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
          reader.destroy()
        }
        const again = await untilFree(port, key, socketsMax)
        if (again !== socketsMax) wrong.push(`${tier} round ${round}: ${again} places came back`)
      }
    }
    t.diagnostic(
      `${handshakeRounds} rounds each of ${HANDSHAKES} simultaneous upgrades at limits 2 and 20: ${wrong.length} wrong`,
    )
    assert.deepEqual(wrong.slice(0, 5), [])
  } finally {
    await watched.engine.stop()
    await rig.close()
  }
})

/** Opens one by one until the limit, waiting for places that are about to come back. */
async function untilFree(port: number, key: string, count: number): Promise<number> {
  const open: RawReader[] = []
  for (let tries = 0; open.length < count && tries < count + PLACE_TRIES; tries += 1) {
    const [reader] = await handshakes(port, [`api_key=${key}`])
    if (reader?.status === 101) open.push(reader)
    else await pause(20)
  }
  const [beyond] = await handshakes(port, [`api_key=${key}`])
  const found = beyond?.status === 429 ? open.length : open.length + 1
  await closeAll(beyond === undefined ? open : [...open, beyond])
  return found
}

test('closes all connections of a revoked key, and no others, with 4010 within a second under load', async (t) => {
  const rig = new Rig()
  await rig.startVenues({
    messagesPerSecond: isLong ? 2_000 : 300,
    marketsPerVenue: 40,
    faults: 'off',
  })
  const names = Array.from({ length: revokedRounds }, (_, index) => `revoked${index}`)
  let keys: string[] = []
  const watched = await startWatchedEngine(rig, async (storage) => {
    keys = await addAccounts(storage, 'enterprise', names)
  })
  const { port } = watched.engine
  const command = {
    action: 'subscribe',
    id: 1,
    channels: ['orderbook', 'trades'],
    market_ids: ['*'],
  }
  const tookMs: number[] = []
  // The clients share the engine's loop: what a busy machine takes from it is not the engine's time.
  const loop = monitorEventLoopDelay({ resolution: 5 })
  loop.enable()
  try {
    for (const [round, key] of keys.entries()) {
      const name = names[round] ?? ''
      const other = await watched.engine.accounts.createKey(accountId(`acc_${name}`), 'other')
      const open = (apiKey: string) => RawReader.open(port, `api_key=${apiKey}`, [command])
      const revoked = await Promise.all(Array.from({ length: revokedSockets }, () => open(key)))
      const stored = await Promise.all(Array.from({ length: 5 }, () => open(other.key)))
      await pause(500)
      const startMs = performance.now()
      const answer = await fetch(`http://127.0.0.1:${port}/v1/keys/key_${name}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${await tokenOf(name)}` },
      })
      assert.equal(answer.status, 204)
      await Promise.all(revoked.map(({ closed }) => closed))
      tookMs.push(performance.now() - startMs)
      assert.ok(
        revoked.every(({ closeCode }) => closeCode === 4010),
        'told why',
      )
      assert.ok(
        stored.every(({ isClosed }) => !isClosed),
        'the other key’s stay',
      )
      const refused = await handshakes(port, [`api_key=${key}`])
      assert.equal(refused[0]?.status, 401)
      await closeAll(stored)
    }
    const shown = tookMs.map((ms) => ms.toFixed(0)).join(', ')
    t.diagnostic(`${revokedSockets} connections of a revoked key were closed after ${shown} ms`)
    loop.disable()
    if (isLong) assert.ok(Math.max(...tookMs) < 1_000 + 2 * (loop.max / 1e6), shown)
  } finally {
    await watched.engine.stop()
    await rig.close()
  }
})

/** Kilobytes of a process that are in memory. */
function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

test('limits memory when readers stop, slow down or disappear, and sends complete data to all other readers', async (t) => {
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
    // The kernel takes megabytes of each before a connection lags: longer where little is sent a second.
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
    assert.equal(report.counts.connections, quick, 'no good reader was cut')
    // Each may hold 1 MiB and what comes in one sweep; never the hard limit of 16 MiB for all.
    assert.ok(mostKb - beforeKb < (slow * 4 + 200) * 1_024, `${mostKb - beforeKb} KiB more`)
    for (const reader of readers) reader.destroy()
    await crowd.stop()
    assert.equal(await engine.end('SIGTERM'), 0, 'it lived')
  } finally {
    await crowd?.stop()
    await rig.close()
  }
})

/** What so many connections add to an engine's resident memory; the venues' rate is the load. */
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
    const published = command(await allMarketIds(locations))
    const open = () => RawReader.open(port, `api_key=${locations.key}`, [published])
    // The first ones bring code and buffers that are there once.
    await closeAll(await Promise.all(Array.from({ length: 50 }, open)))
    await pause(isLong ? 15_000 : 3_000)
    const beforeKb = residentKb(engine.pid)
    const readers: RawReader[] = []
    while (readers.length < count) {
      readers.push(...(await Promise.all(Array.from({ length: 50 }, open))))
    }
    await pause(isLong ? 15_000 : 3_000)
    const perKb = (residentKb(engine.pid) - beforeKb) / readers.length
    const removed = readers.filter(({ isClosed }) => isClosed).length
    await closeAll(readers)
    assert.equal(await engine.end('SIGTERM'), 0)
    return { perKb, removed, beforeKb, count: readers.length }
  } finally {
    await rig.close()
  }
}

test('limits the memory of each connection, idle or busy', async (t) => {
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
  assert.equal(idle.removed + busy.removed, 0)
  assert.ok(idle.perKb < 64, 'an idle connection')
  assert.ok(busy.perKb < 1_024, 'a busy connection that reads')
})
