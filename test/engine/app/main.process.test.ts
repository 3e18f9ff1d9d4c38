import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { testFolder } from '../../support/rigs/data-folder.ts'
import { startProcess } from '../../support/rigs/processes.ts'

const folder = testFolder('main')

function start(name: string, settings: Readonly<Record<string, string>>) {
  const dataDir = join(folder, name)
  const fixed = { PORT: '0', SIM_MARKETS: '20', SIM_RATE: '20', LOG_LEVEL: 'warn' }
  return {
    dataDir,
    engine: startProcess('engine/app/start.mjs', { ...fixed, DATA_DIR: dataDir, ...settings }),
  }
}

test('reports a failed start of the engine in one line, without a banner', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { engine } = start('port', { PORT: String(address.port) })
  await assert.rejects(engine.line(/listens at/), /ended with 1/)
  assert.equal(engine.stdout(), '')
  assert.match(engine.stderr(), /^cannot listen on .*: the port is in use; set HOST and PORT/m)
  await new Promise((resolve) => other.close(resolve))
})

test('exits with 2 before the engine starts anything when a setting is misspelt or a path is unusable', async () => {
  for (const [setting, states] of [
    [{ VENUES: 'replay:/nowhere/at-all.jsonl' }, /^VENUES is "replay:\/nowhere\/.*"; it accepts /m],
    [{ VENUE: 'live' }, /^VENUE is not a variable of Twinbook: use VENUES, /m],
    [{ MATCH_ENCODER_DIR: '/nowhere' }, /^MATCH_ENCODER_DIR is "\/nowhere": .*; it accepts /m],
  ] as const) {
    const { dataDir, engine } = start('missing', setting)
    await assert.rejects(engine.line(/listens at/), /ended with 2/)
    assert.match(engine.stderr(), states)
    assert.equal(existsSync(dataDir), false)
  }
})

function commandsBeside(pid: number): readonly string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      if (!new RegExp(`^PPid:\\s${pid}$`, 'm').test(status)) return []
      return [readFileSync(`/proc/${name}/cmdline`, 'utf8')]
    } catch {
      // The folder of /proc does not belong to a process, or the process has ended.
      return []
    }
  })
}

test('leaves no esbuild process running after the start, and completes the engine’s shutdown despite a second signal', async () => {
  const { dataDir, engine } = start('started', {})
  await engine.line(/listens at/)
  const beside = commandsBeside(engine.pid)
  assert.ok(beside.some((line) => line.includes('simulator/child')))
  assert.deepEqual(
    beside.filter((line) => line.includes('esbuild')),
    [],
  )
  // npm sends a second signal when Ctrl-C is pressed.
  process.kill(engine.pid, 'SIGINT')
  process.kill(engine.pid, 'SIGINT')
  assert.equal(await engine.end('SIGTERM'), 0)
  assert.equal(existsSync(join(dataDir, 'lock')), false, 'the folder was closed')
})

test('serves stored data 10 s after the start when no venue is reachable', async () => {
  const nowhere = Object.fromEntries(
    ['GAMMA', 'CLOB', 'DATA', 'MARKET_WS', 'RTDS_WS'].map((name) => [
      `POLYMARKET_${name}_URL`,
      `${name.endsWith('WS') ? 'ws' : 'http'}://127.0.0.1:1`,
    ]),
  )
  const { engine } = start('alone', {
    ...nowhere,
    VENUES: 'live',
    KALSHI_REST_URL: 'http://127.0.0.1:1/trade-api/v2',
    KALSHI_WS_URL: 'ws://127.0.0.1:1/trade-api/ws/v2',
  })
  const [, origin = ''] = await engine.line(/listens at (http:\S+)/)
  const health = await (await fetch(`${origin}/health`)).text()
  assert.match(
    engine.stderr(),
    /"reason":"ECONNREFUSED","msg":"no venue is reachable: check the network/,
  )
  assert.match(health, /"status":"degraded".*"exchanges":{"venue_a":false,"venue_b":false}/)
  assert.equal(await engine.end('SIGTERM'), 0)
})
