// Reads the trades of an event with 500 markets. Each read advances a manual clock, so the speed of the machine does
// not matter.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../../engine/clock.ts'
import { nativeEventId } from '../../../engine/ids.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { sizeMicros, timeMs } from '../../../engine/units.ts'
import { nativeTradeRoutes } from '../../../http/routes/native-trades.ts'
import { parseQuery } from '../../../http/validation/query.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../../storage/lmdb/lmdb.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { eventListing, listing, NOON } from '../../support/worlds/builders.ts'
import { emptyCatalog } from '../../support/worlds/random-catalog.ts'
import { trade } from '../../support/worlds/stored.ts'

const MARKETS = 500
const TRADES = 1_500
/** Duration of one read, milliseconds. */
const READ_MS = 0.25
/** Maximum reads in a time slice of 2.5 ms, including the last read, which begins within the slice. */
const READS_MAX = 11

const EVENT = nativeEventId('KXBIG-26')
const folder = mkdtempSync(join(tmpdir(), 'native-trades-'))

describe('venue-native trades of an event with many markets', () => {
  const clock = new ManualClock()
  const random = seededRandom('event trades')
  /** Every trade, oldest first: `time market ordinal id`. */
  const wanted: { atMs: number; market: number; ordinal: number; id: string }[] = []
  let storage: Storage
  let get: (query: string) => Promise<{ ids: string[]; cursor: string | null; status: number }>
  let readsOfTurn = 0
  let limitMax = 0

  before(async () => {
    const metrics = new Metrics()
    storage = await openLmdbStorage({
      dataDir: folder,
      clock: systemClock,
      log: silentLog,
      metrics,
    })
    const { catalog } = emptyCatalog(storage)
    const markets = Array.from({ length: MARKETS }, (_, index) =>
      listing(`KXBIG-26-T${index}`, { venue: 'b', event: EVENT, eventSlug: 'kxbig-26' }),
    )
    const events = [eventListing('x', { venue: 'b', nativeId: EVENT, slug: 'kxbig-26' })]
    catalog.take({ markets, events })
    const views = catalog.marketsOfEvent('b', EVENT)
    assert.equal(views.length, MARKETS)
    let at: number = NOON
    for (let index = 0; index < TRADES; index += 1) {
      if (random.next() < 0.3) at += 1 + random.below(5)
      // A few markets have half of the trades.
      const view = views[random.below(random.next() < 0.5 ? 5 : MARKETS)]
      assert.ok(view !== undefined)
      const traded = { number: view.ref.number, venue: view.ref.venue }
      const id = `t${index}`
      const row = trade(id, { timeMs: timeMs(at), size: sizeMicros(4_030_000), run: null })
      const { ordinal } = storage.trades.put(traded, row)
      wanted.push({ atMs: at, market: view.ref.number, ordinal, id })
    }
    wanted.sort(
      (one, two) => one.atMs - two.atMs || one.market - two.market || one.ordinal - two.ordinal,
    )
    await storage.committed()
    const { trades } = storage
    const range = trades.range.bind(trades)
    trades.range = (query) => {
      readsOfTurn += 1
      limitMax = Math.max(limitMax, query.limit)
      clock.advance(READ_MS)
      return range(query)
    }
    const oldestMs = trades.oldestMs.bind(trades)
    trades.oldestMs = (market) => {
      readsOfTurn += 1
      clock.advance(READ_MS)
      return oldestMs(market)
    }
    const [, route] = nativeTradeRoutes({ catalog, clock })
    get = async (query) => {
      const facts = {
        caller: null,
        signal: () => new AbortController().signal,
        address: '',
        isLocal: true,
        requester: () => ['test'],
        dashboard: null,
        header: () => '',
        path: () => '',
      }
      const raw = parseQuery(query)
      assert.ok(route !== undefined && raw !== null)
      const { status, body } = await route.respond(facts, raw, new Uint8Array())
      const parsed = JSON.parse(String(body))
      const ids = parsed.trades.map((row: { trade_id: string }) => row.trade_id)
      return { ids, cursor: parsed.cursor, status }
    }
  })
  after(async () => {
    await storage.close()
    rmSync(folder, { recursive: true })
  })

  /** The maximum number of reads in one tick during `work`. */
  async function longestPiece<Result>(work: () => Promise<Result>) {
    let isOn = true
    let most = 0
    readsOfTurn = 0
    const check = () => {
      most = Math.max(most, readsOfTurn)
      readsOfTurn = 0
      if (isOn) setImmediate(check)
    }
    const promise = work()
    check()
    const result = await promise
    isOn = false
    return { result, most: Math.max(most, readsOfTurn) }
  }

  test('reads a page of trades in time slices, with at most 64 rows of a market at once', async () => {
    limitMax = 0
    for (const query of [
      'limit=100',
      'limit=500',
      'limit=500&order=asc',
      'min_count=99&limit=100',
      'limit=1&start_time=1&order=asc',
    ]) {
      const { most } = await longestPiece(() => get(`event_ticker=${EVENT}&${query}`))
      assert.ok(most <= READS_MAX, `${most} reads in one piece of ${query}`)
    }
    assert.ok(limitMax <= 64, `${limitMax} rows were read of one market`)
  })

  test('returns the trades of five hundred markets in order across pages, each trade once', async () => {
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const behind: string = cursor === '' ? '' : `&cursor=${cursor}`
        const query = `event_ticker=${EVENT}&limit=437&order=${order}${behind}`
        const page = await get(query)
        seen.push(...page.ids)
        cursor = page.cursor
      }
      const ids = wanted.map(({ id }) => id)
      assert.deepEqual(seen, order === 'asc' ? ids : ids.reverse())
    }
  })

  test('filters trades by min_count as an exact decimal', async () => {
    const found = async (count: string) =>
      (await get(`event_ticker=${EVENT}&limit=5&min_count=${count}`)).ids.length
    assert.deepEqual([await found('4.03'), await found('4.030001')], [5, 0])
  })
})
