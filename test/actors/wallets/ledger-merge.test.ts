import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WalletLedger } from '../../../actors/wallets/ledger.ts'
import { WalletMerge } from '../../../actors/wallets/ledger-merge.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { compareEvents, type WalletEvent } from '../../../engine/wallet.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { MemoryWallets } from '../../support/reference/memory.ts'
import { addressOf } from '../../support/worlds/stored-wallets.ts'
import { fillAt } from '../../support/worlds/wallet-venue.ts'

const SEEDS = process.env.TEST_LONG === '1' ? 300 : 10
const WALLET = addressOf(1)

/** Some events share a second, some share a transaction, and some are equal. */
function history(random: Random, count: number): WalletEvent[] {
  const events: WalletEvent[] = []
  let second = 1_790_000_000
  for (let index = 0; index < count; index += 1) {
    const before = events.at(-1)
    if (random.below(3) > 0) second += random.below(random.below(50) === 0 ? 100_000 : 90)
    const isSame = before !== undefined && before.timeMs === second * 1_000
    const txHash = isSame && random.below(2) === 0 ? before.txHash : `0x${index.toString(16)}`
    const size = sizeMicros(isSame && random.below(2) === 0 ? before.size : 1 + random.below(1e9))
    const kind = random.pick(['buy', 'sell', 'merge'] as const)
    const token = kind === 'merge' ? { token: null, price: priceMicros(0) } : {}
    events.push(fillAt(second * 1_000, { txHash, size, kind, ...token }))
  }
  return events.sort(compareEvents)
}

/** The fields that the ledger and the history have in common. */
const nameOf = ({ txHash, kind, token, size, price }: WalletEvent) =>
  [txHash, kind, token, size, price].join(' ')

function counted(events: readonly WalletEvent[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const event of events) counts.set(nameOf(event), (counts.get(nameOf(event)) ?? 0) + 1)
  return counts
}

/** An event occurs as often as in the list that has more copies of it. */
function union(one: readonly WalletEvent[], other: readonly WalletEvent[]): Map<string, number> {
  const counts = counted(one)
  for (const [name, count] of counted(other)) {
    counts.set(name, Math.max(counts.get(name) ?? 0, count))
  }
  return counts
}

const part = (random: Random, events: readonly WalletEvent[]): WalletEvent[] => {
  const [from, to] = [random.below(events.length), random.below(events.length)]
  const isHole = random.below(2) === 0
  const share = random.pick([1, 0.99, 0.5, 0])
  return events.filter((_, at) => (at >= from && at < to) !== isHole && random.next() <= share)
}

test('merges a wallet’s ledger and the venue’s history into their union when either lacks events', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = seededRandom('merge', String(seed))
    const all = history(random, seed % 5 === 0 ? 4_000 : 1 + random.below(900))
    const retained = part(random, all).map((event) => ({ ...event, fee: usdMicros(7) }))
    const published = part(random, all).map((event) => ({ ...event, role: null }))
    const table = new MemoryWallets()
    const ledger = new WalletLedger(table, WALLET, { count: 0, side: 0 })
    await ledger.append(retained)
    const merged = new WalletLedger(table, WALLET, { count: 0, side: 1 })
    const merge = new WalletMerge(ledger, merged, new ManualClock())
    for (let from = 0; from < published.length; ) {
      const events = published.slice(from, from + 1 + random.below(600))
      await merge.take({ events, listedToMs: events.at(-1)?.timeMs ?? null })
      from += events.length
    }
    await merge.finish()
    const events = merged.events(0, merged.count)
    assert.deepEqual(counted(events), union(retained, published), `seed ${seed}`)
    for (const [at, event] of events.entries()) {
      const before = events[at - 1]
      assert.ok(before === undefined || compareEvents(before, event) <= 0, `seed ${seed} at ${at}`)
    }
    const { lackingCount, addedCount, changedCount } = merge.difference(timeMs(9e15))
    assert.equal(lackingCount, events.length - published.length, `seed ${seed}`)
    assert.equal(addedCount, events.length - retained.length, `seed ${seed}`)
    assert.equal(changedCount, 0)
    const fees = events.reduce((sum, { fee }) => sum + fee, 0)
    assert.equal(fees, 7 * retained.length)
  }
})

test('takes time, fee and role of a fill from the venue when the venue’s time is slightly later than the ledger’s', async () => {
  const table = new MemoryWallets()
  const ledger = new WalletLedger(table, WALLET, { count: 0, side: 0 })
  const fill = fillAt(1_790_000_000_000, { role: null })
  await ledger.append([fill])
  const merged = new WalletLedger(table, WALLET, { count: 0, side: 1 })
  const merge = new WalletMerge(ledger, merged, new ManualClock())
  const published = {
    ...fill,
    timeMs: timeMs(fill.timeMs + 2_000),
    fee: usdMicros(9),
    role: 'maker',
  } as const
  await merge.take({ events: [published], listedToMs: published.timeMs })
  await merge.finish()
  assert.deepEqual(merged.events(0, merged.count), [published])
  const { lacking, ...counts } = merge.difference(timeMs(9e15))
  assert.deepEqual([lacking, counts], [[], { lackingCount: 0, addedCount: 0, changedCount: 1 }])
})
