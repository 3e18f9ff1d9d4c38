// Wallets through a whole engine, held against the ledgers of a simulated world (known-wallets.ts). World and engine are in
// this process and have one clock, which begins at the same moment in every run: the same past, whatever the machine does.
// Some wallets are followed live, others are asked for late; the engine is stopped and started in the middle. Not for:
// kills, and many wallets (wallets.long.test.ts).

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { SimWalletLedger } from '../../engine/venues/simulator/model.ts'
import { fillsOf } from '../support/clients/served-wallet.ts'
import { addressOf, firstWrong, inParallel, KnownWallets } from '../support/rigs/known-wallets.ts'
import { read } from '../support/rigs/rig.ts'
import { openWatchedEngine, type WatchedEngine } from '../support/rigs/watched-engine.ts'
import { chosen, DEEDS, startKnownWorld } from '../support/twins/wallet-truth.ts'

const EARLY = 6
const LATE = 8
const FLOW_MS = 6_000

test('wallets of a world whose ledgers are known', async (t) => {
  const world = await startKnownWorld({
    ...{ markets: 40, messagesPerSecond: 20, pastMinutes: 60, closingSeconds: 20, time: 'own' },
  })
  const { urls, kalshiKeyId: keyId, kalshiPrivateKeyPem: privateKeyPem } = world.simulator
  const dataDir = mkdtempSync(join(tmpdir(), 'twinbook-wallets-'))
  const kalshi = { restUrl: urls.kalshiRest, wsUrl: urls.kalshiWs, keyId, privateKeyPem }
  const place = { dataDir, addresses: { polymarket: urls, kalshi }, clock: world.clock }
  const flow = (action: string) => read(`${urls.gamma}/sim/state?action=${action}`)
  const ids = new Map<SimWalletLedger, readonly string[]>()
  let running: WatchedEngine | null = null
  const service = {
    world,
    say: (line: string) => t.diagnostic(line),
    get places() {
      const { engine, apiKey } = running ?? assert.fail('the engine runs')
      return { gamma: urls.gamma, api: `http://127.0.0.1:${engine.port}`, key: apiKey }
    },
  }
  const wallets = new KnownWallets(service)
  try {
    running = await openWatchedEngine(place)
    const early = chosen(world.simulator.wallets.all(), EARLY)
    await wallets.open(early)
    await world.pause(FLOW_MS)
    await flow('pause')
    await t.test(
      '[WALLETSIM1] fills of followed wallets are shown as the stream tells them',
      async () => {
        await inParallel(early, async (ledger) => {
          const found = await wallets.fillIds(ledger)
          assert.ok(found !== null, `${ledger.wallet.address} has its fills and no others`)
          ids.set(ledger, found)
        })
      },
    )
    await t.test(
      '[WALLETSIM2] every figure and row of a followed wallet is what its ledger gives',
      async () => {
        wallets.sayWhatWas(early)
        assert.deepEqual(firstWrong(await wallets.compare(early)), [])
      },
    )
    await flow('resume')
    await world.pause(FLOW_MS / 5)
    await running.engine.stop()
    running = null
    // What happens meanwhile is told to no engine.
    await world.pause(FLOW_MS / 5)
    running = await openWatchedEngine(place)
    await world.pause(FLOW_MS / 5)
    await flow('pause')
    const others = world.simulator.wallets.all().filter((ledger) => !early.includes(ledger))
    const all = [...early, ...chosen(others, LATE)]
    await t.test(
      '[WALLETSIM3] so is it after a restart, and of wallets that are asked for late',
      async () => {
        const deeds = wallets.sayWhatWas(all)
        for (const deed of DEEDS) assert.ok((deeds.get(deed) ?? 0) > 0, `there are ${deed}`)
        assert.deepEqual(firstWrong(await wallets.compare(all)), [])
      },
    )
    await t.test(
      '[WALLETSIM4] what was shown stays: the id of a fill for ever, and all figures when asked again',
      async () => {
        for (const [ledger, before] of ids) {
          const fills = (await fillsOf(service.places, addressOf(ledger))) ?? []
          const after = new Set(fills.map(({ id }) => id))
          assert.deepEqual(
            before.filter((id) => !after.has(id)),
            [],
          )
        }
        // Behind the readings the venue is asked for names and for its own count.
        assert.deepEqual(firstWrong(await wallets.compare(all)), [])
      },
    )
  } finally {
    await running?.engine.stop()
    await world.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
