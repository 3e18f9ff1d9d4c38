// Compares wallets of an engine, which restarts in between, with the ledgers of the simulator. A shared clock with a
// fixed start makes every run equal.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ACTIVITY_KINDS, startTruthWorld } from '../support/reference/wallet-truth.ts'
import { checkWallets } from '../support/rigs/wallet-checks.ts'
import { openWatchedEngine, type WatchedEngine } from '../support/rigs/watched-engine.ts'

const EARLY = 6
const LATE = 12
const FLOW_MS = 6_000

const SEEDS = process.env.TEST_LONG === '1' ? [3, 4, 5] : [4]

for (const seed of SEEDS) {
  test(`serves wallets equal to the simulator’s ledgers with seed ${seed}`, async (t) => {
    const world = await startTruthWorld({
      ...{
        seed,
        markets: 40,
        messagesPerSecond: 20,
        pastMinutes: 60,
        closingSeconds: 20,
        time: 'own',
      },
    })
    const { urls, kalshiKeyId: keyId, kalshiPrivateKeyPem: privateKeyPem } = world.simulator
    const dataDir = mkdtempSync(join(tmpdir(), 'twinbook-wallets-'))
    const kalshi = { restUrl: urls.kalshiRest, wsUrl: urls.kalshiWs, keyId, privateKeyPem }
    const position = { dataDir, addresses: { polymarket: urls, kalshi }, clock: world.clock }
    let running: WatchedEngine | null = null
    const service = {
      world,
      say: (line: string) => t.diagnostic(line),
      get locations() {
        const { engine, apiKey } = running ?? assert.fail('the engine runs')
        return { gamma: urls.gamma, api: `http://127.0.0.1:${engine.port}`, key: apiKey }
      },
    }
    const end = async () => {
      await running?.engine.stop()
      running = null
    }
    try {
      await checkWallets(t, {
        ...{ service, early: EARLY, late: LATE, flowMs: FLOW_MS, deeds: ACTIVITY_KINDS },
        async start() {
          running = await openWatchedEngine(position)
        },
        end,
      })
    } finally {
      await end()
      await world.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
}
