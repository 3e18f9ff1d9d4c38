// Stops and kills of the engine while the venues go on: what was served is still there, what was
// missed is fetched, and nothing is doubled.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Rig, read, settle } from '../support/rig.ts'

const isLong = process.env.TEST_LONG === '1'
const rounds = isLong ? 20 : 2

test('[RESTART1] over stops and kills no trade is lost or doubled, books return, and numbers stay', async (t) => {
  const say = (line: string) => t.diagnostic(line)
  const rig = new Rig()
  try {
    await rig.startVenues({ messagesPerSecond: 300, marketsPerVenue: 40, faults: 'off' })
    let { engine, places } = await rig.startEngine()
    const sinceMs = Date.now()
    const epochs = new Set<string>()
    for (let round = 0; round < rounds; round += 1) {
      await pause(2_000)
      const signal = round % 2 === 0 ? 'SIGKILL' : 'SIGTERM'
      const exitCode = await engine.end(signal)
      assert.equal(exitCode, signal === 'SIGTERM' ? 0 : null)
      await pause(2_000)
      const before = places.key
      ;({ engine, places } = await rig.startEngine())
      assert.equal(places.key, before, 'the local key stays')
      const markets = await read<{ markets: { id: string }[] }>(
        `${places.api}/v1/markets?limit=1`,
        places.key,
      )
      const id = encodeURIComponent(markets.markets[0]?.id ?? '')
      const book = await read<{ epoch: string }>(
        `${places.api}/v1/markets/${id}/orderbook`,
        places.key,
      )
      assert.equal(epochs.has(book.epoch), false, 'every run has an epoch of its own')
      epochs.add(book.epoch)
    }
    await rig.flow('pause')
    const report = await settle(places, null, { sinceMs, secondsMax: 60, say })
    say(
      `${report.truthTrades} true trades, ${report.tradesMissing.length} missing, ${report.tradesDoubled.length} doubled; ${report.booksCompared} books, ${report.booksWrong.length} wrong`,
    )
    assert.deepEqual(report.tradesMissing.slice(0, 5), [])
    assert.deepEqual(report.tradesExtra.slice(0, 5), [])
    assert.deepEqual(report.tradesDoubled.slice(0, 5), [])
    assert.deepEqual(report.booksWrong.slice(0, 5), [])
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    await rig.close()
  }
})

test('[RESTART2] a second engine on the same folder refuses to start and says why', async () => {
  const rig = new Rig()
  try {
    await rig.startVenues({ messagesPerSecond: 10, marketsPerVenue: 20, faults: 'off' })
    const { engine } = await rig.startEngine()
    await assert.rejects(rig.startEngine(), /ended with 1[\s\S]*lock/i)
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    await rig.close()
  }
})

test('[RESTART3] venues that are cut off for a while come back by themselves, nothing lost', async (t) => {
  const say = (line: string) => t.diagnostic(line)
  const rig = new Rig()
  try {
    const venues = await rig.startVenues({
      messagesPerSecond: 300,
      marketsPerVenue: 40,
      faults: 'off',
    })
    const { engine, places } = await rig.startEngine()
    const sinceMs = Date.now()
    await pause(1_000)
    // A stopped process answers nothing while its sockets stay open: the hardest way to be gone.
    process.kill(venues.pid, 'SIGSTOP')
    await pause(isLong ? 60_000 : 8_000)
    process.kill(venues.pid, 'SIGCONT')
    await pause(3_000)
    await rig.flow('pause')
    const report = await settle(places, null, { sinceMs, secondsMax: 120, say })
    say(
      `${report.truthTrades} true trades, ${report.tradesMissing.length} missing, ${report.booksWrong.length} books wrong, right ${report.settledAfterSeconds} s after`,
    )
    assert.deepEqual(report.tradesMissing.slice(0, 5), [])
    assert.deepEqual(report.tradesDoubled.slice(0, 5), [])
    assert.deepEqual(report.booksWrong.slice(0, 5), [])
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    await rig.close()
  }
})
