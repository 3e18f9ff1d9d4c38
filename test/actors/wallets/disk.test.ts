// A wallet with thousands of events as it really is: the ledger on LMDB, the tally made in the thread, and a second
// process over the same folder. The judge is the naive twin.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../../../engine/clock.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { openWalletThread } from '../../../engine/wallets/thread.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../../storage/lmdb.ts'
import { naiveFigures } from '../../support/twins/wallet-figures.ts'
import { randomHistory } from '../../support/worlds/wallet-histories.ts'
import { settled, WalletWorld } from '../../support/worlds/wallet-venue.ts'

const folder = mkdtempSync(join(tmpdir(), 'twinbook-wallets-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const open = (): Promise<Storage> =>
  openLmdbStorage({
    ...{ dataDir: folder, clock: systemClock, log: silentLog, metrics: new Metrics() },
  })

test('[WALLETS7] a large wallet comes from the disk and the thread as from memory', async () => {
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
    assert.ok((row?.tallyEvents ?? 0) > 0, 'the tally is kept')
    await world.wallets.stop()
    await storage.close()
  }
})
