// The soak, short under `npm test`, five minutes at 5,000 messages a second under TEST_LONG=1.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { soak } from './soak.ts'

const isLong = process.env.TEST_LONG === '1'
const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)

test('[SOAK1] with every fault on, books equal the world’s and trades are there exactly once', async (t) => {
  const report = await soak({
    seconds: number('SOAK_SECONDS', isLong ? 300 : 20),
    messagesPerSecond: number('SOAK_RATE', isLong ? 5_000 : 400),
    marketsPerVenue: number('SOAK_MARKETS', isLong ? 400 : 60),
    faults: process.env.SOAK_FAULTS ?? 'on',
    settleSecondsMax: number('SOAK_SETTLE_SECONDS', 150),
    say: (line) => t.diagnostic(line),
  })
  t.diagnostic(
    `${report.booksCompared} books compared, ${report.booksWrong.length} wrong over REST, ${report.rebuiltWrong.length} wrong as rebuilt, right ${report.settledAfterSeconds} s after the pause`,
  )
  t.diagnostic(
    `${report.truthTrades} true trades, ${report.tradesMissing.length} missing over REST, ${report.tradesUnstreamed.length} not streamed, ${report.tradesExtra.length} extra, ${report.tradesDoubled.length} doubled`,
  )
  t.diagnostic(`stream: ${JSON.stringify(report.stream)}, ${report.streamFaults.length} faults`)
  assert.deepEqual(report.streamFaults.slice(0, 5), [])
  assert.deepEqual(report.booksWrong.slice(0, 5), [])
  assert.deepEqual(report.rebuiltWrong.slice(0, 5), [])
  assert.deepEqual(report.tradesMissing.slice(0, 5), [])
  assert.deepEqual(report.tradesUnstreamed.slice(0, 5), [])
  assert.deepEqual(report.tradesExtra.slice(0, 5), [])
  assert.deepEqual(report.tradesDoubled.slice(0, 5), [])
  assert.ok(report.truthTrades > 0 && report.booksCompared > 0)
  assert.equal(report.exitCode, 0)
})
