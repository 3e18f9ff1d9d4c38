// Wallets of a known world as an engine serves them, held against what follows from the world's ledgers: every position,
// profit, win, loss and row over REST.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { SimWalletLedger } from '../../../engine/venues/simulator/model.ts'
import { ask, differences, fillsOf, fillText, servedSheet } from '../clients/served-wallet.ts'
import {
  ACTIVITY_KINDS,
  type ActivityKind,
  activitiesOf,
  chosen,
  countRow,
  expectedFills,
  expectedSheet,
  type Sheet,
  type TruthWorld,
  truthOfWallet,
} from '../reference/wallet-truth.ts'
import { read, type ServiceLocations } from './full-service.ts'

/** So long in the world's time without a further wallet being right: none will be. */
const IDLE_MS = 300_000
/** Live fills come within a second or two: this is no time for a reading. */
const LIVE_TRIES = 12
/** More would only wait at the venue's quota. */
const ASKED_AT_ONCE = 6

/** A world, where the engine beside it is now, and what to do with lines about it. */
export interface CheckedService {
  readonly world: TruthWorld
  readonly places: ServiceLocations
  readonly say: (line: string) => void
}

/** A service that a run can end and start again, and what a run follows. */
interface CheckedRun {
  readonly service: CheckedService
  /** Starts the engine, anew where it ran before. */
  start(): Promise<void>
  /** Ends the engine; what happens in the world until the next start reaches no engine. */
  end(): Promise<void>
  /** So many wallets are followed live, and so many more are asked for late. */
  readonly early: number
  readonly late: number
  /** How long the world moves in the first half, in its own time. */
  readonly flowMs: number
  /** What the wallets must have done. */
  readonly deeds: readonly ActivityKind[]
}

/** Follows wallets, ends the engine in the middle, asks for others late: all are as their ledgers give, and stay so. */
export async function checkWallets(t: TestContext, run: CheckedRun): Promise<void> {
  const { service, flowMs } = run
  const { world } = service
  const wallets = new WalletChecks(service)
  const ids = new Map<SimWalletLedger, readonly string[]>()
  const flow = (action: 'pause' | 'resume') =>
    read(`${world.simulator.urls.gamma}/sim/state?action=${action}`)
  await run.start()
  const early = chosen(world.simulator.wallets.all(), run.early)
  await wallets.open(early)
  service.say(`${early.length} wallets are followed`)
  await world.pause(flowMs)
  await flow('pause')
  await t.test('shows fills of followed wallets as streamed', async () => {
    await inParallel(early, async (ledger) => {
      const found = await wallets.fillIds(ledger)
      assert.ok(found !== null, `${ledger.wallet.address} has its fills and no others`)
      ids.set(ledger, found)
    })
  })
  await t.test('shows every figure and row of a followed wallet as in its ledger', async () => {
    wallets.sayWhatWas(early)
    assert.deepEqual(firstDifference(await wallets.compare(early)), [])
  })
  await flow('resume')
  await world.pause(flowMs / 5)
  await run.end()
  await world.pause(flowMs / 5)
  await run.start()
  await world.pause(flowMs / 5)
  await flow('pause')
  const others = world.simulator.wallets.all().filter((ledger) => !early.includes(ledger))
  const all = [...early, ...chosen(others, run.late)]
  await t.test('shows the same after the engine ended and for wallets requested late', async () => {
    const deeds = wallets.sayWhatWas(all)
    for (const deed of run.deeds) assert.ok((deeds.get(deed) ?? 0) > 0, `there are ${deed}`)
    assert.deepEqual(firstDifference(await wallets.compare(all)), [])
  })
  await t.test(
    'keeps the id of a fill permanently and all figures on a repeated request',
    async () => {
      for (const [ledger, before] of ids) {
        const fills = (await fillsOf(service.places, addressOf(ledger))) ?? []
        const after = new Set(fills.map(({ id }) => id))
        const lost = before.filter((id) => !after.has(id))
        assert.deepEqual(lost, [])
      }
      // Behind the readings the venue is asked for names and for its own count.
      assert.deepEqual(firstDifference(await wallets.compare(all)), [])
    },
  )
}

/** Asks a service about wallets of its world. */
export class WalletChecks {
  readonly #service: CheckedService

  constructor(service: CheckedService) {
    this.#service = service
  }

  /** Asks for each wallet once, and again while there is no answer. */
  async open(ledgers: readonly SimWalletLedger[]): Promise<void> {
    await inParallel(ledgers, async (ledger) => {
      while ((await ask(this.#service.places, addressOf(ledger))) === null)
        await this.#service.world.pause(300)
    })
  }

  /** The ids of all fills, once they are the ledger's and nothing else; null: they never were. */
  async fillIds(ledger: SimWalletLedger): Promise<readonly string[] | null> {
    const { simulator, find } = this.#service.world
    const due = expectedFills(
      await truthOfWallet(simulator.urls.gamma, ledger.wallet.address),
      find,
    )
    for (let tries = 0; tries < LIVE_TRIES; tries += 1) {
      const fills = (await fillsOf(this.#service.places, addressOf(ledger))) ?? []
      const served: Sheet = new Map()
      for (const fill of fills) countRow(served, fillText(fill, 'untold'))
      const ids = fills.map(({ id }) => id)
      if (new Set(ids).size === ids.length && differences(served, due).length === 0) return ids
      await this.#service.world.pause(500)
    }
    return null
  }

  /** Compares each until it is right or the time is up; differences by wallet. Complete only, unless said. */
  async compare(
    ledgers: readonly SimWalletLedger[],
    how = { isCompleteOnly: true },
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const { world } = this.#service
    const { simulator, find, clock } = world
    const wrong = new Map<string, readonly string[]>()
    const begunMs = clock.monotonicMs()
    let rightMs = begunMs
    const outcomeOf = (market: string, token: string): number =>
      simulator.world.market('a', market)?.listing.tokens.indexOf(token) ?? -1
    let left = ledgers
    while (left.length > 0) {
      const still: SimWalletLedger[] = []
      await inParallel(left, async (ledger) => {
        const { address } = ledger.wallet
        const due = expectedSheet(await truthOfWallet(simulator.urls.gamma, address), find)
        // The venue names a wallet's owner only in answers about the owner's address.
        if (!isAskedByOwner(ledger)) due.set('eoa', null)
        const served = await servedSheet(this.#service.places, addressOf(ledger), outcomeOf, how)
        const differing = typeof served === 'string' ? [served] : differences(served, due)
        if (differing.length === 0) wrong.delete(address)
        else {
          wrong.set(address, differing)
          still.push(ledger)
        }
      })
      const nowMs = clock.monotonicMs()
      if (still.length < left.length) rightMs = nowMs
      left = still
      const seconds = Math.round((nowMs - begunMs) / 1_000)
      this.#service.say(
        `${ledgers.length - left.length} of ${ledgers.length} wallets equal after ${seconds} s`,
      )
      if (nowMs - rightMs > IDLE_MS) break
      if (left.length > 0) await world.pause(3_000)
    }
    return wrong
  }

  /** Says what the wallets did, by kind of deed, and returns how often. */
  sayWhatWas(ledgers: readonly SimWalletLedger[]): Map<ActivityKind, number> {
    const sums = new Map<ActivityKind, number>()
    let events = 0
    for (const ledger of ledgers) {
      events += ledger.events.length
      for (const [deed, count] of activitiesOf(ledger))
        sums.set(deed, (sums.get(deed) ?? 0) + count)
    }
    const counts = ACTIVITY_KINDS.map((deed) => `${sums.get(deed) ?? 0} ${deed}`).join(', ')
    this.#service.say(
      `${ledgers.length} wallets, ${events} events: ${counts}; ` +
        `${this.#service.world.resolvedCount()} markets resolved while the engine ran`,
    )
    return sums
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

/** Acts on each, some at once. */
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

/** Of every wallet something, so that one cause does not hide another. */
export const firstDifference = (wrong: ReadonlyMap<string, readonly string[]>): readonly string[] =>
  [...wrong]
    .slice(0, 12)
    .flatMap(([address, found]) => found.slice(0, 3).map((text) => `${address}: ${text}`))
