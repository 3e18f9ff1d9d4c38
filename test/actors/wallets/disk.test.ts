import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWalletThread } from '../../../engine/wallets/wallet-thread.ts'
import { naiveFigures } from '../../support/reference/wallet-figures.ts'
import { openData, testFolder } from '../../support/rigs/data-folder.ts'
import { randomHistory } from '../../support/worlds/wallet-histories.ts'
import { settled, WalletWorld } from '../../support/worlds/wallet-venue.ts'

const folder = testFolder('wallets')

const open = () => openData(folder)

test('returns the same large wallet from LMDB through the worker thread as from memory', async () => {
  const { events, markets } = randomHistory(77, {
    ...{ isComplete: true, eventCount: 4_000, groupCount: 4 },
  })
  const byId = new Map(markets.map((market) => [market.nativeId, market]))
  const endMs = (events.at(-1)?.timeMs ?? 0) + 600_000
  const { totals, positions } = naiveFigures(events, (id) => byId.get(id) ?? null, [])
  for (const run of ['first', 'second']) {
    const storage = await open()
    const world = new WalletWorld({ startMs: endMs, storage, port: openWalletThread() })
    for (const market of markets) {
      storage.wallets.putMarket({ ...market, isConverted: false })
    }
    const wallet = world.wallet(1, events)
    let view = await world.open(wallet)
    while (view?.isComplete !== true) {
      await settled()
      view = await world.open(wallet)
    }
    assert.deepEqual(view.totals, totals, run)
    const own = (await view.positions()).map(({ token, balance, cost, realized }) => {
      return { token, balance, cost, realized }
    })
    assert.deepEqual(
      own.sort((one, other) => (one.token < other.token ? -1 : 1)),
      positions.map(({ token, balance, cost, realized }) => ({ token, balance, cost, realized })),
    )
    const row = storage.wallets.get(wallet)
    assert.equal(row?.events, events.length)
    assert.ok((row?.pnlEvents ?? 0) > 0, 'the PnL state is stored')
    await world.wallets.stop()
    await storage.close()
  }
})
