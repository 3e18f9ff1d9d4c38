// Cost of a response with a price, a book or a market: cached, rendered again, or rendered after a failed cache lookup.
// Cost of a list of 20 markets with no changed market, or one. How long a page of 200 markets on disk blocks the event
// loop. Markets are real actors with the simulated world's books; their long descriptions and native rows are invented.
// Excluded: market lookup, validation, HTTP, a cold page cache.

import { MarketActor } from '../actors/market/market.ts'
import { Matches } from '../actors/matches/matches.ts'
import type { MarketView } from '../actors/views.ts'
import { type Clock, systemClock } from '../engine/clock.ts'
import type { LevelChange, VenueEvent } from '../engine/events.ts'
import type { OutcomeId } from '../engine/ids.ts'
import type { JsonRecord, MarketListing } from '../engine/market/market.ts'
import { silentLog } from '../engine/process/log.ts'
import { Metrics } from '../engine/process/metrics.ts'
import { Publisher } from '../engine/publisher.ts'
import { sizeMicros, timeMs } from '../engine/units.ts'
import { AnswerCache } from '../http/records/answer-cache.ts'
import { partsAnswer, separated } from '../http/records/body-bytes.ts'
import { bookTemplate, fillBook, PLAIN_BOOK } from '../http/records/books.ts'
import { MarketAnswerCache } from '../http/records/market-answer-cache.ts'
import { MarketRecords } from '../http/records/markets.ts'
import { fillPrice, priceTemplate } from '../http/records/prices.ts'
import { mapInSlices } from '../http/request/sliced-rows.ts'
import type { Storage } from '../storage/contract/storage.ts'
import { marketParts, NAMES } from '../test/support/worlds/builders.ts'
import {
  aimedRow,
  type Bench,
  check,
  hashOf,
  newTimes,
  type Row,
  ratioRow,
  record,
  timeInRotation,
  timesRow,
  withLmdb,
} from './harness.ts'
import { listingOf, type SimLoad, simLoad } from './sim-load.ts'
import { RECEIVED_AT, venuePath } from './venue-path.ts'

const SEED = 6
const BATCH = 50
const PAGE = 200
const LIST = 20
/** For a list with one changed row. The rest bench measures the additional cost of HTTP. */
const CHANGED_LIST_MICROS_MAX = 100
const NOW_MS = RECEIVED_AT + 1_234
const EPOCH = 'bench'
const QUOTED_EPOCH = JSON.stringify(EPOCH)

export const bench: Bench = {
  name: 'answers',
  question:
    'What does an answer cost, kept and written anew, and how long does a cold page hold the loop?',
  excludes: 'finding the market, validation, HTTP, a cold page cache',
  async run({ isSmall }) {
    const load = simLoad({
      seed: SEED,
      marketsPerVenue: isSmall ? 20 : 150,
      frameCount: isSmall ? 2_000 : 20_000,
    })
    return withLmdb(async (storage) => {
      const { markets, emit } = openMarkets(load, storage)
      await storage.committed()
      const answerCount = isSmall ? 2_000 : 100_000
      const texts: string[] = []
      const rows = [
        ...timeKind('price', markets, answerCount, texts),
        ...timeKind('book', markets, answerCount, texts),
        ...timeKind('market', markets, answerCount / 5, texts),
        ...timeLists(markets.slice(0, LIST), emit, isSmall ? 20 : 4_000),
        ...(await timePages(markets, isSmall ? 5 : 200)),
      ]
      const checked = `${texts.length} kept answers equal those written anew`
      return { rows, state: { hash: hashOf(texts), checked, isRepeatable: true } }
    })
  },
}

/** The load's markets with their books; each has some 2 KB of rules and 3 KB of native row on disk. */
function openMarkets(
  load: SimLoad,
  storage: Storage,
): { readonly markets: readonly MarketView[]; readonly emit: (event: VenueEvent) => void } {
  const publisher = new Publisher({ epoch: EPOCH, log: silentLog, metrics: new Metrics() })
  const { parts } = marketParts({ publisher, storage, nowMs: () => RECEIVED_AT })
  const actors = new Map<OutcomeId, MarketActor>()
  const all: MarketActor[] = []
  for (const market of load.markets) {
    const listing: MarketListing = { ...listingOf(market), ...longTexts(market.listing.nativeId) }
    const { description, native, ...summary } = listing
    const number = storage.markets.put({ ...summary, description, native })
    const { venue, nativeId } = summary
    const id = NAMES.marketId(venue, nativeId)
    const platform = NAMES.platform(venue)
    const actor = new MarketActor({ id, number, venue, platform, nativeId }, summary, parts)
    for (const outcome of summary.outcomes) actors.set(outcome.id, actor)
    all.push(actor)
  }
  const emit = (event: VenueEvent) => {
    if (event.kind !== 'bookSnapshot' && event.kind !== 'bookChange') return
    actors.get(event.outcome)?.receive(event)
  }
  for (const venue of ['a', 'b'] as const) {
    const take = venuePath(venue, load, emit)
    for (const frame of [...load.snapshots, ...load.frames]) {
      if (frame.venue === venue) take(frame.text)
    }
  }
  return { markets: all, emit }
}

function longTexts(name: string): { description: string; native: JsonRecord } {
  const description = `This market about ${name} resolves to “Yes” if it happens. `.repeat(30)
  const native = Object.fromEntries(
    Array.from({ length: 80 }, (_, index) => [`field${index}`, `value ${index} of ${name}`]),
  )
  return { description, native }
}

/** Methods that produce the same text. */
interface Writers {
  readonly anew: (view: MarketView) => string
  /** Repeated request without a change. */
  readonly kept: (view: MarketView) => string
  /** Cache miss, rendering, and storing in the cache. */
  readonly missed: (view: MarketView) => string
}

const NOTHING_CACHED = { countMax: 0, bytesMax: 2 ** 30 }
const NO_ANSWERS_CACHED = { prices: NOTHING_CACHED, books: NOTHING_CACHED }

function writers(): Readonly<Record<'price' | 'book' | 'market', Writers>> {
  const hot = new MarketAnswerCache({ epoch: EPOCH })
  const cold = new MarketAnswerCache({ epoch: EPOCH }, NO_ANSWERS_CACHED)
  const matches = new Matches()
  const [records, others] = [new MarketRecords(matches), new MarketRecords(matches, NOTHING_CACHED)]
  return {
    price: {
      anew: (view) => fillPrice(priceTemplate(view), NOW_MS),
      kept: (view) => hot.price(view, NOW_MS),
      missed: (view) => cold.price(view, NOW_MS),
    },
    book: {
      anew: (view) => fillBook(bookTemplate(view, QUOTED_EPOCH, PLAIN_BOOK), NOW_MS),
      kept: (view) => hot.book(view, NOW_MS),
      missed: (view) => cold.book(view, NOW_MS),
    },
    market: {
      anew: (view) => new MarketRecords(matches).text(view, NOW_MS),
      kept: (view) => records.text(view, NOW_MS),
      missed: (view) => others.text(view, NOW_MS),
    },
  }
}

/** Renders the answers of all markets repeatedly, one method after the other. */
function timeKind(
  kind: 'price' | 'book' | 'market',
  markets: readonly MarketView[],
  answerCount: number,
  texts: string[],
): Row[] {
  const { anew, kept: stored, missed } = writers()[kind]
  for (const view of markets) {
    const [one, two, three] = [anew(view), missed(view), stored(view)]
    check(
      one === two && two === three && three === stored(view),
      `${kind} of ${view.ref.id} differs`,
    )
    texts.push(one)
  }
  const contestant = (write: (view: MarketView) => string) => {
    const times = newTimes()
    const batch = (from: number, count: number) => {
      for (let index = from; index < from + count; index += 1) {
        const view = markets[index % markets.length]
        // Reads every byte, as the socket does: V8 joins a concatenation only when it is read.
        if (view !== undefined) Buffer.byteLength(write(view))
      }
    }
    return { times, batch }
  }
  const [ours, plain, cold] = [contestant(stored), contestant(anew), contestant(missed)]
  timeInRotation([ours, plain, cold], { operationCount: answerCount, batchCount: BATCH })
  return [
    timesRow(`${kind}: kept`, ours.times),
    timesRow(`${kind}: written anew`, plain.times),
    timesRow(`${kind}: looked for in vain, written and put`, cold.times),
    ratioRow(`${kind}: anew / kept`, plain.times, ours.times),
  ]
}

/** With this clock each list is written in one piece, however slow the machine is. The cold pages test the slices. */
const STILL_CLOCK: Clock = { ...systemClock, monotonicMs: () => 0 }

/** Repeats a list request, alternately unchanged and after an untimed change of one row's book. */
function timeLists(
  views: readonly MarketView[],
  emit: (event: VenueEvent) => void,
  listCount: number,
): Row[] {
  const [records, answers] = [new MarketRecords(new Matches()), new AnswerCache()]
  const parts = ['{"markets":[', ...separated(views), ']}']
  const write = () => partsAnswer(STILL_CLOCK, parts, (view) => records.encoded(view, NOW_MS))
  const list = (): string | Uint8Array => {
    const facts = () => views.map((view) => records.cachedNumber(view, NOW_MS))
    const answer = answers.answer('list', facts, write)
    if (answer instanceof Promise)
      throw new Error('a list is written in one piece while time stands still')
    answer.whenTaken?.()
    return answer.body ?? ''
  }
  const change = (number: number): void => {
    const view = views[number % views.length]
    const level = view?.book().bids[0]
    const outcome = view?.summary.outcomes[0]
    if (view === undefined || level === undefined || outcome === undefined) return
    const changed: LevelChange = {
      side: 'bid',
      price: level.price,
      size: sizeMicros(1_000 + number),
    }
    const times = { venueTimeMs: timeMs(NOW_MS + number), receivedAtMs: timeMs(NOW_MS + number) }
    const { venue } = view.ref
    const about = { kind: 'bookChange', venue, outcome: outcome.id, mode: 'absolute' } as const
    emit({ ...about, ...times, changes: [changed], top: null })
  }
  const [same, changed] = [newTimes(), newTimes()]
  timeInRotation(
    [
      { times: same, batch: () => void list() },
      {
        times: changed,
        beforeBatch: change,
        batch: () => void list(),
        afterBatch: () => void list(),
      },
    ],
    { operationCount: listCount, batchCount: 1 },
  )
  const anew = new MarketRecords(new Matches())
  const rows = views.map((view) => anew.text(view, NOW_MS))
  check(Buffer.from(list()).toString() === `{"markets":[${rows}]}`, 'a list has its rows of now')
  const micros = changed.getValueAtPercentile(50) / 1_000
  return [
    timesRow(`list of ${LIST}: nothing changed`, same),
    timesRow(`list of ${LIST}: one row changed`, changed),
    aimedRow(
      `list of ${LIST}: one row changed, p50`,
      micros,
      { atMost: CHANGED_LIST_MICROS_MAX },
      'µs',
    ),
  ]
}

/** Pages of uncached records, in one piece and in time slices. */
async function timePages(markets: readonly MarketView[], pageCount: number): Promise<Row[]> {
  const [complete, piece, total] = [newTimes(), newTimes(), newTimes()]
  const matches = new Matches()
  for (let page = 0; page < pageCount; page += 1) {
    const views = Array.from({ length: PAGE }, (_, index) => {
      const view = markets[(page * 37 + index) % markets.length]
      if (view === undefined) throw new RangeError('a bench needs markets')
      return view
    })
    // Renders a record for each market, also if a small load repeats its markets.
    const cold = () => {
      const records = new MarketRecords(matches, NOTHING_CACHED)
      return (view: MarketView) => records.text(view, NOW_MS)
    }
    const startedMs = systemClock.monotonicMs()
    const texts = views.map(cold())
    const totalMs = systemClock.monotonicMs()
    record(complete, totalMs - startedMs)
    const sliced = mapInSlices(systemClock, views, cold())
    record(piece, systemClock.monotonicMs() - totalMs)
    check((await sliced).join() === texts.join(), 'a page in slices is the page')
    record(total, systemClock.monotonicMs() - totalMs)
  }
  return [
    timesRow(`page of ${PAGE}, none kept: in one piece`, complete),
    timesRow(`page of ${PAGE}, none kept: first slice`, piece),
    timesRow(`page of ${PAGE}, none kept: in slices, to the end`, total),
  ]
}
