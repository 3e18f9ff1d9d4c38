// Wallets through the whole service, held against the ledgers of a simulated world (known-wallets.ts). Some wallets are
// asked for early and followed live, some late and read back, by proxy or by owner; the engine is killed in the middle.
// 24 wallets, 500 under TEST_LONG=1. Not for: the same with an engine that is stopped (wallets.process.test.ts), nor single parts,
// which have tests of their own.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { SimWalletLedger } from '../../engine/venues/simulator/model.ts'
import { fillsOf } from '../support/clients/served-wallet.ts'
import { writeKalshiKey } from '../support/fakes/sim-key.ts'
import {
  addressOf,
  firstWrong,
  inParallel,
  type KnownService,
  KnownWallets,
} from '../support/rigs/known-wallets.ts'
import { type Places, Rig, read } from '../support/rigs/rig.ts'
import { chosen, DEEDS, type KnownWorld, startKnownWorld } from '../support/twins/wallet-truth.ts'

const isLong = process.env.TEST_LONG === '1'
const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const WALLETS = number('WALLETSIM_WALLETS', isLong ? 500 : 24)
const EARLY = number('WALLETSIM_EARLY', isLong ? 100 : 10)
const FLOW_SECONDS = number('WALLETSIM_SECONDS', isLong ? 60 : 6)

/** The service beside a world that it knows nothing of but what the venues tell. */
class Watched implements KnownService {
  readonly rig = new Rig()
  readonly world: KnownWorld
  readonly #t: TestContext
  engine: Awaited<ReturnType<Rig['startEngine']>> | null = null

  constructor(world: KnownWorld, t: TestContext) {
    this.world = world
    this.#t = t
  }

  say(line: string): void {
    this.#t.diagnostic(line)
  }

  get places(): Places {
    assert.ok(this.engine !== null, 'the engine was started')
    return this.engine.places
  }

  async start(): Promise<void> {
    const { urls, kalshiPrivateKeyPem } = this.world.simulator
    this.engine = await this.rig.startEngine({
      POLYMARKET_GAMMA_URL: urls.gamma,
      POLYMARKET_CLOB_URL: urls.clob,
      POLYMARKET_DATA_URL: urls.data,
      POLYMARKET_MARKET_WS_URL: urls.marketWs,
      POLYMARKET_RTDS_WS_URL: urls.rtdsWs,
      KALSHI_REST_URL: urls.kalshiRest,
      KALSHI_WS_URL: urls.kalshiWs,
      KALSHI_PRIVATE_KEY_FILE: writeKalshiKey(this.rig.dataDir, kalshiPrivateKeyPem),
    })
  }

  async flow(action: 'pause' | 'resume'): Promise<void> {
    await read(`${this.world.simulator.urls.gamma}/sim/state?action=${action}`)
  }

  async close(): Promise<void> {
    await this.rig.close()
    await this.world.stop()
  }
}

test('wallets of a world whose ledgers are known', async (t) => {
  const world = await startKnownWorld({
    markets: isLong ? 200 : 60,
    messagesPerSecond: isLong ? 60 : 30,
    // Within 25 minutes there was sometimes no conversion.
    pastMinutes: 60,
    closingSeconds: isLong ? 240 : 20,
    time: 'machine',
  })
  const watched = new Watched(world, t)
  const wallets = new KnownWallets(watched)
  const ids = new Map<SimWalletLedger, readonly string[]>()
  try {
    await watched.start()
    const early = chosen(world.simulator.wallets.all(), EARLY)
    await wallets.open(early)
    watched.say(`${early.length} wallets are followed`)
    await world.pause(FLOW_SECONDS * 1_000)
    await watched.flow('pause')
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
    await watched.flow('resume')
    await world.pause(FLOW_SECONDS * 200)
    await watched.engine?.engine.end('SIGKILL')
    // What happens meanwhile was told to nobody.
    await world.pause(FLOW_SECONDS * 200)
    await watched.start()
    await world.pause(FLOW_SECONDS * 200)
    await watched.flow('pause')
    const others = world.simulator.wallets.all().filter((ledger) => !early.includes(ledger))
    const all = [...early, ...chosen(others, WALLETS - early.length)]
    await t.test(
      '[WALLETSIM3] so is it after a kill, and of wallets that are asked for late',
      async () => {
        const deeds = wallets.sayWhatWas(all)
        assert.deepEqual(firstWrong(await wallets.compare(all)), [])
        for (const deed of isLong ? DEEDS : DEEDS.slice(0, 5)) {
          assert.ok((deeds.get(deed) ?? 0) > 0, `there are ${deed}`)
        }
        assert.ok(!isLong || world.resolvedCount() > 0, 'markets were resolved')
      },
    )
    await t.test(
      '[WALLETSIM4] what was shown stays: the id of a fill for ever, and all figures when asked again',
      async () => {
        for (const [ledger, before] of ids) {
          const fills = (await fillsOf(watched.places, addressOf(ledger))) ?? []
          const after = new Set(fills.map(({ id }) => id))
          const lost = before.filter((id) => !after.has(id))
          assert.deepEqual(lost, [])
        }
        // Behind the readings the venue is asked for names and for its own count.
        assert.deepEqual(firstWrong(await wallets.compare(all)), [])
      },
    )
    assert.equal(await watched.engine?.engine.end('SIGTERM'), 0)
  } finally {
    await watched.close()
  }
})
