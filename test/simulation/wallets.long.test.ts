// Wallets through the whole service, held against the ledgers of a simulated world: every position, profit, win, loss
// and row over REST must be what follows from the ledger by the written rules. Some wallets are asked for early and
// followed live, some late and read back, by proxy or by owner; the engine is killed in the middle.
// Short under `npm test`, 500 wallets under TEST_LONG=1. Not for: single parts, which have tests of their own.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { SimWalletLedger } from '../../engine/venues/simulator/model.ts'
import {
  ask,
  differences,
  fillsOf,
  fillText,
  servedSheet,
} from '../support/clients/served-wallet.ts'
import { type Places, Rig, read } from '../support/rigs/rig.ts'
import {
  chosen,
  countRow,
  DEEDS,
  type Deed,
  deedsOf,
  dueFills,
  dueSheet,
  type KnownWorld,
  type Sheet,
  startKnownWorld,
  truthOfWallet,
} from '../support/twins/wallet-truth.ts'

const isLong = process.env.TEST_LONG === '1'
const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const WALLETS = number('WALLETSIM_WALLETS', isLong ? 500 : 24)
const EARLY = number('WALLETSIM_EARLY', isLong ? 100 : 10)
const FLOW_SECONDS = number('WALLETSIM_SECONDS', isLong ? 60 : 6)
/** So long without a further wallet being right: none will be. */
const IDLE_SECONDS = number('WALLETSIM_IDLE_SECONDS', 100)
/** Live fills come within a second or two: this is no time for a reading. */
const LIVE_TRIES = 12
/** More would only wait at the venue's quota. */
const ASKED_AT_ONCE = 6

/** The service beside a world that it knows nothing of but what the venues tell. */
class Watched {
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
    const keyFile = join(dirname(this.rig.dataDir), 'sim-kalshi.pem')
    mkdirSync(dirname(keyFile), { recursive: true })
    writeFileSync(keyFile, kalshiPrivateKeyPem)
    this.engine = await this.rig.startEngine({
      POLYMARKET_GAMMA_URL: urls.gamma,
      POLYMARKET_CLOB_URL: urls.clob,
      POLYMARKET_DATA_URL: urls.data,
      POLYMARKET_MARKET_WS_URL: urls.marketWs,
      POLYMARKET_RTDS_WS_URL: urls.rtdsWs,
      KALSHI_REST_URL: urls.kalshiRest,
      KALSHI_WS_URL: urls.kalshiWs,
      KALSHI_PRIVATE_KEY_FILE: keyFile,
    })
  }

  async flow(action: 'pause' | 'resume'): Promise<void> {
    await read(`${this.world.simulator.urls.gamma}/sim/state?action=${action}`)
  }

  /** Asks for each wallet once, and again while there is no answer. */
  async open(ledgers: readonly SimWalletLedger[]): Promise<void> {
    await inParallel(ledgers, async (ledger) => {
      while ((await ask(this.places, addressOf(ledger))) === null) await pause(300)
    })
  }

  /** The ids of all fills, once they are the ledger's and nothing else; null: they never were. */
  async fillIds(ledger: SimWalletLedger): Promise<readonly string[] | null> {
    const { simulator, find } = this.world
    const due = dueFills(await truthOfWallet(simulator.urls.gamma, ledger.wallet.address), find)
    for (let tries = 0; tries < LIVE_TRIES; tries += 1) {
      const fills = (await fillsOf(this.places, addressOf(ledger))) ?? []
      const served: Sheet = new Map()
      for (const fill of fills) countRow(served, fillText(fill, 'untold'))
      const ids = fills.map(({ id }) => id)
      if (new Set(ids).size === ids.length && differences(served, due).length === 0) return ids
      await pause(500)
    }
    return null
  }

  /** Compares each until it is right or the time is up; differences by wallet. */
  async compare(
    ledgers: readonly SimWalletLedger[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const { simulator, find } = this.world
    const wrong = new Map<string, readonly string[]>()
    const begunMs = performance.now()
    let rightMs = begunMs
    const outcomeOf = (market: string, token: string): number =>
      simulator.world.market('a', market)?.listing.tokens.indexOf(token) ?? -1
    let left = ledgers
    while (left.length > 0) {
      const still: SimWalletLedger[] = []
      await inParallel(left, async (ledger) => {
        const { address } = ledger.wallet
        const due = dueSheet(await truthOfWallet(simulator.urls.gamma, address), find)
        // The venue tells whose a wallet is only to whoever asks for the owner.
        if (!isAskedByOwner(ledger)) due.set('eoa', null)
        const served = await servedSheet(this.places, addressOf(ledger), outcomeOf)
        const differing = typeof served === 'string' ? [served] : differences(served, due)
        if (differing.length === 0) wrong.delete(address)
        else {
          wrong.set(address, differing)
          still.push(ledger)
        }
      })
      const nowMs = performance.now()
      if (still.length < left.length) rightMs = nowMs
      left = still
      const seconds = Math.round((nowMs - begunMs) / 1_000)
      this.say(
        `${ledgers.length - left.length} of ${ledgers.length} wallets equal after ${seconds} s`,
      )
      if (nowMs - rightMs > IDLE_SECONDS * 1_000) break
      if (left.length > 0) await pause(3_000)
    }
    return wrong
  }

  async close(): Promise<void> {
    await this.rig.close()
    await this.world.stop()
  }
}

/** Every other one is asked for by its owner's address, and every third in capitals. */
function addressOf({ wallet, eoa }: SimWalletLedger): string {
  const address = isAskedByOwner({ wallet }) ? eoa : wallet.address
  return Number.parseInt(address.slice(-1), 16) % 3 === 0
    ? `0x${address.slice(2).toUpperCase()}`
    : address
}

const isAskedByOwner = ({ wallet }: Pick<SimWalletLedger, 'wallet'>): boolean =>
  Number.parseInt(wallet.address.slice(-1), 16) % 2 === 1

async function inParallel<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items]
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item)
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, work))
}

function sayWhatWas(watched: Watched, ledgers: readonly SimWalletLedger[]): Map<Deed, number> {
  const sums = new Map<Deed, number>()
  let events = 0
  for (const ledger of ledgers) {
    events += ledger.events.length
    for (const [deed, count] of deedsOf(ledger)) sums.set(deed, (sums.get(deed) ?? 0) + count)
  }
  const counts = DEEDS.map((deed) => `${sums.get(deed) ?? 0} ${deed}`).join(', ')
  watched.say(
    `${ledgers.length} wallets, ${events} events: ${counts}; ` +
      `${watched.world.resolvedCount()} markets resolved while the engine ran`,
  )
  return sums
}

/** Of every wallet something, so that one cause does not hide another. */
const firstWrong = (wrong: ReadonlyMap<string, readonly string[]>): readonly string[] =>
  [...wrong]
    .slice(0, 12)
    .flatMap(([address, found]) => found.slice(0, 3).map((text) => `${address}: ${text}`))

test('wallets of a world whose ledgers are known', async (t) => {
  const world = await startKnownWorld({
    markets: isLong ? 200 : 60,
    messagesPerSecond: isLong ? 60 : 30,
    // Within 25 minutes there was sometimes no conversion.
    pastMinutes: 60,
    closingSeconds: isLong ? 240 : 20,
  })
  const watched = new Watched(world, t)
  const ids = new Map<SimWalletLedger, readonly string[]>()
  try {
    await watched.start()
    const early = chosen(world.simulator.wallets.all(), EARLY)
    await watched.open(early)
    watched.say(`${early.length} wallets are followed`)
    await pause(FLOW_SECONDS * 1_000)
    await watched.flow('pause')
    await t.test(
      '[WALLETSIM1] fills of followed wallets are shown as the stream tells them',
      async () => {
        await inParallel(early, async (ledger) => {
          const found = await watched.fillIds(ledger)
          assert.ok(found !== null, `${ledger.wallet.address} has its fills and no others`)
          ids.set(ledger, found)
        })
      },
    )
    await t.test(
      '[WALLETSIM2] every figure and row of a followed wallet is what its ledger gives',
      async () => {
        sayWhatWas(watched, early)
        assert.deepEqual(firstWrong(await watched.compare(early)), [])
      },
    )
    await watched.flow('resume')
    await pause(FLOW_SECONDS * 200)
    await watched.engine?.engine.end('SIGKILL')
    // What happens meanwhile was told to nobody.
    await pause(FLOW_SECONDS * 200)
    await watched.start()
    await pause(FLOW_SECONDS * 200)
    await watched.flow('pause')
    const others = world.simulator.wallets.all().filter((ledger) => !early.includes(ledger))
    const all = [...early, ...chosen(others, WALLETS - early.length)]
    await t.test(
      '[WALLETSIM3] so is it after a kill, and of wallets that are asked for late',
      async () => {
        const deeds = sayWhatWas(watched, all)
        assert.deepEqual(firstWrong(await watched.compare(all)), [])
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
        assert.deepEqual(firstWrong(await watched.compare(all)), [])
      },
    )
    assert.equal(await watched.engine?.engine.end('SIGTERM'), 0)
  } finally {
    await watched.close()
  }
})
