import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { WalletEventView, WalletView } from '../../../actors/wallets/views.ts'
import { EngineError } from '../../../engine/errors.ts'
import { nativeMarketId } from '../../../engine/ids.ts'
import { activityAnswer } from '../../../http/routes/wallets.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { FakeWallet, fakeAddress, randomWallet } from '../../support/fakes/wallets.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { NOON } from '../../support/worlds/builders.ts'

const EVENTS = 6_000
/** Maximum number of events read in one event-loop tick. */
const TICK_ROWS_MAX = 128

/** Counts the events that are read and the markets that are looked up. */
class CountedWallet extends FakeWallet {
  rowsInTick = 0
  rowsRead = 0
  lookupCount = 0
  onRead: () => void = () => {}

  override events(query: Parameters<WalletView['events']>[0]): readonly WalletEventView[] {
    this.rowsInTick += query.limit
    this.onRead()
    const rows = super.events(query)
    this.rowsRead += rows.length
    const note = () => {
      this.lookupCount += 1
    }
    return rows.map((row) => ({
      ...row,
      get facts() {
        note()
        return row.facts
      },
    }))
  }
}

/**
 * The purchases are in markets that the catalogue removed. The oldest event is a split. The second oldest event is in a
 * different market.
 */
function countedWallet(pair: string): CountedWallet {
  const proxy = fakeAddress(pair)
  const { ledger } = randomWallet({ proxy, eventCount: EVENTS, nowMs: NOON }, [])
  const wallet = new CountedWallet(proxy, NOON)
  for (const [index, row] of ledger.entries()) {
    const market = nativeMarketId(index === 1 ? '0xrare' : '0xusual')
    const event = { ...row.event, kind: index === 0 ? 'split' : 'buy', market } as const
    wallet.ledger.push({ ...row, event })
  }
  return wallet
}

let server: ApiServer
before(async () => {
  server = await openApiServer()
})
after(() => server.stop())

test('reads at most 128 wallet events per event-loop tick, however rare matching events are', async () => {
  const wallet = countedWallet('a1')
  server.engine.wallets.known.push(wallet)
  for (const [path, rowCount, readMin, lookupsMax] of [
    ['activity?type=SPLIT', 1, EVENTS, 2],
    ['activity?type=MERGE', 0, EVENTS, 0],
    ['trades?market_id=venue_a_0xrare', 1, EVENTS, 3],
    ['trades?limit=500', 500, 501, 1_500],
    ['trades?limit=5', 5, 6, 15],
  ] as const) {
    wallet.rowsRead = 0
    wallet.lookupCount = 0
    let most = 0
    let isOver = false
    const check = () => {
      most = Math.max(most, wallet.rowsInTick)
      wallet.rowsInTick = 0
      if (!isOver) setImmediate(check)
    }
    check()
    const { status, body } = await server.get(`/v1/wallets/${wallet.profile.proxy}/${path}`)
    isOver = true
    assert.equal(status, 200)
    const rows = body.activities ?? body.trades
    assert.ok(Array.isArray(rows))
    assert.equal(rows.length, rowCount, path)
    assert.ok(wallet.rowsRead >= readMin && wallet.rowsRead <= readMin + 2 * TICK_ROWS_MAX, path)
    assert.ok(most > 0 && most <= TICK_ROWS_MAX, `${path}: ${most} in one tick`)
    assert.ok(wallet.lookupCount <= lookupsMax, `${path}: ${wallet.lookupCount} markets looked up`)
  }
})

test('counts the time to load a slow wallet towards the time limit of the scan', async () => {
  const clock = new ManualClock()
  const { wallets, catalog } = server.engine
  const wallet = countedWallet('b2')
  wallet.onRead = () => clock.advance(10)
  const open = async () => {
    clock.advance(3_500)
    return wallet
  }
  const engine = { wallets: { count: 1, ranking: wallets.ranking.bind(wallets), open } }
  const requested = {
    ...{ address: wallet.profile.proxy, signal: new AbortController().signal },
    requester: ['test'],
    query: { order: 'desc' as const, limit: 5, type: ['MERGE' as const] },
  }
  const beganMs = clock.monotonicMs()
  const answer = (rowsMs: number) => {
    wallet.onRead = () => clock.advance(rowsMs)
    return activityAnswer({ engine, catalog, clock }, requested)
  }
  await assert.rejects(
    answer(100),
    (error) => error instanceof EngineError && error.status === 503 && /narrow/.test(error.detail),
  )
  const tookMs = clock.monotonicMs() - beganMs
  assert.ok(tookMs < 5_000, `${tookMs} ms`)
  assert.equal((await answer(10)).status, 200, 'a scan that ends in time is answered')
})
