// A client misses more trades than one resume command replays. The test writes these trades to the table, because
// 25,000 trades would take the simulator too long.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { systemClock } from '../../engine/clock.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { timeMs } from '../../engine/units.ts'
import { type StreamClient as Client, connect } from '../../http/client/connect.ts'
import { openLmdbStorage } from '../../storage/lmdb/lmdb.ts'
import { StreamClient } from '../support/clients/stream-client.ts'
import { ClientLedger, type TrueTrade } from '../support/reference/client-ledger.ts'
import { Rig, type ServiceLocations, truthOfTrades } from '../support/rigs/full-service.ts'
import { freePorts } from '../support/rigs/processes.ts'
import { trade } from '../support/worlds/stored.ts'

const MISSED = 25_000
const skip =
  process.env.TEST_LONG === '1' ? false : `${MISSED} trades take two minutes: TEST_LONG=1`
const WITHIN_MS = 300_000

/** Polls, because another process does the work. */
async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const startedMs = performance.now()
  while (!(await isTrue())) {
    assert.ok(performance.now() - startedMs < WITHIN_MS, what)
    await pause(50)
  }
}

/** Trades that the client received before the kill. */
interface Received {
  readonly position: { readonly epoch: string; readonly offset: number }
  readonly seqs: ReadonlyMap<string, number>
  readonly newestMs: number
}

/**
 * Writes trades with the next seqs and the time of the newest received trade. A later time would stop the engine from
 * requesting the trades of its downtime.
 */
async function writeUnreceived(dataDir: string, receivedItems: Received): Promise<TrueTrade[]> {
  const { position: from, seqs: lastSeqs, newestMs } = receivedItems
  const parts = { clock: systemClock, log: silentLog, metrics: new Metrics() }
  const storage = await openLmdbStorage({ dataDir, ...parts })
  const run = storage.runs.all().find(({ epoch }) => epoch === from.epoch) ?? assert.fail()
  const markets = [...storage.markets.all()].slice(0, 10)
  const ahead = { offset: from.offset, limit: 10_000 }
  const seqs = new Map(
    markets.map(({ number, summary }) => {
      const id = `venue_${summary.venue}_${summary.nativeId}`.toLowerCase()
      return [number, { id, seq: lastSeqs.get(id) ?? 0 }]
    }),
  )
  // The trades of this range were stored before the kill, but the client did not receive them.
  for (const row of storage.trades.rangeByOffset({ ...ahead, run: run.number })) {
    const location = seqs.get(row.market)
    if (location !== undefined) location.seq = Math.max(location.seq, row.trade.seq ?? 0)
  }
  let offset = Math.max(from.offset, storage.trades.newestOffset(run.number))
  const reported: TrueTrade[] = []
  for (let index = 0; index < MISSED; index += 1) {
    const market = markets[index % markets.length] ?? assert.fail()
    const location = seqs.get(market.number) ?? assert.fail()
    offset += 1
    location.seq += 1
    const [id, atMs] = [`unreceived-${index}`, timeMs(newestMs)]
    const locations = { run: run.number, offset, seq: location.seq }
    const row = trade(id, { timeMs: atMs, receivedAtMs: atMs, ...locations })
    storage.trades.put({ number: market.number, venue: market.summary.venue }, row)
    reported.push({ market: location.id, id, offset: null, seq: null, atMs })
  }
  await storage.close()
  return reported
}

/** Returns the result of each resume command, and the ids of the replayed trades. */
async function partsOf(port: number, key: string, from: Received['position']) {
  const client = await StreamClient.open(port, `api_key=${key}`)
  const parts: { readonly type: unknown; readonly trades: number }[] = []
  const ids: string[] = []
  for (let since = from; parts.at(-1)?.type !== 'resumed'; ) {
    const [id, read] = [parts.length, client.messages.length]
    client.send({ action: 'subscribe', id, channel: 'trades', market_ids: ['*'], since })
    const end = await client.next(
      (message) => message.id === id && String(message.type).startsWith('resume'),
    )
    const came = client.messages.slice(read, client.messages.indexOf(end))
    const trades = came.filter(({ type }) => type === 'trade')
    assert.equal(came.filter(({ type }) => type === 'gap').length, 0)
    ids.push(...trades.map(({ data }) => idOf(data)))
    parts.push({ type: end.type, trades: trades.length })
    since = { epoch: String(end.epoch), offset: Number(end.offset) }
  }
  await client.close()
  return { parts, ids }
}

function idOf(data: unknown): string {
  assert.ok(typeof data === 'object' && data !== null)
  return String(Reflect.get(data, 'native_trade_id') ?? Reflect.get(data, 'id'))
}

/** Trades of the simulator and trades that the test wrote. */
async function expectedTrades(
  locations: ServiceLocations,
  unreceived: readonly TrueTrade[],
): Promise<TrueTrade[]> {
  const venues = [...(await truthOfTrades(locations))].map(([name, atMs]): TrueTrade => {
    const [market = '', id = ''] = name.split(' ')
    return { market, id, offset: null, seq: null, atMs }
  })
  return [...venues, ...unreceived]
}

test('delivers 25,000 missed trades once, in parts of 10,000, while the server is killed several times', {
  skip,
}, async (t) => {
  const rig = new Rig()
  let client: Client | null = null
  try {
    await rig.startVenues({ messagesPerSecond: 60, marketsPerVenue: 20, faults: 'off' })
    const port = await freePorts(1)
    const start = () => rig.startEngine({ PORT: String(port) })
    let { engine, locations } = await start()
    const ledger = new ClientLedger('user')
    const seqs = new Map<string, number>()
    let newestMs = 0
    let onTrade: () => void = () => undefined
    const user = connect({
      ...{ url: `http://127.0.0.1:${port}`, apiKey: locations.key, WebSocket },
      onEvent: (event) => {
        ledger.take(event)
        if (event.type !== 'trade') return
        seqs.set(event.market_id.toLowerCase(), event.seq)
        newestMs = Math.max(newestMs, event.timestamp_ms ?? 0)
        onTrade()
      },
    })
    client = user
    await user.subscribe({ channel: 'trades', all: true }).ready
    const begunMs = () => ledger.starts.get('trades')?.atMs ?? Number.POSITIVE_INFINITY
    await until(() => newestMs > begunMs(), 'trades arrive')
    assert.equal(await engine.end('SIGKILL'), null)
    await until(() => user.state !== 'live', 'the client detects the disconnect')
    const from = user.position('trades') ?? assert.fail()
    const unreceived = await writeUnreceived(rig.dataDir, { position: from, seqs, newestMs })
    const before = ledger.counts.trades
    const killed = new Promise<void>((resolve) => {
      onTrade = () => {
        if (ledger.counts.trades - before >= 12_000) resolve()
      }
    })
    ;({ engine, locations } = await start())
    await killed
    assert.equal(await engine.end('SIGKILL'), null)
    t.diagnostic(`killed after ${ledger.counts.trades - before} of ${MISSED}`)
    ;({ engine, locations } = await start())
    const found = { missing: ['all'], announced: 0, due: 0, handed: 0, extra: [] as string[] }
    await rig.flow('pause')
    const startedMs = performance.now()
    await until(async () => {
      Object.assign(
        found,
        ledger.compare(await expectedTrades(locations, unreceived), () => true),
      )
      return found.missing.length === 0 && user.state === 'live'
    }, 'no trade is missing')
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0)
    t.diagnostic(
      `${found.handed} of ${found.due} handed ${seconds} s after the last start, over ${ledger.counts.resumes} resumes`,
    )
    assert.deepEqual(ledger.faults, [], 'no trade was delivered twice')
    assert.deepEqual([found.announced, found.extra, [...ledger.gaps]], [0, [], []])
    assert.ok(found.due >= MISSED)
    const { parts, ids } = await partsOf(port, locations.key, from)
    t.diagnostic(`single commands: ${JSON.stringify(parts)}`)
    assert.deepEqual(
      parts.slice(0, -1),
      [1, 2].map(() => ({ type: 'resume_limited', trades: 10_000 })),
    )
    const wanted = unreceived.map(({ id }) => id)
    const reported = ids.filter((id) => id.startsWith('unreceived-'))
    assert.deepEqual(reported, wanted, 'each trade once, in the order of publication')
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    client?.close()
    await rig.close()
  }
})
