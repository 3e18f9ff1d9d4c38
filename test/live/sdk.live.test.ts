// Runs the scripts of test/live/sdk, which test the simulated venues with the venues' own SDKs. Requires
// RUN_LIVE_TESTS=1, and `npm ci` in that folder.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { freePorts, startProcess } from '../support/rigs/processes.ts'

const VENUES = fileURLToPath(new URL('../../engine/app/commands/venues.ts', import.meta.url))
const FOLDER = fileURLToPath(new URL('./sdk/', import.meta.url))
const SCRIPT_MS_MAX = 300_000
const skip =
  process.env.RUN_LIVE_TESTS === '1'
    ? false
    : 'needs RUN_LIVE_TESTS=1 and the SDKs (`npm ci --prefix test/live/sdk`)'

/** The expected number of result rows shows that no check was skipped. */
const SCRIPTS = [
  { name: 'kalshi', rows: 23 },
  { name: 'polymarket-clob', rows: 25 },
  { name: 'polymarket-rtds', rows: 6 },
  { name: 'polymarket-bindings', rows: 13 },
  { name: 'polymarket-lifecycle', rows: 3 },
  { name: 'ccxt', rows: 17 },
]

const Printed = Type.Object({
  script: Type.String(),
  rows: Type.Array(Type.Object({ call: Type.String(), result: Type.String(), ok: Type.Boolean() })),
})

test('returns from both simulated venues responses that the SDKs of the venues accept', {
  skip,
}, async (t) => {
  assert.ok(existsSync(join(FOLDER, 'node_modules')), 'run `npm ci` in test/live/sdk first')
  const venues = await startVenues(t)
  for (const { name, rows } of SCRIPTS) {
    await t.test(name, async (each) => {
      const table = await runScript(name, venues)
      for (const row of table.rows) {
        each.diagnostic(`${row.ok ? 'ok  ' : 'FAIL'} ${row.call}: ${row.result}`)
      }
      assert.deepEqual(
        table.rows.filter((row) => !row.ok),
        [],
      )
      assert.equal(table.rows.length, rows)
    })
  }
})

interface Venues {
  readonly port: number
  readonly dataDir: string
}

/** The venues use free ports and a temporary data folder. */
async function startVenues(t: TestContext): Promise<Venues> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sdk-venues-'))
  const port = await freePorts(11)
  const venues = startProcess(VENUES, {
    SIM_PORT: String(port),
    DATA_DIR: dataDir,
    // The settings give each list several pages, and messages within seconds.
    SIM_MARKETS: '1200',
    SIM_RATE: '400',
    LOG_LEVEL: 'error',
  })
  t.after(async () => {
    await venues.end()
    rmSync(dataDir, { recursive: true, force: true })
  })
  await venues.line(/Kalshi key .*sim-kalshi\.pem/)
  return { port, dataDir }
}

function runScript(name: string, { port, dataDir }: Venues): Promise<typeof Printed.static> {
  const env = {
    ...process.env,
    SIM_PORT: String(port),
    DATA_DIR: dataDir,
    SDK_WATCH_MS: process.env.SDK_WATCH_MS ?? '6000',
  }
  const options = { cwd: FOLDER, env, timeout: SCRIPT_MS_MAX, maxBuffer: 16 * 1024 * 1024 }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [`${name}.mjs`, '--json'], options, (_error, stdout, stderr) => {
      const line = stdout.trim().split('\n').at(-1) ?? ''
      const table = line.startsWith('{') ? JSON.parse(line) : null
      if (Value.Check(Printed, table)) resolve(table)
      else reject(new Error(`${name}.mjs printed no table: ${stdout}${stderr}`))
    })
  })
}
