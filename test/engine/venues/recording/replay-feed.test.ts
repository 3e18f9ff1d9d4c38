import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { VenueEvent } from '../../../../engine/events.ts'
import { nativeMarketId, outcomeId } from '../../../../engine/ids.ts'
import type { MarketListing } from '../../../../engine/market/market.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import { Metrics } from '../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { timeMs } from '../../../../engine/units.ts'
import { parseMarket } from '../../../../engine/venues/kalshi/catalog/listing.ts'
import { Recorder } from '../../../../engine/venues/recording/recorder.ts'
import { parseLine } from '../../../../engine/venues/recording/recording.ts'
import { openReplay, type ReplayOptions } from '../../../../engine/venues/recording/replay-feed.ts'
import type { Venue } from '../../../../engine/venues/venue.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { watchBooks } from '../../../support/fakes/watch-books.ts'
import { testFolder } from '../../../support/rigs/data-folder.ts'

const folder = testFolder('replay')

const snapshot = (seq: number) =>
  JSON.stringify({
    type: 'orderbook_snapshot',
    sid: 1,
    seq,
    msg: { market_ticker: 'T-1', yes_dollars_fp: [['0.4000', '10.00']] },
  })
const delta = (seq: number) =>
  JSON.stringify({
    type: 'orderbook_delta',
    sid: 1,
    seq,
    msg: { market_ticker: 'T-1', price_dollars: '0.4', delta_fp: '-1.00', side: 'yes' },
  })
const trade = JSON.stringify({
  type: 'orders_matched',
  topic: 'activity',
  payload: {
    asset: '123',
    conditionId: '0xabc',
    proxyWallet: '0x1111111111111111111111111111111111111111',
    transactionHash: `0x${'a'.repeat(64)}`,
    side: 'BUY',
    outcomeIndex: 0,
    price: 0.5,
    size: 10,
    timestamp: 1_795_000_000,
  },
})

function listing() {
  const row = parseMarket(
    {
      ticker: 'T-1',
      event_ticker: 'T',
      market_type: 'binary',
      status: 'active',
      yes_sub_title: 'One',
      close_time: '2027-01-01T00:00:00Z',
    },
    null,
  )
  assert.ok(row.kind === 'market')
  return row.listing
}

/** A book stream of venue b and one activity frame of venue a, with 100 ms between frames. */
async function record(name: string): Promise<string> {
  const file = join(folder, name)
  const clock = new ManualClock()
  const recorder = new Recorder({ file, clock })
  recorder.addCatalog('b', { markets: [listing()], events: [] })
  const tap = (text: string, venue: 'a' | 'b', stream: string) => {
    recorder.tap({ connection: 1, receivedAtMs: clock.nowMs(), text }, venue, stream)
    clock.advance(100)
  }
  tap(snapshot(1), 'b', 'books')
  tap(delta(2), 'b', 'books')
  tap(trade, 'a', 'trades')
  tap(delta(4), 'b', 'books')
  tap('<html>', 'b', 'books')
  await recorder.stop()
  assert.deepEqual([recorder.frameCount, recorder.droppedCount], [5, 0])
  return file
}

async function play(file: string, options: ReplayOptions, isCovered = true) {
  const clock = new ManualClock()
  const events: VenueEvent[] = []
  const atMs: number[] = []
  const venues = openReplay(
    file,
    {
      clock,
      random: seededRandom(1),
      log: silentLog,
      metrics: new Metrics(),
      emit: (event) => {
        events.push(event)
        atMs.push(clock.monotonicMs())
      },
    },
    options,
  )
  const watch = async (venue: Venue) => {
    venue.feed.start()
    await venue.catalog.crawl((page) => {
      watchBooks(
        venue.feed,
        page.markets.map(({ nativeId, outcomes, status, openAtMs, closeAtMs }) => ({
          ...{ nativeId, status, openAtMs, closeAtMs },
          outcomes: outcomes.map((outcome) => outcome.id),
        })),
      )
      if (!isCovered) venue.feed.uncover(page.markets.map(({ nativeId }) => nativeId))
    }, new AbortController().signal)
  }
  await Promise.all(venues.map(watch))
  for (let ticks = 0; ticks < 5_000; ticks += 1) {
    if (events.filter((event) => event.kind === 'feedDown').length === 4) break
    await nextTurn()
    clock.advance(5)
  }
  await Promise.all(venues.map((venue) => venue.feed.stop()))
  return { events, atMs, venues }
}

describe('replay of a recording', () => {
  it('writes a header at the start of the recording file, and reads every line unchanged', async () => {
    const file = await record('lines.jsonl')
    const lines = readFileSync(file, 'utf8').trim().split('\n').map(parseLine)
    const kinds = lines.map((line) => line.kind)
    assert.deepEqual(kinds, ['header', 'catalog', 'frame', 'frame', 'frame', 'frame', 'frame'])
  })

  it('rejects a listing with a value that no version of the recorder wrote', () => {
    const kindOf = (changed: Partial<Record<keyof MarketListing, unknown>>) => {
      const page = { markets: [{ ...listing(), ...changed }], events: [] }
      return parseLine(JSON.stringify({ kind: 'catalog', venue: 'b', page })).kind
    }
    assert.equal(kindOf({ otherPayout: 'half', bestBid: 500_000 }), 'catalog')
    for (const changed of [
      { otherPayout: 'third' },
      { status: 'paused' },
      { resolutionStatus: 'guessed' },
      { bestBid: 0.5 },
      { orderSizeMin: 1.5 },
      { volume24h: 0.5 },
      { fees: { now: null, next: null, waivedUntilMs: null } },
    ])
      assert.equal(kindOf(changed), 'unreadable', JSON.stringify(changed))
  })

  it('returns an unreadable line as a value with a reason, and continues with the next line', async () => {
    const bad = ['x', '5', '{"venue":"c"}', '{"kind":"recording","version":9}', '{"venue":"a"}']
    bad.push('{"kind":"catalog","venue":"b","page":{"markets":[{}],"events":[]}}')
    for (const line of bad) assert.equal(parseLine(line).kind, 'unreadable', line)
    const file = await record('bad.jsonl')
    appendFileSync(file, `${bad.join('\n')}\n`)
    const { events } = await play(file, { speed: 'max' })
    assert.equal(events.filter((event) => event.kind === 'bookChange').length, 2)
  })

  it('passes recorded frames with their recorded times through the parser, the sequence check and the mapper', async () => {
    const { events } = await play(await record('path.jsonl'), { speed: 'max' })
    const published = events.filter((event) => event.venue === 'b').map((event) => event.kind)
    // The missing frame and the unreadable frame cause one gap each.
    const body = ['bookSnapshot', 'bookChange', 'feedGap', 'bookChange', 'feedGap']
    assert.deepEqual(published, ['feedUp', 'feedUp', ...body, 'feedDown', 'feedDown'])
    const change = events.findLast((event) => event.kind === 'bookChange')
    assert.equal(change?.receivedAtMs, new ManualClock().nowMs() + 300)
    const gap = events.find((event) => event.kind === 'feedGap')
    assert.ok(gap?.kind === 'feedGap')
    assert.deepEqual(gap.outcomes, [outcomeId('T-1')])
    assert.equal(events.filter((event) => event.kind === 'trade' && event.venue === 'a').length, 1)
  })

  it('omits the books of markets without book coverage', async () => {
    const { events } = await play(await record('uncovered.jsonl'), { speed: 'max' }, false)
    const ofBooks = events.filter(({ kind }) => kind === 'bookSnapshot' || kind === 'bookChange')
    assert.deepEqual(ofBooks, [])
    assert.equal(events.filter((event) => event.kind === 'trade').length, 1)
  })

  it('emits frames at the recorded intervals at speed 1, and at half the intervals at speed 2', async () => {
    const file = await record('pace.jsonl')
    for (const [speed, expectedMs] of [
      [1, 300],
      [2, 150],
    ] as const) {
      const { events, atMs } = await play(file, { speed })
      const first = atMs[events.findIndex((event) => event.kind === 'bookSnapshot')] ?? 0
      const last = atMs[events.findLastIndex((event) => event.kind === 'bookChange')] ?? 0
      assert.ok(Math.abs(last - first - expectedMs) <= 10, `${last - first} ms at speed ${speed}`)
    }
  })

  it('returns the recorded catalogue, and omits markets that were not recorded', async () => {
    const { venues } = await play(await record('catalog.jsonl'), { speed: 'max' })
    const catalog = venues.find((venue) => venue.key === 'b')?.catalog
    const ids = [nativeMarketId('T-1'), nativeMarketId('T-2')]
    const page = await catalog?.fetchMarkets(ids, new AbortController().signal)
    assert.deepEqual(
      page?.markets.map((market) => market.nativeId),
      ['T-1'],
    )
  })

  it('reports trades as lost when the recording does not contain the trades', async () => {
    const { venues } = await play(await record('trades.jsonl'), { speed: 'max' })
    const range = { market: null, fromMs: timeMs(1), toMs: timeMs(9), source: 'backfill' as const }
    assert.deepEqual(await venues[0]?.feed.fetchTrades(range), {
      completeFromMs: 9,
      suspectReason: null,
      newestMs: null,
    })
  })

  it('returns no teams, and no prices from before the recording', async () => {
    const { venues } = await play(await record('teams.jsonl'), { speed: 'max' })
    const { signal } = new AbortController()
    const outcomes: [] = []
    const market = { nativeId: nativeMarketId('T-1'), event: null, series: null, outcomes }
    const range = { fromMs: timeMs(1), toMs: timeMs(9) }
    for (const { pastPrices, teams } of venues) {
      assert.deepEqual(await pastPrices.read(market, range, signal), [])
      assert.deepEqual(await teams(signal), [])
    }
  })

  it('includes the path of the file in the error when the file is missing', () => {
    const parts = { clock: new ManualClock(), random: seededRandom(1), log: silentLog }
    const open = () => openReplay('/no/such', { ...parts, metrics: new Metrics(), emit: () => {} })
    assert.throws(open, /\/no\/such/)
  })

  it('rejects the promise of `stop` when the recorder cannot write the file', async () => {
    const recorder = new Recorder({ file: join(folder, 'no', 'dir'), clock: new ManualClock() })
    await nextTurn()
    recorder.tap({ connection: 1, receivedAtMs: timeMs(1), text: 'x' }, 'b', 'books')
    await assert.rejects(recorder.stop())
  })
})
