// Compares the tape with a live subscriber and with the simulated venues, while all faults occur and the engine is
// killed three times. With TEST_LONG=1: ten minutes and 1,000 random times.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Level } from '../../engine/events.ts'
import { type Random, seededRandom } from '../../engine/random.ts'
import { tapeFolder } from '../../engine/tape/layout.ts'
import type { Lost } from '../../engine/tape/lost.ts'
import { hourRows } from '../../storage/tape/export/hour-rows.ts'
import { TABLES } from '../../storage/tape/export/tables.ts'
import { Tape, type TapeRecord } from '../../storage/tape/tape.ts'
import { type Message, StreamFollower } from '../support/clients/stream-follower.ts'
import { compareTrades, Rig, type ServiceLocations } from '../support/rigs/full-service.ts'
import { freePorts } from '../support/rigs/processes.ts'

const isLong = process.env.TEST_LONG === '1'
const seconds = Number(process.env.TAPE_SECONDS ?? (isLong ? 600 : 40))
const times = Number(process.env.TAPE_TIMES ?? (isLong ? 1_000 : 60))
const seed = process.env.SEED ?? 'tape'
const KILLS = 3
const PLATFORMS = ['venue_a', 'venue_b'] as const
/** Messages are dated when they are encoded, rows of the tape when they are published. On a busy machine both can differ. */
const CLOCKS_MS = 1_000
/** A trade that happened this long before a loss can be published within it. */
const LATE_MS = 30_000
const SETTLE_TRIES = 40
const EVER = { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER }

type Levels = readonly (readonly [number, number])[]
const hashOf = (bids: Levels, asks: Levels): number => crc32(JSON.stringify([bids, asks]))
const EMPTY = hashOf([], [])

/** A book that a subscriber had from a time on. A replaced book has the same seq as the one before. */
interface Seen {
  readonly publishedMs: number
  readonly seq: number
  readonly hash: number
}

/** What a subscriber received from one run of the engine. */
class LiveSession {
  readonly books = new Map<string, Seen[]>()
  /** Announced losses of trades, as text, with their times. */
  readonly gaps: { readonly text: string; readonly publishedMs: number }[] = []
  epoch = ''
  fromMs = 0
  toMs = 0
  readonly follower: StreamFollower

  constructor({ api, key }: ServiceLocations) {
    const url = `${api.replace('http', 'ws')}/v1/ws?api_key=${key}`
    this.follower = new StreamFollower(url, (message) => this.#take(message))
  }

  async follow(): Promise<void> {
    await this.follower.follow('trades')
    await this.follower.follow('orderbook')
    this.fromMs = this.toMs
  }

  /** Whether the subscriber was connected at a time, and before and after it. */
  covers(ms: number): boolean {
    return ms > this.fromMs + CLOCKS_MS && ms < this.toMs - CLOCKS_MS
  }

  /** The books that the subscriber had around a time. */
  around(id: string, ms: number): readonly Seen[] {
    const seen = this.books.get(id) ?? []
    const first = seen.findLastIndex(({ publishedMs }) => publishedMs < ms - CLOCKS_MS)
    return seen.slice(Math.max(first, 0)).filter(({ publishedMs }) => publishedMs < ms + CLOCKS_MS)
  }

  #take(message: Message): void {
    const { type, channel, market_id: id = '', epoch, published_ms: publishedMs = 0 } = message
    this.toMs = Math.max(this.toMs, publishedMs)
    if (type === 'gap') this.gaps.push({ text: gapText({ ...message }), publishedMs })
    const book = this.follower.books.get(id)
    if (channel !== 'orderbook' || (type !== 'snapshot' && type !== 'update')) return
    if (book === undefined) return
    this.epoch = epoch ?? ''
    const seen = this.books.get(id) ?? []
    this.books.set(id, seen)
    const hash = hashOf(book.levels('bids'), book.levels('asks'))
    seen.push({ publishedMs, seq: book.seq, hash })
  }
}

const gapText = (gap: Readonly<Record<string, unknown>>): string =>
  JSON.stringify([gap.market_id ?? gap.platform, gap.from_ms, gap.to_ms, gap.count ?? null])

test('records on the tape what a live subscriber receives, and each trade once, through faults and kills', async (t) => {
  const random = seededRandom(seed)
  const rig = new Rig()
  const sessions: LiveSession[] = []
  const connect = async (locations: ServiceLocations) => {
    const session = new LiveSession(locations)
    sessions.push(session)
    await session.follow()
    return session
  }
  try {
    await rig.startVenues({ messagesPerSecond: 200, marketsPerVenue: 40, faults: 'on' })
    const port = String(await freePorts(1))
    let { engine, locations } = await rig.startEngine({ PORT: port })
    let session = await connect(locations)
    const sinceMs = session.fromMs
    for (let kill = 0; kill <= KILLS; kill += 1) {
      await pause((seconds * 1_000 * (0.5 + random.next())) / (KILLS + 1))
      if (kill === KILLS) break
      session.follower.close()
      assert.equal(await engine.end('SIGKILL'), null)
      ;({ engine, locations } = await rig.startEngine({ PORT: port }))
      session = await connect(locations)
    }
    await rig.flow('pause')
    let trades = await checkTrades(locations)
    // Trades that the venue did not send over the stream are fetched once a minute.
    for (let tries = 0; trades.missing.length > 0 && tries < SETTLE_TRIES; tries += 1) {
      await pause(3_000)
      trades = await checkTrades(locations)
    }
    session.follower.close()
    assert.deepEqual(sessions.flatMap(({ follower }) => follower.faults).slice(0, 5), [])
    assert.equal(await engine.end('SIGTERM'), 0)
    const tape = new Tape(tapeFolder(rig.dataDir))
    const records = [...tape.read(EVER)]
    const losses = records.flatMap(({ item, platform }) =>
      item.kind === 'lost' ? [{ ...item, platform }] : [],
    )
    const books = checkBooks(tape, sessions, { random, losses })
    const gaps = checkGaps(records, sessions)
    t.diagnostic(
      `${records.length} records, ${losses.map(({ platform, cause, fromUs, toUs }) => `${platform} ${cause} ${Math.round((toUs - fromUs) / 1_000)} ms`).join(', ')}; ${books.compared} books compared at ${times} times, ${books.absent} not on the tape yet; ${gaps.announced} gaps announced; ${trades.due} trades, ${trades.lost} in losses`,
    )
    assert.equal(losses.filter(({ cause }) => cause === 'killed').length, KILLS * PLATFORMS.length)
    assert.deepEqual(
      losses.filter(({ cause }) => cause !== 'killed'),
      [],
    )
    assert.deepEqual(books.wrong.slice(0, 5), [])
    assert.ok(books.compared >= times, `${books.compared} books`)
    assert.deepEqual(gaps.wrong.slice(0, 5), [])
    assert.deepEqual(trades.twice.slice(0, 5), [])
    assert.deepEqual(trades.missing.slice(0, 5), [])
    assert.ok(trades.due > 0)

    async function checkTrades(at: ServiceLocations) {
      const found = new Map<string, number>()
      const lostMs: { fromMs: number; toMs: number }[] = []
      const tape = new Tape(tapeFolder(rig.dataDir))
      for (const { item } of tape.read(EVER)) {
        if (item.kind !== 'lost') continue
        lostMs.push({ fromMs: item.fromUs / 1_000, toMs: item.toUs / 1_000 })
      }
      const [idAt, tradeAt] = ['market_id', 'trade_id'].map((name) =>
        TABLES.trades.columns.findIndex((column) => column.name === name),
      )
      for (const hour of tape.hours()) {
        for (const row of hourRows(tape, hour, 'trades')) {
          if (row === null) continue
          const name = `${row[idAt ?? -1]} ${row[tradeAt ?? -1]}`
          found.set(name, (found.get(name) ?? 0) + 1)
        }
      }
      const compared = await compareTrades(at, { trades: found }, sinceMs)
      const isLost = (name: string): boolean => {
        const atMs = compared.truth.get(name) ?? 0
        return lostMs.some(({ fromMs, toMs }) => atMs >= fromMs - LATE_MS && atMs <= toMs)
      }
      const missing = compared.tradesUnstreamed.filter((name) => !isLost(name))
      const lost = compared.tradesUnstreamed.length - missing.length
      return { due: compared.truthTrades, missing, lost, twice: compared.tradesDoubled }
    }
  } finally {
    await rig.close()
  }
})

type Loss = Pick<Lost, 'fromUs' | 'toUs'> & { readonly platform: string }

/** Compares the books on the tape at random times with those that a subscriber had. */
function checkBooks(
  tape: Tape,
  sessions: readonly LiveSession[],
  { random, losses }: { readonly random: Random; readonly losses: readonly Loss[] },
) {
  const wrong: string[] = []
  let [compared, absent] = [0, 0]
  for (let count = 0; count < times; count += 1) {
    const session = random.pick(sessions)
    const ms = session.fromMs + random.next() * (session.toMs - session.fromMs)
    const platform = random.pick(PLATFORMS)
    const fromUs = Math.floor(ms * 1_000)
    const isLost = losses.some(
      (loss) => loss.platform === platform && fromUs >= loss.fromUs && fromUs <= loss.toUs,
    )
    if (isLost || !session.covers(ms)) {
      count -= 1
      continue
    }
    const query = { fromUs, toUs: fromUs + 1, platforms: [platform], withStates: true }
    const found = new Set<string>()
    for (const { item, epoch, markets } of tape.read(query)) {
      if (item.kind !== 'state') continue
      const { market, book } = item.state
      const id = markets.refOf(market)?.id ?? ''
      found.add(id)
      // A subscriber retains the levels of a book that is no longer covered.
      if (book.staleReason === 'not_covered') continue
      const hash = hashOf(book.bids.map(pairOf), book.asks.map(pairOf))
      const seen = session.around(id, ms)
      const isSeen = seen.some((one) => one.seq === book.seq && one.hash === hash)
      if (epoch === session.epoch && isSeen) compared += 1
      else {
        const live = seen.map(({ seq }) => seq).join(', ')
        const run = epoch === session.epoch ? '' : ', of another run'
        wrong.push(
          `${id} at ${fromUs}: seq ${book.seq}${run}, ${book.bids.length} bids, ${book.asks.length} asks, ${book.staleReason}; live ${live}`,
        )
      }
    }
    for (const [id] of session.books) {
      const seen = session.around(id, ms)
      const hasBook = seen.length > 0 && seen.every(({ hash }) => hash !== EMPTY)
      if (id.startsWith(platform) && hasBook && !found.has(id)) absent += 1
    }
  }
  return { wrong, compared, absent }
}

const pairOf = ({ price, size }: Level): readonly [number, number] => [price, size]

/** Compares the venue's losses of trades on the tape with those that a connected subscriber received. */
function checkGaps(records: readonly TapeRecord[], sessions: readonly LiveSession[]) {
  const recorded = records.flatMap(({ us, item }) => {
    if (item.kind !== 'update' || item.update.kind !== 'gap') return []
    const { market, platform, fromMs, toMs, count } = item.update
    const where = market === null ? { platform } : { market_id: market.id }
    const gap = count === null ? {} : { count }
    return [{ text: gapText({ ...where, from_ms: fromMs, to_ms: toMs, ...gap }), ms: us / 1_000 }]
  })
  const live = sessions.flatMap(({ gaps }) => gaps)
  const wasConnected = (ms: number) => sessions.some((session) => session.covers(ms))
  const onTape = new Set(recorded.map(({ text }) => text))
  const announced = new Set(live.map(({ text }) => text))
  const unrecorded = live.filter(
    ({ text, publishedMs }) => wasConnected(publishedMs) && !onTape.has(text),
  )
  const unannounced = recorded.filter(({ ms, text }) => wasConnected(ms) && !announced.has(text))
  const wrong = [
    ...unrecorded.map(({ text }) => `only live: ${text}`),
    ...unannounced.map(({ text }) => `only on the tape: ${text}`),
  ]
  return { wrong, announced: announced.size }
}
