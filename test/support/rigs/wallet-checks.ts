// Compares wallets that an engine serves over REST with the ledgers of a simulated world.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { WalletAccount } from '../../../engine/venues/simulator/world/wallet-account.ts'
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

/** The check ends after this world time without a further correct wallet. */
const IDLE_MS = 300_000
/** Live fills arrive within a second or two, before the first poll of a sync. */
const LIVE_TRIES = 12
/** More concurrent requests would only wait for the venue's quota. */
const ASKED_AT_ONCE = 6

export interface CheckedService {
  readonly world: TruthWorld
  readonly locations: ServiceLocations
  readonly say: (line: string) => void
}

interface CheckedRun {
  readonly service: CheckedService
  start(): Promise<void>
  /** Stops the engine. It misses the world's events until the next start. */
  end(): Promise<void>
  /** `early`: number of wallets that are followed live. `late`: number of wallets that are requested later. */
  readonly early: number
  readonly late: number
  /** How long the world runs in the first half, in its own time. */
  readonly flowMs: number
  /** The wallets must include these kinds of activity. */
  readonly deeds: readonly ActivityKind[]
}

/**
 * Follows wallets, restarts the engine in the middle, and requests other wallets late. All wallets must equal their
 * ledgers and stay equal.
 */
export async function checkWallets(t: TestContext, run: CheckedRun): Promise<void> {
  const { service, flowMs } = run
  const { world } = service
  const wallets = new WalletChecks(service)
  const ids = new Map<WalletAccount, readonly string[]>()
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
  await t.test(
    'shows equal figures after an engine restart and for wallets requested late',
    async () => {
      const deeds = wallets.sayWhatWas(all)
      for (const deed of run.deeds) assert.ok((deeds.get(deed) ?? 0) > 0, `there are ${deed}`)
      assert.deepEqual(firstDifference(await wallets.compare(all)), [])
    },
  )
  await t.test(
    'keeps the id of a fill, and repeats all figures on a repeated request',
    async () => {
      for (const [ledger, before] of ids) {
        const fills = (await fillsOf(service.locations, addressOf(ledger))) ?? []
        const after = new Set(fills.map(({ id }) => id))
        const lost = before.filter((id) => !after.has(id))
        assert.deepEqual(lost, [])
      }
      // After the syncs, the service requests names and the venue's own count.
      assert.deepEqual(firstDifference(await wallets.compare(all)), [])
    },
  )
}

export class WalletChecks {
  readonly #service: CheckedService

  constructor(service: CheckedService) {
    this.#service = service
  }

  async open(ledgers: readonly WalletAccount[]): Promise<void> {
    await inParallel(ledgers, async (ledger) => {
      while ((await ask(this.#service.locations, addressOf(ledger))) === null)
        await this.#service.world.pause(300)
    })
  }

  /** The ids of all fills once they equal the ledger's. null if they never did. */
  async fillIds(ledger: WalletAccount): Promise<readonly string[] | null> {
    const { simulator, find } = this.#service.world
    const due = expectedFills(
      await truthOfWallet(simulator.urls.gamma, ledger.wallet.address),
      find,
    )
    for (let tries = 0; tries < LIVE_TRIES; tries += 1) {
      const fills = (await fillsOf(this.#service.locations, addressOf(ledger))) ?? []
      const served: Sheet = new Map()
      for (const fill of fills) countRow(served, fillText(fill, 'untold'))
      const ids = fills.map(({ id }) => id)
      if (new Set(ids).size === ids.length && differences(served, due).length === 0) return ids
      await this.#service.world.pause(500)
    }
    return null
  }

  /**
   * Compares each wallet until it is correct or the time is over. Returns the differences by wallet. By default a
   * wallet must also be complete.
   */
  async compare(
    ledgers: readonly WalletAccount[],
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
      const still: WalletAccount[] = []
      await inParallel(left, async (ledger) => {
        const { address } = ledger.wallet
        const due = expectedSheet(await truthOfWallet(simulator.urls.gamma, address), find)
        // The venue reports a wallet's owner only in responses about the owner's address.
        if (!isAskedByOwner(ledger)) due.set('eoa', null)
        const served = await servedSheet(this.#service.locations, addressOf(ledger), outcomeOf, how)
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

  /** Logs how many wallets have each kind of activity, and returns these counts. */
  sayWhatWas(ledgers: readonly WalletAccount[]): Map<ActivityKind, number> {
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

/** Every second wallet is requested by its owner's address, and every third in upper case. */
function addressOf({ wallet, eoa }: WalletAccount): string {
  const address = isAskedByOwner({ wallet }) ? eoa : wallet.address
  return Number.parseInt(address.slice(-1), 16) % 3 === 0
    ? `0x${address.slice(2).toUpperCase()}`
    : address
}

const isAskedByOwner = ({ wallet }: Pick<WalletAccount, 'wallet'>): boolean =>
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

/** Some differences of every wallet, so that several causes are visible. */
export const firstDifference = (wrong: ReadonlyMap<string, readonly string[]>): readonly string[] =>
  [...wrong]
    .slice(0, 12)
    .flatMap(([address, found]) => found.slice(0, 3).map((text) => `${address}: ${text}`))
