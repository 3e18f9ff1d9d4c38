// Time of a search over all markets through its thread. Meanwhile the event loop parses and maps 1,000 venue messages a
// second, and markets are added. Markets and frames are the simulator's. A search counts from its planned time until
// its result is back on the loop. Also the loop time for handing all markets over. Finally results are compared with a
// naive scan of every text.
// Excluded: HTTP, filters and sorting by volume, actors, the simulator's process.

import { setTimeout as pause } from 'node:timers/promises'
import type { Histogram } from 'hdr-histogram-js'
import { MarketSearch, type MarketText } from '../actors/catalog/search.ts'
import { systemClock } from '../engine/clock.ts'
import { silentLog } from '../engine/process/log.ts'
import { openSearchThread } from '../engine/search/search.ts'
import { queryWords } from '../engine/search/tokenizer.ts'
import {
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  newTimes,
  type Row,
  record,
  timesRow,
} from './harness.ts'
import {
  marketTexts,
  typicalQuestions,
  vocabularyOfMarket,
  worstQuestions,
} from './search/corpus.ts'
import { type SimFrame, simLoad } from './sim-load.ts'
import { venuePath } from './venue-path.ts'

const SEED = 6
const MESSAGES_PER_SECOND = 1_000
const PUMP_EVERY_MS = 5
const SEARCHES_PER_SECOND = 40
/** One market is added per this many searches. */
const SEARCHES_PER_PUT = 10
const CHECKED_QUESTIONS = 10

export const bench: Bench = {
  name: 'search',
  question: 'How long does a search over all markets take beside 1,000 venue messages a second?',
  excludes: 'HTTP, filters and sorting by volume, actors, the simulator’s own process',
  async run(setting) {
    const { isSmall, say: logLine } = setting
    const texts = marketTexts(SEED, isSmall ? 300 : 50_000)
    logLine(`${texts.length} markets`)
    const messages = new Messages(isSmall ? 3_000 : 40_000)
    const residentBefore = process.memoryUsage.rss()
    const search = new MarketSearch({
      port: openSearchThread(),
      clock: systemClock,
      log: silentLog,
    })
    search.rebuildFrom(() => texts)
    try {
      await search.find('started')
      messages.start()
      const rows = await timeIndexing(search, texts)
      rows.push(...(await timeSearches(search, texts, setting)))
      messages.stop()
      const residentMiB = (process.memoryUsage.rss() - residentBefore) / 2 ** 20
      rows.push(figureRow('resident memory more than before', `${residentMiB.toFixed(0)} MiB`))
      rows.push(figureRow('venue messages meanwhile', `${messages.takenCount}`))
      return { rows, state: await checkedState(search, texts) }
    } finally {
      messages.stop()
      await search.close()
    }
  },
}

/** Hands every market over, page by page like the catalogue; times each event-loop tick. */
async function timeIndexing(search: MarketSearch, texts: readonly MarketText[]): Promise<Row[]> {
  const ticks = newTimes()
  let turnedMs = systemClock.monotonicMs()
  let isRunning = true
  const tick = () => {
    if (!isRunning) return
    const nowMs = systemClock.monotonicMs()
    record(ticks, nowMs - turnedMs)
    turnedMs = nowMs
    setImmediate(tick)
  }
  const startedMs = systemClock.monotonicMs()
  setImmediate(tick)
  for (const [index, text] of texts.entries()) {
    search.put(text.number, text.summary, text.eventTitle)
    if (index % 200 === 0) await new Promise(setImmediate)
  }
  for (let isIndexed = false; !isIndexed; ) {
    const found = await search.find('will', false).catch(() => null)
    isIndexed = found !== null
  }
  const tookMs = systemClock.monotonicMs() - startedMs
  isRunning = false
  const perSecond = Math.round((texts.length / tookMs) * 1_000)
  return [
    timesRow('a turn of the loop while markets are handed over', ticks),
    figureRow('indexed', `${texts.length} markets in ${Math.round(tookMs)} ms, ${perSecond}/s`),
  ]
}

async function timeSearches(
  search: MarketSearch,
  texts: readonly MarketText[],
  { isSmall, say: logLine }: BenchSetting,
): Promise<Row[]> {
  const count = isSmall ? 8 : 200
  const kinds = [
    ['typical', typicalQuestions(texts, count)],
    ['worst', worstQuestions(texts)],
  ] as const
  const rows: Row[] = []
  for (const [name, questions] of kinds) {
    for (const isRanked of [false, true]) {
      const what = `${name}, ${isRanked ? 'by relevance' : 'unranked'}`
      logLine(what)
      const { times, foundMax } = await timeQuestions(search, { texts, questions, isRanked, count })
      rows.push(timesRow(what, times), figureRow(`${what}: most found`, `${foundMax}`))
    }
  }
  return rows
}

async function timeQuestions(
  search: MarketSearch,
  plan: {
    readonly texts: readonly MarketText[]
    readonly questions: readonly string[]
    readonly isRanked: boolean
    readonly count: number
  },
): Promise<{ readonly times: Histogram; readonly foundMax: number }> {
  const { texts, questions, isRanked, count } = plan
  const times = newTimes()
  const startMs = systemClock.monotonicMs()
  let foundMax = 0
  const requested: Promise<void>[] = []
  for (let index = 0; index < count; index += 1) {
    const plannedMs = startMs + index * (1_000 / SEARCHES_PER_SECOND)
    await pause(Math.max(plannedMs - systemClock.monotonicMs(), 0))
    const again = texts[(index * 97) % texts.length]
    if (index % SEARCHES_PER_PUT === 0 && again !== undefined) {
      search.put(again.number, again.summary, again.eventTitle)
    }
    const found = search.find(questions[index % questions.length] ?? '', isRanked)
    requested.push(
      found.then(({ length }) => {
        record(times, systemClock.monotonicMs() - plannedMs)
        foundMax = Math.max(foundMax, length)
      }),
    )
  }
  await Promise.all(requested)
  return { times, foundMax }
}

/** Sends frames of both venues through the connectors' parse and map, at a fixed rate. */
class Messages {
  readonly #frames: readonly SimFrame[]
  readonly #take: { readonly a: (text: string) => void; readonly b: (text: string) => void }
  #eventCount = 0
  #startedMs = 0
  takenCount = 0
  #stopTimer: () => void = () => undefined

  constructor(frameCount: number) {
    const load = simLoad({ seed: SEED, marketsPerVenue: 100, frameCount })
    const emit = () => {
      this.#eventCount += 1
    }
    this.#frames = load.frames
    this.#take = { a: venuePath('a', load, emit), b: venuePath('b', load, emit) }
    for (const { venue, text } of load.snapshots) this.#take[venue](text)
  }

  start(): void {
    this.#startedMs = systemClock.monotonicMs()
    this.#stopTimer = systemClock.every(PUMP_EVERY_MS, () => {
      const elapsedMs = systemClock.monotonicMs() - this.#startedMs
      const due = Math.min((elapsedMs * MESSAGES_PER_SECOND) / 1_000, this.#frames.length)
      for (; this.takenCount < due; this.takenCount += 1) {
        const frame = this.#frames[this.takenCount]
        if (frame !== undefined) this.#take[frame.venue](frame.text)
      }
    })
  }

  stop(): void {
    this.#stopTimer()
    check(this.#eventCount >= this.takenCount / 2, 'frames became events')
  }
}

async function checkedState(search: MarketSearch, texts: readonly MarketText[]) {
  const typical = typicalQuestions(texts, CHECKED_QUESTIONS)
  const questions = [...typical, ...worstQuestions(texts)]
  const terms = texts.map((text) => [...vocabularyOfMarket(text)])
  const lines: string[] = []
  for (const question of questions) {
    const requested = queryWords(question)
    const has = (all: readonly string[]) =>
      requested.every((one) =>
        all.some((term) => (one.length > 1 ? term.startsWith(one) : term === one)),
      )
    const naive = texts.flatMap(({ number }, index) => (has(terms[index] ?? []) ? [number] : []))
    const found = (await search.find(question)).toSorted()
    check(found.join() === naive.join(), `"${question}" finds what a naive reading finds`)
    lines.push(`${question}: ${hashOf([found.join()])}`)
  }
  const checked = `${questions.length} questions find what a naive reading of every text finds`
  return { hash: hashOf(lines), checked, isRepeatable: true }
}
