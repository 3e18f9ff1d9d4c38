// The whole service at a set rate with every fault. Then the world is paused, and each book (over REST and rebuilt by a
// subscriber) and each trade is compared with the simulator. Ten seconds; with TEST_LONG=1 five minutes at 5,000
// messages a second.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { StreamFollower } from '../support/clients/stream-follower.ts'
import { Rig, settle } from '../support/rigs/full-service.ts'

const isLong = process.env.TEST_LONG === '1'
const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const seconds = number('SOAK_SECONDS', isLong ? 300 : 10)

test('keeps books equal to the simulator’s and delivers each trade exactly once with every fault enabled', async (t) => {
  const logLine = (line: string) => t.diagnostic(line)
  const rig = new Rig()
  try {
    await rig.startVenues({
      messagesPerSecond: number('SOAK_RATE', isLong ? 5_000 : 400),
      marketsPerVenue: number('SOAK_MARKETS', isLong ? 400 : 60),
      faults: process.env.SOAK_FAULTS ?? 'on',
    })
    const { engine, locations } = await rig.startEngine()
    const follower = new StreamFollower(
      `${locations.api.replace('http', 'ws')}/v1/ws?api_key=${locations.key}`,
    )
    await follower.follow('orderbook')
    await follower.follow('trades')
    const sinceMs = Date.now()
    logLine(`following ${follower.books.size} books for ${seconds} s`)
    await pause(seconds * 1_000)
    await rig.flow('pause')
    const secondsMax = number('SOAK_SETTLE_SECONDS', 150)
    const report = await settle(locations, follower, { sinceMs, secondsMax, say: logLine })
    const { booksCompared, booksWrong, rebuiltWrong, truthTrades } = report
    const { tradesMissing, tradesUnstreamed, tradesExtra, tradesDoubled } = report
    logLine(
      `${booksCompared} books compared: ${booksWrong.length} wrong over REST, ${rebuiltWrong.length} as rebuilt; right ${report.settledAfterSeconds} s after the pause`,
    )
    logLine(
      `${truthTrades} true trades: ${tradesMissing.length} missing over REST, ${tradesUnstreamed.length} not streamed, ${tradesExtra.length} extra, ${tradesDoubled.length} doubled`,
    )
    logLine(`stream: ${JSON.stringify(follower.counts)}, ${follower.faults.length} faults`)
    assert.deepEqual(follower.faults.slice(0, 5), [])
    for (const wrong of [
      booksWrong,
      rebuiltWrong,
      tradesMissing,
      tradesUnstreamed,
      tradesExtra,
      tradesDoubled,
    ]) {
      assert.deepEqual(wrong.slice(0, 5), [])
    }
    assert.ok(truthTrades > 0 && booksCompared > 0)
    follower.close()
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    await rig.close()
  }
})

test('gets correct books and every trade from Kalshi’s public REST API without a key', async (t) => {
  const logLine = (line: string) => t.diagnostic(line)
  const rig = new Rig()
  try {
    await rig.startVenues({ messagesPerSecond: 200, marketsPerVenue: 60, faults: 'off' })
    const keyless = { KALSHI_KEY_ID: '', KALSHI_PRIVATE_KEY_FILE: '' }
    const { engine, locations } = await rig.startEngine(keyless)
    const sinceMs = Date.now()
    await pause(6_000)
    await rig.flow('pause')
    const report = await settle(locations, null, { sinceMs, secondsMax: 180, say: logLine })
    logLine(
      `${report.booksCompared} books, ${report.booksWrong.length} wrong; ${report.truthTrades} true trades, ${report.tradesMissing.length} missing`,
    )
    for (const wrong of [
      report.booksWrong,
      report.tradesMissing,
      report.tradesExtra,
      report.tradesDoubled,
    ]) {
      assert.deepEqual(wrong.slice(0, 5), [])
    }
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    await rig.close()
  }
})
