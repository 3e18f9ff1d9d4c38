import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LiveFills } from '../../../actors/wallets/live-fills.ts'
import { walletHandlers } from '../../../actors/wallets/wallet-commands.ts'
import { WalletWhales } from '../../../actors/wallets/wallet-whales.ts'
import { EngineError } from '../../../engine/errors.ts'
import { nativeMarketId } from '../../../engine/ids.ts'
import { DAY_MS, priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { listing, marketRef } from '../../support/worlds/builders.ts'
import { NOON_MS, trade } from '../../support/worlds/stored.ts'
import { addressOf } from '../../support/worlds/stored-wallets.ts'
import { fillAt, WalletWorld } from '../../support/worlds/wallet-venue.ts'

const NOW = timeMs(NOON_MS)

test('evicts the oldest fills from the stream beyond the limit, and all fills older than ten minutes', () => {
  const live = new LiveFills(3)
  const fill = (secondsAgo: number) => fillAt(NOON_MS - secondsAgo * 1_000)
  for (const ago of [5, 4, 3]) live.add(addressOf(1), fill(ago), NOW)
  live.add(addressOf(2), fill(2), NOW)
  assert.equal(live.count, 3)
  assert.deepEqual(live.of(addressOf(1)), [fill(4), fill(3)])
  live.add(addressOf(3), fill(0), timeMs(NOON_MS + 600_000 - 1_000))
  assert.equal(live.count, 1, 'fills are removed after ten minutes')
  assert.deepEqual(live.of(addressOf(2)), [])
})

test('marks a wallet as a whale for thirty days after its last whale trade, even after a restart', async () => {
  const { whales: table } = openMemoryStorage()
  const market = { number: 1, venue: 'a', nativeId: nativeMarketId('m') } as const
  const row = (id: string, atMs: number, wallet: string | null) => {
    const labels = { outcome: 'Yes', question: 'm?', slug: 'm', eventSlug: null, category: null }
    table.put(market, { ...trade(id, { timeMs: timeMs(atMs) }), ...labels, wallet, fills: 1 })
  }
  const [old, young, late] = [addressOf(1), addressOf(2), addressOf(3)]
  row('old', NOON_MS - 30 * DAY_MS - 1, old)
  for (let index = 0; index < 200; index += 1) row(`none ${index}`, NOON_MS - DAY_MS, null)
  row('young', NOON_MS - 29 * DAY_MS, young.toUpperCase())
  const whales = new WalletWhales(2)
  await whales.load(table, NOW, new AbortController().signal)
  const isWhale = (atMs: number) =>
    [old, young, late].map((one) => whales.isWhale(one, timeMs(atMs)))
  assert.deepEqual(isWhale(NOON_MS), [false, true, false])
  whales.note({ wallet: late, timeMs: NOW })
  whales.note({ wallet: late, timeMs: timeMs(NOON_MS - DAY_MS) })
  assert.deepEqual(isWhale(NOON_MS + 2 * DAY_MS), [false, false, true])
  whales.note({ wallet: old, timeMs: NOW })
  assert.deepEqual([isWhale(NOON_MS), whales.count], [[true, false, true], 2])
})

test('returns in a wallet’s profile whether the wallet is a whale', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, [fillAt(NOON_MS - 3_600_000)])
  assert.equal((await world.open(wallet))?.isWhale, false)
  world.wallets.onWhaleRow(marketRef('m', 1), { wallet, timeMs: NOW })
  assert.equal((await world.open(wallet))?.isWhale, true)
  await world.wallets.stop()
})

test('shows an operator a wallet and the differences between its positions and the venue’s positions', async () => {
  const world = new WalletWorld()
  world.list(listing('m'))
  const wallet = world.wallet(1, [fillAt(NOON_MS - 3_600_000)])
  const token = fillAt(NOON_MS).token ?? assert.fail()
  world.venue.held = [
    {
      ...{ token, market: nativeMarketId('m'), size: sizeMicros(4_000_000), isClosed: false },
      ...{ bought: sizeMicros(10_000_000), realized: usdMicros(0) },
      price: priceMicros(500_000),
    },
  ]
  const show = walletHandlers(world.wallets)['wallet.show'] ?? assert.fail()
  const shown = JSON.parse(
    JSON.stringify(await show({ address: wallet.toUpperCase().replace('X', 'x') })),
  )
  assert.equal(shown.address, wallet)
  assert.deepEqual([shown.totals.volume, shown.totals.trades, shown.ledger.events], [4, 1, 1])
  assert.deepEqual(shown.comparison.table, [
    { market: 'm', token: 'm-yes', what: 'size', ours: 10, theirs: 4 },
  ])
  const refused = async (request: Record<string, unknown>) => {
    const error: unknown = await Promise.resolve(show(request)).catch((one: unknown) => one)
    return error instanceof EngineError ? error.code : error
  }
  assert.equal(await refused({ address: '0x12' }), 'BAD_REQUEST')
  assert.equal(await refused({}), 'BAD_REQUEST')
  assert.equal(await refused({ address: addressOf(9) }), 'NOT_FOUND')
  await world.wallets.stop()
})
