// Cost of one frame from text to events, at each venue. The simulator's renderers produce the frames that a connection
// reading every market would receive. They go through the connectors' own parse, sequence check and map. Events are
// applied to books between the batches, off the clock; finally the books are compared with the simulator's.
// Excluded: socket, actors, publishing. JSON.parse alone is timed as a baseline.

import type { VenueEvent } from '../engine/events.ts'
import { OrderBook } from '../engine/market/order-book.ts'
import type { SimVenue } from '../engine/venues/simulator/model.ts'
import {
  type Bench,
  check,
  figureRow,
  hashOf,
  newTimes,
  type Row,
  ratioRow,
  timeInRotation,
  timesRow,
} from './harness.ts'
import { bookLine, type SimFrame, type SimLoad, simLoad } from './sim-load.ts'
import { venuePath } from './venue-path.ts'

const SEED = 2
const BATCH = 50

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
] as const satisfies readonly (readonly [SimVenue, string])[]

function timeVenue(
  load: SimLoad,
  { venue, name }: { venue: SimVenue; name: string },
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
  const take = venuePath(venue, load, emit)
  for (const { text } of load.snapshots.filter(isOfVenue)) take(text)
  eventCount = 0
  const complete = newTimes()
  const alone = newTimes()
  const fullBatch = (from: number, count: number) => {
    for (let index = from; index < from + count; index += 1) take(frames[index]?.text ?? '')
  }
  const aloneBatch = (from: number, count: number) => {
    for (let index = from; index < from + count; index += 1) {
      const text = frames[index]?.text ?? '0'
      if (JSON.parse(text) !== null) parsedCount += 1
      charCount += text.length
    }
  }
  timeInRotation(
    [
      { times: complete, batch: fullBatch, afterBatch: () => books.flush() },
      { times: alone, batch: aloneBatch },
    ],
    { operationCount: frames.length, batchCount: BATCH },
  )
  check(parsedCount === frames.length && eventCount > 0, `${name}: not every frame was read`)
  return [
    timesRow(`${name}: parse and map a frame`, complete),
    timesRow(`${name}: JSON.parse alone`, alone),
    ratioRow(`${name}: parse and map / JSON.parse`, complete, alone),
    figureRow(
      `${name}: load`,
      `${frames.length} frames of ${Math.round(charCount / frames.length)} characters on average, ${eventCount} events`,
    ),
  ]
}

/** Buffers events and applies them to books while the timing is stopped. */
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
