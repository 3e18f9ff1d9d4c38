import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { MarketActor } from '../../../actors/market/market.ts'
import { systemClock } from '../../../engine/clock.ts'
import { outcomeId } from '../../../engine/ids.ts'
import { marketIdleMsMax } from '../../../engine/limits.ts'
import { type Bar, CANDLE_MS, vwapOf } from '../../../engine/market/candle.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { partId } from '../../../engine/trade-parts.ts'
import {
  DAY_MS,
  priceMicros,
  sizeMicros,
  TIME_ZERO,
  type TimeMs,
  timeMs,
} from '../../../engine/units.ts'
import { tradedCandles } from '../../../http/pages/candles.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { naiveCandles } from '../../support/reference/naive/candles.ts'
import { openData } from '../../support/rigs/data-folder.ts'
import { NOON, recordingPublisher, storedMarket, trade } from '../../support/worlds/builders.ts'

const SEEDS = process.env.TEST_LONG === '1' ? 25 : 4

function openActor(storage: Storage): MarketActor {
  const { publisher } = recordingPublisher()
  return storedMarket({ publisher, storage }).open()
}

function someTrade(random: Random, id: number) {
  const hour = random.below(72) * 3_600_000
  const minute = random.below(4) * 60_000
  const venueTimeMs = timeMs(NOON - 3 * DAY_MS + hour + minute + random.below(3) * 29_999)
  return trade('m', `t${id}`, {
    outcome: outcomeId(random.pick(['m-yes', 'm-no'])),
    price: priceMicros(random.below(1_000_001)),
    size: sizeMicros(1 + random.below(2_000_000)),
    side: random.pick(['buy', 'sell']),
    source: random.pick(['stream', 'backfill', 'history']),
    venueTimeMs,
  })
}

const shown = (bar: Bar) => {
  const { startMs, open, high, low, close, usd, count } = bar
  return { startMs, open, high, low, close, usd, count, vwap: vwapOf(bar) }
}

async function assertCandles(actor: MarketActor, storage: Storage, what: string): Promise<void> {
  const all = { fromMs: TIME_ZERO, toMs: timeMs(NOON + DAY_MS), after: null } as const
  const market = actor.ref.number
  const stored = storage.trades.range({ ...all, market, order: 'asc', limit: 100_000 })
  for (const [interval, lengthMs] of Object.entries(CANDLE_MS)) {
    const range = { lengthMs, fromMs: 0, lastMs: all.toMs, limit: 10_000 }
    const page = await tradedCandles(actor, range, systemClock)
    assert.equal(page.olderMs, null)
    assert.deepEqual(page.candles.map(shown), naiveCandles(stored, lengthMs), `${what} ${interval}`)
  }
}

test('builds the same bars as a recomputation from all trades at six intervals, for any order of arrival', async () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = seededRandom('candles', seed)
    const storage = openMemoryStorage()
    let actor = openActor(storage)
    const count = 1 + random.below(400)
    for (let id = 0; id < count; id += 1) {
      actor.receive(someTrade(random, random.below(8) === 0 ? random.below(id + 1) : id))
      const what = random.below(60)
      if (what === 0) actor.tick(timeMs(NOON + (id + 1) * marketIdleMsMax))
      else if (what === 1) actor.restart()
      else if (what === 2) actor = openActor(storage)
    }
    await assertCandles(actor, storage, `seed ${seed}`)
  }
})

test('increments the version of the trades when a maker becomes known, and not when the same maker arrives a second time', () => {
  const storage = openMemoryStorage()
  const actor = openActor(storage)
  actor.receive(trade('m', 't1'))
  const versions = [actor.tradesVersion]
  for (let times = 0; times < 2; times += 1) {
    actor.receive({
      ...{ kind: 'tradeParticipant', venue: 'a', outcome: outcomeId('m-yes'), txHash: '0xt1' },
      ...{ wallet: '0xmaker', venueTimeMs: NOON, receivedAtMs: NOON },
    })
    versions.push(actor.tradesVersion)
  }
  assert.equal(storage.trades.get(actor.ref.number, 't1')?.maker, '0xmaker')
  const [before = 0, known = 0, repeated] = versions
  assert.ok(known > before)
  assert.equal(repeated, known)
})

test('writes bars in the same tick as the trade, and restores the bars after a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'twinbook-bars-'))
  const open = () => openData(dataDir)
  const random = seededRandom('restart', 1)
  let id = 0
  try {
    for (let run = 0; run < 3; run += 1) {
      const storage = await open()
      const actor = openActor(storage)
      await assertCandles(actor, storage, `start ${run}`)
      for (let count = 0; count < 150; count += 1) {
        id += 1
        actor.receive(someTrade(random, id))
      }
      await assertCandles(actor, storage, `before the commit of run ${run}`)
      await storage.close()
    }
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})

test('adds the taker to a stored trade when a row with the taker arrives', () => {
  const actor = openActor(openMemoryStorage())
  const shown = () =>
    actor
      .trades({ fromMs: TIME_ZERO, toMs: NOON, after: null, order: 'desc', limit: 5 })
      .map(({ taker }) => taker)
  actor.receive(trade('m', partId('0x1', 0), { txHash: '0x1', taker: null }))
  assert.deepEqual(shown(), [null])
  actor.receive(trade('m', '0x1-row', { txHash: '0x1', taker: '0xtaker' }))
  assert.deepEqual(shown(), ['0xtaker'])
})

test('counts a trade once in its hourly bar when the venue’s history returns the trade after retention deleted it', async () => {
  const storage = openMemoryStorage()
  let nowMs: TimeMs = NOON
  const { publisher } = recordingPublisher()
  const made = storedMarket({ publisher, storage, nowMs: () => nowMs, retentionDays: 5 })
  const actor = made.open()
  const edgeMs = NOON - 5 * DAY_MS
  const history = (id: string, atMs: number) =>
    trade('m', id, { source: 'history', venueTimeMs: timeMs(atMs) })
  const rows = [history('old', edgeMs - 1), history('kept', edgeMs)]
  nowMs = timeMs(NOON - DAY_MS)
  for (const row of rows) actor.receive(row)
  nowMs = timeMs(NOON + 59 * 60_000)
  const limits = { retentionDays: 5, sizeBytesMax: Number.MAX_SAFE_INTEGER, rowsMax: 100 }
  storage.prune({ nowMs, ...limits })
  assert.equal(storage.trades.count(), 1)
  for (const row of rows) actor.receive(row)
  assert.deepEqual(made.ignored, ['trade_before_retention', 'trade_duplicate'])
  const range = { size: 'hour', fromMs: TIME_ZERO, toMs: nowMs, order: 'asc', limit: 9 } as const
  assert.deepEqual(
    actor.bars(range).map(({ count }) => count),
    [1, 1],
  )
  actor.receive(trade('m', 'live', { source: 'backfill', venueTimeMs: timeMs(edgeMs - 1) }))
  assert.equal(made.ignored.length, 2, 'only trades of the history are refused for their age')
})
