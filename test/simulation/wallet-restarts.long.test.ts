// Compares wallets before and after restarts, kills, evictions and data loss at the venue. Five wallets and three
// restarts; with TEST_LONG=1 fifty wallets and five rounds of five restarts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { HOUR_MS, MINUTE_MS } from '../../engine/units.ts'
import type { WalletAccount } from '../../engine/venues/simulator/world/wallet-account.ts'
import { ask, differences, servedSheet } from '../support/clients/served-wallet.ts'
import {
  chosen,
  expectedSheet,
  type Sheet,
  startTruthWorld,
  type TruthWorld,
  truthOfWallet,
} from '../support/reference/wallet-truth.ts'
import { Rig, type ServiceLocations } from '../support/rigs/full-service.ts'
import { LossyVenue, type Memory } from '../support/worlds/lossy-venue.ts'
import {
  assertComplete,
  fillAt,
  hourlyFills,
  settled,
  WalletWorld,
} from '../support/worlds/wallet-venue.ts'

const isLong = process.env.TEST_LONG === '1'
const WALLETS = Number(process.env.WALLET_RESTARTS_WALLETS ?? (isLong ? 50 : 5))
const ROUNDS = Number(process.env.WALLET_RESTARTS_ROUNDS ?? (isLong ? 5 : 1))
const TRIES = 120
/** A row that is not a fill, as `activityText` writes it. */
const ACTIVITY = /^(?:split|merge|redeem|conversion) 0x/

interface Kind {
  readonly name: string
  readonly signal: 'SIGTERM' | 'SIGKILL'
  readonly memory: Memory
}

const PLAIN: readonly Kind[] = [
  { name: 'ended', signal: 'SIGTERM', memory: 'complete' },
  { name: 'killed', signal: 'SIGKILL', memory: 'complete' },
]
const KINDS: readonly Kind[] = [
  ...(isLong ? PLAIN : []),
  { name: 'killed, and the venue lost the history', signal: 'SIGKILL', memory: 'partial' },
  { name: 'ended, and the venue does not answer', signal: 'SIGTERM', memory: 'empty' },
  { name: 'killed, and the venue has the complete history', signal: 'SIGKILL', memory: 'complete' },
]

/** The simulated world continues during each restart. */
class Restarted {
  readonly rig = new Rig()
  readonly venue = new LossyVenue()
  readonly world: TruthWorld
  engine: Awaited<ReturnType<Rig['startEngine']>> | null = null
  #urls = { data: '', gamma: '' }

  constructor(world: TruthWorld) {
    this.world = world
  }

  async begin(): Promise<void> {
    this.#urls = await this.venue.start(this.world.simulator.urls)
    await this.start()
  }

  get locations(): ServiceLocations {
    assert.ok(this.engine !== null, 'the engine was started')
    return this.engine.locations
  }

  async start(): Promise<void> {
    this.engine = await this.rig.startEngineBeside(this.world.simulator, this.#urls)
  }

  /** Waits until the wallet is loaded. */
  async sheet(address: string, isCompleteOnly: boolean): Promise<Sheet> {
    const outcomeOf = (market: string, token: string): number =>
      this.world.simulator.world.market('a', market)?.listing.tokens.indexOf(token) ?? -1
    let served: Sheet | string = ''
    for (let tries = 0; tries < TRIES; tries += 1) {
      served = await servedSheet(this.locations, address, outcomeOf, { isCompleteOnly })
      if (typeof served !== 'string') return served
      await pause(500)
    }
    return assert.fail(`${address}: ${served}`)
  }

  /** Waits for the newest activity that is not a fill. No stream reports it, so the engine polls for it. */
  async lastSheet(address: string): Promise<Sheet> {
    const { simulator, find } = this.world
    const due = expectedSheet(await truthOfWallet(simulator.urls.gamma, address), find)
    for (let tries = 0; tries < TRIES; tries += 1) {
      const served = await this.sheet(address, true)
      if (!differences(served, due).some((text) => ACTIVITY.test(text))) return served
      await pause(500)
    }
    return assert.fail(`${address}: the newest activity is missing`)
  }

  async close(): Promise<void> {
    await this.rig.close()
    await this.venue.stop()
    await this.world.stop()
  }
}

test('restores the same wallet figures after every kind of restart, and reports whether the venue’s data agrees', async (t) => {
  const world = await startTruthWorld({
    ...{ markets: 40, messagesPerSecond: 30, pastMinutes: 10, closingSeconds: 1, time: 'machine' },
  })
  const restarted = new Restarted(world)
  try {
    await restarted.begin()
    const ledgers = chosen(world.simulator.wallets.all(), WALLETS)
    const addresses = ledgers.map(({ wallet }: WalletAccount) => wallet.address)
    for (const address of addresses) await restarted.sheet(address, false)
    await pause(3_000)
    const { gamma } = world.simulator.urls
    assert.equal((await fetch(`${gamma}/sim/state?action=pause`)).status, 200)
    // The engine requests payouts of recently resolved markets until they are known.
    await pause(20_000)
    const before = new Map<string, Sheet>()
    for (const address of addresses) before.set(address, await restarted.lastSheet(address))
    const rows = [...before.values()].reduce((sum, sheet) => sum + sheet.size, 0)
    t.diagnostic(`${addresses.length} wallets, ${rows} figures and rows`)
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const { name, signal, memory } of KINDS) {
        await restarted.engine?.engine.end(signal)
        restarted.venue.memory = memory
        restarted.venue.historyFromS = Math.floor(Date.now() / 1_000)
        restarted.venue.hiddenCount = 0
        await restarted.start()
        for (const address of addresses) {
          const context = `round ${round}, ${name}, ${address}`
          const due = before.get(address) ?? new Map()
          const first = await restarted.sheet(address, false)
          assert.deepEqual(differences(first, due), [], context)
          if (memory === 'complete') {
            assert.deepEqual(differences(await restarted.sheet(address, true), due), [], context)
            continue
          }
          const reported = await ask<{ readonly address: string }>(restarted.locations, address)
          assert.equal(reported?.isComplete, false, context)
          assert.match(
            reported?.why ?? '',
            /^(venue_lacks_kept|not_told_yet|venue_counts)/,
            context,
          )
        }
        if (memory !== 'complete') assert.ok(restarted.venue.hiddenCount >= addresses.length)
      }
    }
    assert.equal(await restarted.engine?.engine.end('SIGTERM'), 0)
  } finally {
    await restarted.close()
  }
})

test('restores wallets evicted from memory when the venue loses wallet data between responses', async () => {
  const world = new WalletWorld({ warmBytesMax: 1 })
  const nowMs = world.clock.nowMs()
  const all = new Map(
    Array.from({ length: WALLETS }, (_, at) => {
      const recent = [30_000, 10_000].map((agoMs) =>
        fillAt(nowMs - agoMs, { txHash: `0x${agoMs}` }),
      )
      const events = [...hourlyFills(world, 1 + at * 7), ...recent]
      return [world.wallet(at + 1, events), events] as const
    }),
  )
  const before = new Map<string, object>()
  const totals = async (address: Parameters<WalletWorld['open']>[0]) => {
    const view = assertComplete(await world.open(address))
    assert.ok(world.storage.wallets.get(address) !== null)
    return { view, figures: { totals: view.totals, unrealized: view.unrealized } }
  }
  for (const address of all.keys()) before.set(address, (await totals(address)).figures)
  for (let round = 1; round <= 5; round += 1) {
    for (const memory of ['complete', 'partial', 'empty'] as const) {
      for (const [address, events] of all) {
        const published = { complete: events, partial: events.slice(-1), empty: [] }[memory]
        world.venue.events.set(address, [...published])
      }
      world.clock.advance(round % 2 === 0 ? 10_000 : HOUR_MS + MINUTE_MS)
      for (const address of all.keys()) {
        const { view, figures } = await totals(address)
        assert.deepEqual(figures, before.get(address), `${memory}, round ${round}`)
        if (memory === 'empty') assert.equal(view.isComplete, false)
        await settled(2)
      }
    }
  }
  await world.wallets.stop()
})
