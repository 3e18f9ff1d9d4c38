// Contract of storage/contract/storage.ts. Between the phases of a test `settle` may commit, or close and reopen the
// storage.

import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { DAY_MS, HOUR_MS, priceMicros, timeMs } from '../../engine/units.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import {
  account,
  checkpoint,
  eventListing,
  eventSummary,
  key,
  marketListing,
  marketSummary,
  NOON_MS,
  trade,
  traded,
} from '../support/worlds/stored.ts'
import { historyContract } from './storage/histories.ts'
import { lossContract } from './storage/losses.ts'
import { matchContract } from './storage/matches.ts'
import { opportunityContract } from './storage/opportunities.ts'
import { removalContract } from './storage/removal.ts'
import { tradeContract } from './storage/trades.ts'
import { venueTradeContract } from './storage/venue-trades.ts'
import { walletContract } from './storage/wallets.ts'
import { webhookContract } from './storage/webhooks.ts'
import { whaleContract } from './storage/whales.ts'

export interface StorageUnderTest {
  readonly name: string
  readonly open: () => Promise<Storage>
  /** Runs between writes and reads. The test continues with the returned storage. */
  readonly settle: (storage: Storage) => Promise<Storage>
  /** Runs after each test. */
  readonly close: () => Promise<void>
}

export function storageContract(subject: StorageUnderTest): void {
  describe(`storage contract: ${subject.name}`, () => {
    afterEach(subject.close)
    listingContract(subject)
    tradeContract(subject)
    venueTradeContract(subject)
    whaleContract(subject)
    matchContract(subject)
    historyContract(subject)
    smallTablesContract(subject)
    accountContract(subject)
    retentionContract(subject)
    removalContract(subject)
    lossContract(subject)
    opportunityContract(subject)
    webhookContract(subject)
    walletContract(subject)
  })
}

function listingContract({ open, settle }: StorageUnderTest): void {
  test('numbers markets consecutively from 1, and leaves the number unchanged when a market is replaced', async () => {
    let storage = await open()
    const [one, two] = [marketListing('one'), marketListing('two', { venue: 'b' })]
    assert.equal(storage.markets.put(one), 1)
    assert.equal(storage.markets.put(two), 2)
    storage = await settle(storage)
    assert.equal(storage.markets.put({ ...one, question: 'Changed?' }), 1)
    assert.equal(storage.markets.put(marketListing('one', { venue: 'b' })), 3)
    storage = await settle(storage)
    assert.equal(storage.markets.number('a', one.nativeId), 1)
    assert.equal(storage.markets.number('b', one.nativeId), 3)
    assert.equal(storage.markets.number('a', two.nativeId), null)
    assert.equal(storage.markets.count(), 3)
    const rows = [...storage.markets.all()]
    assert.deepEqual(
      rows.map((row) => row.number),
      [1, 2, 3],
    )
    assert.equal(rows[0]?.summary.question, 'Changed?')
  })

  test('replaces the summary of a market, and returns its unchanged details and every field', async () => {
    let storage = await open()
    const listing = marketListing('one')
    const number = storage.markets.put(listing)
    assert.deepEqual([...storage.markets.all()], [{ number, summary: marketSummary(listing) }])
    storage = await settle(storage)
    const changed = { ...marketSummary(listing), status: 'closed', bestBid: null } as const
    storage.markets.putSummary(number, changed)
    assert.deepEqual([...storage.markets.all()], [{ number, summary: changed }])
    storage = await settle(storage)
    assert.deepEqual([...storage.markets.all()], [{ number, summary: changed }])
    const { description, native } = listing
    assert.deepEqual(storage.markets.details(number), { description, native })
    assert.equal(storage.markets.details(99), null)
  })

  test('assigns different numbers to markets whose very long native ids differ in the last character', async () => {
    let storage = await open()
    const [one, other] = [`${'x'.repeat(2_000)}1`, `${'x'.repeat(2_000)}2`]
    assert.equal(storage.markets.put(marketListing(one)), 1)
    assert.equal(storage.markets.put(marketListing(other)), 2)
    storage = await settle(storage)
    assert.equal(storage.markets.number('a', marketListing(other).nativeId), 2)
  })

  test('returns thousands of markets in ascending order of their numbers', async () => {
    let storage = await open()
    for (let count = 1; count <= 2_500; count += 1) storage.markets.put(marketListing(`m${count}`))
    storage = await settle(storage)
    storage.markets.putSummary(7, marketSummary(marketListing('m7', { status: 'resolved' })))
    let expected = 1
    for (const { number, summary } of storage.markets.all()) {
      assert.equal(number, expected)
      assert.equal(summary.nativeId, `m${number}`)
      assert.equal(summary.status, number === 7 ? 'resolved' : 'open')
      expected += 1
    }
    assert.equal(expected, 2_501)
  })

  test('stores, replaces and counts events', async () => {
    let storage = await open()
    const listing = eventListing('EV-1')
    storage.events.put(listing)
    storage.events.put(eventListing('EV-1', { venue: 'a', description: 'other' }))
    storage = await settle(storage)
    storage.events.put({ ...listing, title: 'Changed' })
    storage = await settle(storage)
    assert.equal(storage.events.count(), 2)
    const titles = [...storage.events.all()].map((event) => `${event.venue} ${event.title}`)
    assert.deepEqual(titles.sort(), ['a The event EV-1', 'b Changed'])
    assert.deepEqual(
      [...storage.events.all()].find((event) => event.venue === 'b'),
      eventSummary({ ...listing, title: 'Changed' }),
    )
    const details = storage.events.details('a', listing.nativeId)
    assert.deepEqual(details, { description: 'other', native: { event_ticker: 'EV-1' } })
    assert.equal(storage.events.details('a', eventListing('none').nativeId), null)
  })
}

function smallTablesContract({ open, settle }: StorageUnderTest): void {
  test('replaces the ticks of one hour, and finds the newest tick at or before a given time', async () => {
    let storage = await open()
    const hour = Math.floor(NOON_MS / 3_600_000)
    const price = checkpoint().price
    assert.ok(price !== null)
    storage.ticks.put(1, hour - 30, { seconds: [10], prices: [price] })
    storage.ticks.put(1, hour, { seconds: [0], prices: [price] })
    storage = await settle(storage)
    const ticks = { seconds: [5, 6, 3599], prices: [price, priceMicros(0), price] }
    storage.ticks.put(1, hour, ticks)
    storage.ticks.put(2, hour, { seconds: [], prices: [] })
    storage = await settle(storage)
    assert.deepEqual(storage.ticks.get(1, hour), ticks)
    assert.equal(storage.ticks.get(1, hour + 1), null)
    const at = (time: number) => storage.ticks.at(1, timeMs(time))
    assert.deepEqual(at(NOON_MS + 6_999), { price: 0, timeMs: NOON_MS + 6_000 })
    assert.deepEqual(at(NOON_MS + 5_000), { price, timeMs: NOON_MS + 5_000 })
    const before = { price, timeMs: (hour - 30) * 3_600_000 + 10_000 }
    assert.deepEqual(at(NOON_MS + 4_999), before)
    assert.deepEqual(at(NOON_MS - 1), before)
    assert.equal(at(before.timeMs - 1), null)
    assert.equal(storage.ticks.at(2, timeMs(NOON_MS * 2)), null)
    assert.equal(storage.ticks.oldestHour(1), hour - 30)
    assert.equal(storage.ticks.oldestHour(3), null)
  })

  test('returns stored checkpoints, runs and marks unchanged after storage is reopened', async () => {
    let storage = await open()
    const full = checkpoint()
    const empty = checkpoint({ price: null, bookTimeMs: null, bids: [], asks: [] })
    storage.checkpoints.put(1, full)
    storage.checkpoints.put(2, full)
    storage.checkpoints.put(2, empty)
    const first = storage.runs.begin('epoch-1', timeMs(NOON_MS))
    storage.marks.put('catalogue', 1.5)
    storage = await settle(storage)
    const second = storage.runs.begin('epoch-2', timeMs(NOON_MS + 1))
    storage.marks.put('catalogue', -2)
    storage = await settle(storage)
    assert.deepEqual(storage.checkpoints.get(1), full)
    assert.deepEqual(storage.checkpoints.get(2), empty)
    assert.equal(storage.checkpoints.get(3), null)
    assert.deepEqual([first.number, second.number], [1, 2])
    assert.deepEqual(storage.runs.all(), [first, second])
    assert.equal(storage.marks.get('catalogue'), -2)
    assert.equal(storage.marks.get('other'), null)
  })
}

function accountContract({ open, settle }: StorageUnderTest): void {
  test('stores, replaces, lists and removes accounts and keys', async () => {
    let storage = await open()
    const local = account('local', { passwordHash: null, tier: 'enterprise', socketsMax: 7 })
    await storage.accounts.putAccount(account('one'))
    await Promise.all([
      storage.accounts.putAccount(local),
      storage.accounts.putAccount(account('one', { tier: 'pro', requestsPerMinute: 5 })),
      storage.accounts.putKey(key('k1')),
      storage.accounts.putKey(key('k2')),
    ])
    storage = await settle(storage)
    await storage.accounts.removeKey(key('k1').id)
    await storage.accounts.removeKey(key('never').id)
    await storage.accounts.putKey(key('k2', { lastUsedAtMs: timeMs(NOON_MS) }))
    storage = await settle(storage)
    const accounts = [...storage.accounts.accounts()].sort((a, b) => (a.id < b.id ? -1 : 1))
    assert.deepEqual(accounts, [local, account('one', { tier: 'pro', requestsPerMinute: 5 })])
    assert.deepEqual([...storage.accounts.keys()], [key('k2', { lastUsedAtMs: timeMs(NOON_MS) })])
    assert.equal(storage.isHealthy(), true)
  })

  test('returns revoked tokens, key scopes and token generations unchanged after storage is reopened', async () => {
    let storage = await open()
    const ended = (tokenId: string) => {
      return { tokenId, accountId: account('one').id, expiresAtMs: timeMs(NOON_MS) }
    }
    await Promise.all([
      storage.accounts.putAccount(account('one', { tokenGeneration: 3 })),
      storage.accounts.putKey(key('k1', { scopes: ['read'] })),
      storage.accounts.putKey(key('k2')),
      storage.accounts.putEndedToken(ended('t1')),
      storage.accounts.putEndedToken(ended('t2')),
    ])
    storage = await settle(storage)
    await storage.accounts.removeEndedToken('t1')
    await storage.accounts.removeEndedToken('never')
    storage = await settle(storage)
    assert.deepEqual([...storage.accounts.endedTokens()], [ended('t2')])
    assert.deepEqual([...storage.accounts.accounts()], [account('one', { tokenGeneration: 3 })])
    assert.deepEqual([...storage.accounts.keys()], [key('k1', { scopes: ['read'] }), key('k2')])
  })

  test('stores a disabled account, and removes an account without removing the account’s keys', async () => {
    let storage = await open()
    await storage.accounts.putAccount(account('one'))
    await storage.accounts.putAccount(account('two', { isDisabled: true }))
    await storage.accounts.putKey(key('k1'))
    storage = await settle(storage)
    await storage.accounts.removeAccount(account('one').id)
    await storage.accounts.removeAccount(account('never').id)
    storage = await settle(storage)
    const left = [...storage.accounts.accounts()]
    assert.deepEqual(left, [account('two', { isDisabled: true })])
    assert.deepEqual([...storage.accounts.keys()], [key('k1')])
  })
}

function retentionContract({ open, settle }: StorageUnderTest): void {
  const unlimited = Number.MAX_SAFE_INTEGER

  test('removes expired trades and ticks in batches, and never removes accounts', async () => {
    let storage = await open()
    await storage.accounts.putAccount(account('one'))
    storage.markets.put(marketListing('one'))
    const noonHour = Math.floor(NOON_MS / HOUR_MS)
    for (let day = 0; day < 10; day += 1) {
      for (let count = 0; count < 20; count += 1) {
        const time = timeMs(NOON_MS - day * DAY_MS - count)
        const position = { timeMs: time, run: 1, offset: day * 100 + count, seq: 1 }
        storage.trades.put(traded(count % 2), trade(`${day}-${count}`, position))
      }
      storage.ticks.put(1, noonHour - day * 24, { seconds: [1], prices: [trade('x').price] })
    }
    storage = await settle(storage)
    const limits = { nowMs: timeMs(NOON_MS + HOUR_MS), retentionDays: 5, sizeBytesMax: unlimited }
    let calls = 1
    while (storage.prune({ ...limits, rowsMax: 7 })) {
      calls += 1
      if (calls % 3 === 0) storage = await settle(storage)
      assert.ok(calls < 100)
    }
    assert.ok(calls > 8, 'rows are deleted in slices')
    storage = await settle(storage)
    assert.equal(storage.trades.has(1, '4-1'), true)
    assert.equal(storage.trades.has(1, '6-1'), false)
    assert.equal(storage.ticks.oldestHour(1), noonHour - 4 * 24)
    const left = storage.trades.rangeByOffset({ run: 1, offset: -1, limit: 1_000 })
    assert.equal(left.length, storage.trades.count())
    assert.equal(left.at(-1)?.trade.offset, 419)
    assert.equal(storage.markets.count(), 1)
    assert.equal([...storage.accounts.accounts()].length, 1)
    // Missed trades are fetched again, so a removed trade may return.
    storage.trades.put(traded(1), trade('6-1', { timeMs: timeMs(NOON_MS - 6 * DAY_MS) }))
    assert.equal(storage.trades.get(1, '6-1')?.ordinal, 0)
  })

  test('removes the oldest rows while the database exceeds its size limit, and retains the newest rows', async () => {
    let storage = await open()
    const id = (count: number) => `${'0'.repeat(400)}${count}`
    for (let count = 0; count < 2_000; count += 1) {
      const time = timeMs(NOON_MS - (2_000 - count) * 60_000)
      storage.trades.put(traded(count % 3), trade(id(count), { timeMs: time }))
    }
    storage = await settle(storage)
    await storage.committed()
    const half = Math.floor(storage.sizeBytes() / 2)
    const limits = { nowMs: timeMs(NOON_MS), retentionDays: 365, sizeBytesMax: half }
    while (storage.prune({ ...limits, rowsMax: 100 })) storage = await settle(storage)
    storage = await settle(storage)
    assert.ok(storage.trades.count() > 200, `${storage.trades.count()} trades are left`)
    assert.ok(storage.trades.count() < 1_400, `${storage.trades.count()} trades are left`)
    assert.equal(storage.trades.has(0, id(0)), false)
    assert.equal(storage.trades.has(1_999 % 3, id(1_999)), true)
  })
}
