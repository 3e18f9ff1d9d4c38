// Compares wallets of a service, which is killed in between, with the ledgers of the simulator. 24 wallets; 500 with
// TEST_LONG=1.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  ACTIVITY_KINDS,
  startTruthWorld,
  type TruthWorld,
} from '../support/reference/wallet-truth.ts'
import { Rig, type ServiceLocations } from '../support/rigs/full-service.ts'
import { type CheckedService, checkWallets } from '../support/rigs/wallet-checks.ts'

const isLong = process.env.TEST_LONG === '1'
const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const WALLETS = number('WALLETSIM_WALLETS', isLong ? 500 : 24)
const EARLY = number('WALLETSIM_EARLY', isLong ? 100 : 10)
const FLOW_SECONDS = number('WALLETSIM_SECONDS', isLong ? 60 : 6)

/** The service knows the simulated world only through the venues. */
class Watched implements CheckedService {
  readonly rig = new Rig()
  readonly world: TruthWorld
  readonly #t: TestContext
  engine: Awaited<ReturnType<Rig['startEngine']>> | null = null

  constructor(world: TruthWorld, t: TestContext) {
    this.world = world
    this.#t = t
  }

  say(line: string): void {
    this.#t.diagnostic(line)
  }

  get locations(): ServiceLocations {
    assert.ok(this.engine !== null, 'the engine was started')
    return this.engine.locations
  }

  async start(): Promise<void> {
    this.engine = await this.rig.startEngineBeside(this.world.simulator)
  }

  async kill(): Promise<void> {
    await this.engine?.engine.end('SIGKILL')
  }

  async close(): Promise<void> {
    await this.rig.close()
    await this.world.stop()
  }
}

test('shows wallets equal to the simulator’s ledgers', async (t) => {
  const world = await startTruthWorld({
    markets: isLong ? 200 : 60,
    messagesPerSecond: isLong ? 60 : 30,
    // The first 25 minutes may contain no conversion.
    pastMinutes: 60,
    closingSeconds: isLong ? 240 : 20,
    time: 'machine',
  })
  const watched = new Watched(world, t)
  try {
    await checkWallets(t, {
      ...{ service: watched, early: EARLY, late: WALLETS - EARLY, flowMs: FLOW_SECONDS * 1_000 },
      deeds: isLong ? ACTIVITY_KINDS : ACTIVITY_KINDS.slice(0, 5),
      start: () => watched.start(),
      end: () => watched.kill(),
    })
    assert.ok(!isLong || world.resolvedCount() > 0, 'markets were resolved')
    assert.equal(await watched.engine?.engine.end('SIGTERM'), 0)
  } finally {
    await watched.close()
  }
})
