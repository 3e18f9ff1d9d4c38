import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WalletRanking } from '../../../actors/wallets/ranking.ts'
import { WALLET_WINDOWS, type WalletWindow } from '../../../actors/wallets/views.ts'
import { seededRandom } from '../../../engine/random.ts'
import { HOUR_MS, usdMicros } from '../../../engine/units.ts'
import type { StoredWallet } from '../../../storage/contract/wallets.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { MemoryWallets } from '../../support/reference/memory.ts'
import { addressOf, storedWallet } from '../../support/worlds/stored-wallets.ts'

const STEPS = process.env.TEST_LONG === '1' ? 30 : 4
const HOURS: Readonly<Record<WalletWindow, number>> = {
  ...{ one_day: 24, seven_day: 168, thirty_day: 720, all_time: 0 },
}

function figuresOf(wallet: StoredWallet, window: WalletWindow, nowHour: number) {
  const { realized, volume, trades, fees, income } = wallet.totals
  if (window === 'all_time') return { realized, volume, trades, fees, income }
  const sum = { realized: 0, volume: 0, trades: 0, fees: 0, income: 0 }
  for (const row of wallet.hours) {
    if (row.hour <= nowHour - HOURS[window]) continue
    sum.realized += row.realized
    sum.volume += row.volume
    sum.trades += row.trades
    sum.fees += row.fees
    sum.income += row.income
  }
  return sum
}

test('ranks wallets on every page like a sort of all wallets, with figures at most five seconds old', async () => {
  const random = seededRandom('wallet ranking', '1')
  const clock = new ManualClock()
  const table = new MemoryWallets()
  const ranking = new WalletRanking({ table, clock })
  const hourOf = () => Math.floor(clock.nowMs() / HOUR_MS)
  const write = (number: number): void => {
    const hours = [...new Set([1, 2, 3, 4, 5].map(() => hourOf() - random.below(760)))].sort()
    const dollars = () => usdMicros(random.below(40) * 1_000_000 - 10_000_000)
    const wallet = storedWallet(addressOf(number), {
      totals: { ...storedWallet(addressOf(1)).totals, realized: dollars(), volume: dollars() },
      hours: hours.map((hour) => {
        const beside = { fees: usdMicros(random.below(7)), income: usdMicros(random.below(3)) }
        return {
          hour,
          realized: dollars(),
          volume: usdMicros(random.below(9)),
          trades: 1,
          ...beside,
        }
      }),
    })
    table.put(wallet)
    ranking.put(wallet)
  }
  for (let number = 1; number <= 300; number += 1) write(number)
  for (let step = 0; step < STEPS; step += 1) {
    for (let change = 0; change < 20; change += 1) write(1 + random.below(320))
    clock.advance(random.below(3) === 0 ? (1 + random.below(40)) * HOUR_MS : 5_000)
    await ranking.roll(new AbortController().signal)
    const all = [...table.all()]
    assert.equal(ranking.count, all.length)
    for (const window of WALLET_WINDOWS) {
      for (const sortBy of ['realized_pnl', 'volume'] as const) {
        const key = sortBy === 'volume' ? 'volume' : 'realized'
        const expected = all
          .map((wallet) => figuresOf(wallet, window, hourOf())[key])
          .sort((one, other) => other - one)
        const found = []
        for (let offset = 0; offset < all.length; offset += 90) {
          const page = ranking.page({ window, sortBy, offset, limit: 90 })
          assert.equal(page.total, all.length)
          found.push(...page.wallets)
        }
        assert.deepEqual(
          found.map((row) => row.figures[key]),
          expected,
        )
        assert.deepEqual(
          found.map((row) => row.rank),
          found.map((_, index) => index + 1),
        )
        for (const { profile, figures, totals } of found) {
          const wallet = table.get(profile.proxy)
          assert.ok(wallet !== null)
          assert.deepEqual({ ...figures }, figuresOf(wallet, window, hourOf()))
          assert.deepEqual(totals, wallet.totals)
        }
        assert.equal(new Set(found.map((row) => row.profile.proxy)).size, all.length)
      }
    }
  }
  assert.deepEqual(
    ranking.page({ window: 'one_day', sortBy: 'volume', offset: 9_999, limit: 5 }).wallets,
    [],
  )
})

function openRanking() {
  const clock = new ManualClock()
  const table = new MemoryWallets()
  const ranking = new WalletRanking({ table, clock })
  const put = (number: number): void => {
    const wallet = storedWallet(addressOf(number))
    table.put(wallet)
    ranking.put(wallet)
  }
  return { clock, ranking, put }
}

test('sorts the wallets of the ranking at most every five seconds', () => {
  const { clock, ranking, put } = openRanking()
  const total = () =>
    ranking.page({ window: 'all_time', sortBy: 'volume', offset: 0, limit: 1 }).total
  put(1)
  assert.equal(total(), 1)
  put(2)
  clock.advance(4_999)
  assert.equal(total(), 1)
  clock.advance(1)
  assert.equal(total(), 2)
})

test('continues the order of an earlier ranking page after wallets were added and changed', () => {
  const { clock, ranking, put } = openRanking()
  const query = { window: 'all_time', sortBy: 'volume', limit: 2 } as const
  const addresses = (page: ReturnType<WalletRanking['page']>) =>
    page.wallets.map(({ profile }) => profile.proxy)
  for (let number = 1; number <= 5; number += 1) put(number)
  const complete = addresses(ranking.page({ ...query, limit: 5, offset: 0 }))
  const first = ranking.page({ ...query, offset: 0 })
  assert.ok(first.next !== null)
  clock.advance(6_000)
  for (let number = 6; number <= 9; number += 1) put(number)
  assert.equal(ranking.page({ ...query, offset: 0 }).total, 9)
  const second = ranking.page({ ...query, ...first.next })
  assert.ok(second.next !== null)
  const third = ranking.page({ ...query, ...second.next })
  assert.equal(third.next, null)
  assert.deepEqual([first, second, third].flatMap(addresses), complete)
  clock.advance(300_000)
  const { next } = first
  assert.throws(() => ranking.page({ ...query, ...next }), /expired/)
})
