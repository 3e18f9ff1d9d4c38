// What does one frame cost from its text to its events, at each venue? Frames are rendered by the
// simulator's own renderers, as one connection that reads every market would get them, and go through
// the connectors' own parse, sequence check and map. The events are applied to books between the batches, off
// the clock, and at the end the books are compared with the simulator's.
// Excluded: the socket, the actors, publishing. JSON.parse alone is timed beside it as a baseline.

import type { VenueEvent } from '../engine/events.ts'
import type { VenueKey } from '../engine/ids.ts'
import { silentLog } from '../engine/log.ts'
import { Metrics } from '../engine/metrics.ts'
import { OrderBook } from '../engine/order-book.ts'
import { type TimeMs, timeMs } from '../engine/units.ts'
import { KalshiStream, Tally } from '../engine/venues/kalshi/stream.ts'
import { PolymarketMap } from '../engine/venues/polymarket/map.ts'
import { parseFrame } from '../engine/venues/polymarket/parse.ts'
import { Tracks } from '../engine/venues/polymarket/tracks.ts'
import {
  type Bench,
  check,
  figureRow,
  hashOf,
  newTimes,
  type Row,
  ratioRow,
  timeInTurns,
  timesRow,
} from './harness.ts'
import { bookLine, listingOf, type SimFrame, type SimLoad, simLoad } from './sim-load.ts'

const SEED = 2
const BATCH = 50
const RECEIVED_AT = timeMs(Date.UTC(2026, 10, 20, 12))

export const bench: Bench = {
  name: 'map',
  question: 'How long does a frame take from its text to its events (parse and map), per venue?',
  excludes: 'sockets, actors, books, publishing',
  async run({ isSmall }) {
    const load = simLoad({
      seed: SEED,
      marketsPerVenue: isSmall ? 20 : 200,
      frameCount: isSmall ? 3_000 : 200_000,
    })
    const rows: Row[] = []
    const books = new Books()
    for (const [venue, name] of VENUES) {
      rows.push(...timeVenue(load, { venue, name }, books))
    }
    const lines = load.markets.map((market) => {
      const { nativeId, venue } = market.listing
      const id = venue === 'a' ? market.listing.tokens[0] : nativeId
      const line = books.line(id)
      check(line === bookLine(id, market.book), `the book of ${nativeId} differs from the world's`)
      return line
    })
    const checked = `${lines.length} books rebuilt from the events equal the simulated world's`
    return { rows, state: { hash: hashOf(lines.sort()), checked, isRepeatable: true } }
  },
}

const VENUES = [
  ['a', 'Polymarket'],
  ['b', 'Kalshi'],
] as const satisfies readonly (readonly [VenueKey, string])[]

/** Takes a frame to its events. */
type Way = (text: string) => void

function timeVenue(
  load: SimLoad,
  { venue, name }: { venue: VenueKey; name: string },
  books: Books,
): Row[] {
  const isOfVenue = (frame: SimFrame) => frame.venue === venue
  const frames = load.frames.filter(isOfVenue)
  let eventCount = 0
  let charCount = 0
  let parsedCount = 0
  const emit = (event: VenueEvent) => {
    eventCount += 1
    books.take(event)
  }
  const way = venue === 'a' ? polymarketWay(load, emit) : kalshiWay(emit)
  for (const { text } of load.snapshots.filter(isOfVenue)) way(text)
  eventCount = 0
  const whole = newTimes()
  const alone = newTimes()
  const wholeBatch = (from: number, count: number) => {
    for (let index = from; index < from + count; index += 1) way(frames[index]?.text ?? '')
  }
  const aloneBatch = (from: number, count: number) => {
    for (let index = from; index < from + count; index += 1) {
      const text = frames[index]?.text ?? '0'
      if (JSON.parse(text) !== null) parsedCount += 1
      charCount += text.length
    }
  }
  timeInTurns(
    [
      { times: whole, batch: wholeBatch, afterBatch: () => books.flush() },
      { times: alone, batch: aloneBatch },
    ],
    { operationCount: frames.length, batchCount: BATCH },
  )
  check(parsedCount === frames.length && eventCount > 0, `${name}: not every frame was read`)
  return [
    timesRow(`${name}: parse and map a frame`, whole),
    timesRow(`${name}: JSON.parse alone`, alone),
    ratioRow(`${name}: parse and map / JSON.parse`, whole, alone),
    figureRow(
      `${name}: load`,
      `${frames.length} frames of ${Math.round(charCount / frames.length)} characters on average, ${eventCount} events`,
    ),
  ]
}

function polymarketWay(load: SimLoad, emit: (event: VenueEvent) => void): Way {
  const tracks = new Tracks()
  for (const market of load.markets) {
    if (market.listing.venue !== 'a') continue
    const { nativeId, outcomes, status } = listingOf(market)
    const ids = outcomes.map(({ id }) => id)
    tracks.add({ nativeId, outcomes: ids, status, openAtMs: null, closeAtMs: null })
  }
  const map = new PolymarketMap({
    tracks,
    emit,
    onRejected: (reason) => check(false, `a frame was refused: ${reason}`),
    onBook: () => undefined,
    onTick: () => undefined,
  })
  return (text) => {
    const parsed = parseFrame(text)
    if (parsed.kind !== 'messages') return check(false, 'a frame had no messages')
    for (const message of parsed.messages) {
      if (message.kind === 'rejected') check(false, `a message was refused: ${message.reason}`)
      else map.map(message, RECEIVED_AT)
    }
  }
}

function kalshiWay(emit: (event: VenueEvent) => void): Way {
  const fail = (why: string) => check(false, `venue b: ${why}`)
  const tally = new Tally(new Metrics(), silentLog)
  const stream = new KalshiStream(
    { emit, onReply: () => fail('reply'), onGap: () => fail('gap'), onLost: () => fail('lost') },
    tally,
  )
  const receivedAtMs: TimeMs = RECEIVED_AT
  return (text) => stream.take({ connection: 1, receivedAtMs, text })
}

/** Keeps events until the clock stands still, then applies them to books. */
class Books {
  readonly #books = new Map<string, OrderBook>()
  #waiting: VenueEvent[] = []

  take(event: VenueEvent): void {
    this.#waiting.push(event)
  }

  flush(): void {
    for (const event of this.#waiting) this.#apply(event)
    this.#waiting = []
  }

  #apply(event: VenueEvent): void {
    if (event.kind === 'bookSnapshot') {
      this.#book(event.outcome).replace(event.bids, event.asks)
    } else if (event.kind === 'bookChange') {
      const book = this.#book(event.outcome)
      for (const change of event.changes) {
        if (event.mode === 'absolute') book.set(change)
        else book.add(change)
      }
    }
  }

  #book(outcome: string): OrderBook {
    let book = this.#books.get(outcome)
    if (book === undefined) {
      book = new OrderBook()
      this.#books.set(outcome, book)
    }
    return book
  }

  line(id: string): string {
    const book = this.#books.get(id)
    const bids = book?.levels('bid') ?? []
    return bookLine(id, { bids, asks: book?.levels('ask') ?? [] })
  }
}
