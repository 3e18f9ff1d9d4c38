import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { allMarketIds, Rig, read, settle } from '../support/rigs/full-service.ts'
import { startProcess } from '../support/rigs/processes.ts'

const isLong = process.env.TEST_LONG === '1'

test('recovers every book and trade after both venues stopped responding for a while', async (t) => {
  const logLine = (line: string) => t.diagnostic(line)
  const rig = new Rig()
  try {
    const venues = await rig.startVenues({
      messagesPerSecond: 300,
      marketsPerVenue: 40,
      faults: 'off',
    })
    const { engine, locations } = await rig.startEngine()
    const sinceMs = Date.now()
    await pause(1_000)
    // The sockets of a process stopped by SIGSTOP stay open.
    process.kill(venues.pid, 'SIGSTOP')
    await pause(isLong ? 60_000 : 8_000)
    process.kill(venues.pid, 'SIGCONT')
    await pause(3_000)
    await rig.flow('pause')
    const report = await settle(locations, null, { sinceMs, secondsMax: 180, say: logLine })
    logLine(
      `${report.truthTrades} true trades, ${report.tradesMissing.length} missing, ${report.booksWrong.length} books wrong, all correct ${report.settledAfterSeconds} s after the pause`,
    )
    assert.deepEqual(report.tradesMissing.slice(0, 5), [])
    assert.deepEqual(report.tradesDoubled.slice(0, 5), [])
    assert.deepEqual(report.booksWrong.slice(0, 5), [])
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    await rig.close()
  }
})

test('continues the same simulated world after `npm start` is stopped and started again', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'twinbook-again-'))
  const settings = {
    PORT: '0',
    DATA_DIR: dataDir,
    SIM_MARKETS: '40',
    SIM_RATE: '200',
    LOG_LEVEL: 'warn',
  }
  const run = async () => {
    const engine = startProcess('engine/app/start.mjs', settings)
    const [, api = ''] = await engine.line(/listens at (http:\S+)/)
    const key = readFileSync(join(dataDir, 'local-key'), 'utf8').trim()
    return { engine, api, locations: { gamma: '', api, key } }
  }
  const tradesOf = async (
    locations: { gamma: string; api: string; key: string },
    ids: readonly string[],
  ) => {
    const trades: string[] = []
    for (const id of ids) {
      const url = `${locations.api}/v1/markets/${encodeURIComponent(id)}/trades?limit=500`
      const page = await read<{ trades: { id: string }[] }>(url, locations.key)
      trades.push(...page.trades.map((trade) => `${id} ${trade.id}`))
    }
    return trades
  }
  try {
    const first = await run()
    let [ids, trades]: [string[], string[]] = [[], []]
    for (let tries = 0; trades.length === 0; tries += 1) {
      assert.ok(tries < 60, 'the simulation must have trades')
      await pause(1_000)
      ids = await allMarketIds(first.locations)
      trades = await tradesOf(first.locations, ids)
    }
    assert.equal(await first.engine.end('SIGTERM'), 0)
    const second = await run()
    const again = await allMarketIds(second.locations)
    assert.deepEqual(
      ids.filter((id) => !again.includes(id)),
      [],
      'the same markets',
    )
    let stored = await tradesOf(second.locations, again)
    for (let tries = 0; stored.length <= trades.length; tries += 1) {
      assert.ok(tries < 60, 'the simulation must continue')
      await pause(1_000)
      stored = await tradesOf(second.locations, again)
    }
    assert.deepEqual(
      trades.filter((name) => !stored.includes(name)),
      [],
      'no trade is lost',
    )
    assert.equal(new Set(stored).size, stored.length, 'no trade is stored twice')
    assert.equal(await second.engine.end('SIGTERM'), 0)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})
