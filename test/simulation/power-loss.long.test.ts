// After a power loss the databases contain all flushed data and a random part of the remaining data. Runs only with
// TEST_LONG=1, a C compiler and a user other than root (power-loss.ts).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { type Random, seededRandom } from '../../engine/random.ts'
import { MixedLoad } from '../support/clients/mixed-load.ts'
import { OutboxChecker, TRIAL_ENV } from '../support/clients/outbox-checker.ts'
import { type DiskImage, readDiskImage } from '../support/fakes/disk-image.ts'
import { EventReceiver, type ReceiverBehaviour } from '../support/fakes/event-receivers.ts'
import { noShimReason, PowerSupply } from '../support/fakes/power-loss.ts'
import {
  checkCandles,
  checkPeople,
  checkTrades,
  damagedRecords,
} from '../support/reference/storage-checks.ts'
import { allMarketIds, Rig, type ServiceLocations } from '../support/rigs/full-service.ts'
import type { TestProcess } from '../support/rigs/processes.ts'

const isLong = process.env.TEST_LONG === '1'
const rounds = Number(process.env.POWER_ROUNDS ?? 30)
const seed = process.env.SEED ?? 'power loss'
const FLUSH_MS = 200
const LOST_MS_MAX = 1_000
const LOST_MS_SHARE = 0.75
const skip = isLong ? (noShimReason() ?? false) : 'power losses take minutes: TEST_LONG=1'
const MANNERS: readonly ReceiverBehaviour[] = [
  ...Array.from({ length: 7 }, () => 'accept' as const),
  'refuse',
  'hang',
  'reset',
]

test('loses no acknowledged change and at most a second of market data when the power fails', {
  skip,
}, async (t) => {
  const rig = await PowerLossRig.open(300)
  const receiver = await EventReceiver.open('accept', [])
  try {
    const load = new MixedLoad(rig.random, receiver.url)
    const problems: string[] = []
    for (let round = 0; round < rounds; round += 1) {
      const loaded = load.run(rig.locations)
      if (round === 0) await load.hasAcknowledged(10)
      else await pause(200 + 2_800 * rig.random.next())
      const { problems: torn } = await rig.lose()
      await loaded
      await rig.restart()
      problems.push(...torn)
      problems.push(...(await checkPeople(rig.locations, load, receiver)))
      const markets = await allMarketIds(rig.locations)
      problems.push(...(await checkCandles(rig.locations, rig.random.pick(markets))))
      assert.equal(await damagedRecords(rig.locations), 0)
      assert.deepEqual([...problems, ...load.problems].slice(0, 5), [], `round ${round}`)
    }
    let missing = await checkTrades(rig.locations, load)
    // The engine fetches the trades of its downtime with a poll once a minute.
    for (let tries = 0; missing.length > 0 && tries < 60; tries += 1) {
      await pause(2_000)
      missing = await checkTrades(rig.locations, load)
    }
    t.diagnostic(rig.summary)
    t.diagnostic(
      `${load.people.length} accounts, ${load.acknowledged} changes acknowledged, ${load.unanswered} without a response; ${load.trades.size} trades served, ${missing.length} missing`,
    )
    assert.deepEqual(missing.slice(0, 5), [])
    // On a busy machine commits are late too, so only most losses must be short.
    const short = rig.lostMs.filter((ms) => ms <= LOST_MS_MAX).length
    assert.ok(short >= rounds * LOST_MS_SHARE, rig.summary)
  } finally {
    await receiver.close()
    await rig.close()
  }
})

test('loses no webhook event when the power fails, stores each event before sending, and counts deliveries correctly', {
  skip,
}, async (t) => {
  const rig = await PowerLossRig.open(600)
  const unkept: string[] = []
  let witness: OutboxChecker | null = null
  try {
    witness = await OutboxChecker.open(rig.locations, MANNERS)
    for (let round = 0; round < rounds; round += 1) {
      const before = witness.sent()
      await pause(200 + 2_800 * rig.random.next())
      const { deliveries, problems } = await rig.lose()
      unkept.push(...[...witness.sent()].filter((one) => !before.has(one) && !deliveries.has(one)))
      await rig.restart()
      await witness.counts(rig.locations)
      assert.deepEqual(problems.slice(0, 5), [], `round ${round}`)
    }
    await rig.pauseWorld()
    await witness.drained(rig.locations, 180, true)
    const result = await witness.check(rig.locations)
    const { due, unstored, lost, uncounted, faults, delivered, duplicates } = result
    t.diagnostic(rig.summary)
    t.diagnostic(
      `${due} trades due, ${delivered} delivered, ${duplicates} again, ${lost.length} lost, ${unstored.length} not stored; ${unkept.length} sent but not stored`,
    )
    assert.deepEqual(unstored.slice(0, 5), [])
    assert.deepEqual(lost.slice(0, 5), [])
    assert.deepEqual(uncounted.slice(0, 5), [])
    assert.deepEqual(faults.slice(0, 5), [])
    assert.deepEqual(unkept.slice(0, 5), [])
    assert.ok(due > 0)
  } finally {
    await witness?.close()
    await rig.close()
  }
})

interface TradeMessage {
  readonly type: string
  readonly received_ms: number
  readonly data: { readonly native_trade_id: string }
}

interface Running {
  readonly engine: TestProcess
  readonly locations: ServiceLocations
}

class PowerLossRig {
  readonly random: Random = seededRandom(seed)
  readonly #rig: Rig
  readonly #supply: PowerSupply
  #running: Running
  /** Age in ms of the oldest served trade that each power loss removed. */
  readonly lostMs: number[] = []
  #lostTrades = 0
  /** Receive time of each streamed trade, by native id. */
  readonly #served = new Map<string, number>()
  #sectors = 0
  #survived = 0

  private constructor(rig: Rig, supply: PowerSupply, running: Running) {
    this.#rig = rig
    this.#supply = supply
    this.#running = running
  }

  static async open(messagesPerSecond: number): Promise<PowerLossRig> {
    const rig = new Rig()
    try {
      await rig.startVenues({ messagesPerSecond, marketsPerVenue: 40, faults: 'off' })
      const supply = new PowerSupply(rig.dataDir, FLUSH_MS)
      const running = await rig.startEngine({ ...TRIAL_ENV, ...supply.begin() })
      const dark = new PowerLossRig(rig, supply, running)
      dark.listen()
      return dark
    } catch (error) {
      await rig.close()
      throw error
    }
  }

  get locations(): ServiceLocations {
    return this.#running.locations
  }

  get summary(): string {
    const sorted = this.lostMs.toSorted((one, other) => one - other)
    const [middle, most] = [sorted[sorted.length >> 1], sorted.at(-1)]
    return `${this.lostMs.length} losses; ${this.#sectors} sectors unflushed, ${this.#survived} of them written; ${this.#lostTrades} streamed trades lost; age of the oldest per loss: median ${middle} ms, maximum ${most} ms`
  }

  listen(): void {
    const { api, key } = this.locations
    const socket = new WebSocket(`${api.replace('http', 'ws')}/v1/ws?api_key=${key}`)
    const wish = { action: 'subscribe', id: 1, channel: 'trades', market_ids: ['*'] }
    socket.on('open', () => socket.send(JSON.stringify(wish)))
    socket.on('error', () => undefined)
    socket.on('message', (bytes) => {
      const message: TradeMessage = JSON.parse(String(bytes))
      if (message.type !== 'trade') return
      this.#served.set(message.data.native_trade_id, message.received_ms)
    })
  }

  async lose(): Promise<DiskImage> {
    assert.equal(await this.#running.engine.end('SIGKILL'), null)
    const lostAtMs = Date.now()
    const { unflushedSectors, writtenSectors } = this.#supply.lose(this.random)
    this.#sectors += unflushedSectors
    this.#survived += writtenSectors
    const platter = await readDiskImage(this.#rig.dataDir)
    let oldestMs = lostAtMs
    for (const [id, receivedAtMs] of this.#served) {
      if (platter.trades.has(id)) continue
      this.#lostTrades += 1
      oldestMs = Math.min(oldestMs, receivedAtMs)
    }
    this.lostMs.push(lostAtMs - oldestMs)
    this.#served.clear()
    return platter
  }

  async restart(): Promise<void> {
    this.#running = await this.#rig.startEngine({ ...TRIAL_ENV, ...this.#supply.begin() })
    this.listen()
  }

  pauseWorld(): Promise<void> {
    return this.#rig.flow('pause')
  }

  async close(): Promise<void> {
    await this.#rig.close()
    this.#supply.close()
  }
}
