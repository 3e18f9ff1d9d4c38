// Matches markets of the simulator, in the wording of each venue. A generic text search over the same texts is timed
// for comparison. Finally the matches are compared with the simulated world's pairs. With `--markets` the bench only
// matches two complete venues.

import { writeFileSync } from 'node:fs'
import MiniSearch from 'minisearch'
import { systemClock } from '../engine/clock.ts'
import { DEFAULT_SCORER } from '../engine/matching/compare/pair-scorer.ts'
import { type CorpusMatches, matchCorpus } from '../engine/matching/offline/corpus-matching.ts'
import { openPairFinder } from '../engine/matching/search/pair-finder.ts'
import type { ScoredPair } from '../engine/matching/search/pair-graph.ts'
import { understandMarket } from '../engine/matching/understand/proposition-parser.ts'
import { MATCH_SCORE } from '../engine/matching/veto/vetoes.ts'
import { seededRandom } from '../engine/random.ts'
import type { MatchMarket } from '../engine/subject.ts'
import { runToEnd } from '../engine/time-slices.ts'
import { type MatchingWorld, matchingWorld } from '../test/support/worlds/matching-world.ts'
import {
  type Bench,
  type BenchSetting,
  check,
  collectGarbage,
  figureRow,
  hashOf,
  newTimes,
  type Row,
  ratioRow,
  record,
  timeInRotation,
  timesRow,
} from './harness.ts'

const SEED = 8
/** Number of markets parsed per sample, because parsing one is too short to time. */
const READ_BATCH = 20
/** The match must be among this many search results. */
const HITS_MAX = 16

export const bench: Bench = {
  name: 'matching',
  question: 'How long does it take to match a new market, and two complete venues?',
  excludes: 'the thread and its queue, the catalogue, storage',
  async run(setting) {
    const { isSmall, logLine } = setting
    const marketsPerVenue =
      setting.markets === null ? (isSmall ? 120 : 20_000) : Math.ceil(setting.markets / 2)
    const size = { seed: SEED, marketsPerVenue }
    const world = matchingWorld(size)
    const { a, b, planted } = world
    logLine(`${a.markets.length} markets of venue a, ${b.markets.length} of venue b`)
    const rows = timeParsing(world, setting)
    const complete = timeComplete(world)
    rows.push(...complete.rows)
    const pairs = complete.matches.markets.map((pair) => `${pair.a.key} ${pair.b.key}`)
    if (setting.markets !== null) {
      const checked = `no trap is matched; ${planted.size} planted in all`
      return { rows, state: { hash: hashOf(pairs.sort()), checked, isRepeatable: true } }
    }
    const late = newcomers(world, isSmall ? 12 : 200)
    logLine(`${late.length} of venue b are added later`)
    const { rows: single, found } = timeNewcomers(world, late)
    rows.push(...single)
    checkFound(found, late, world)
    const checked = `${found.size} of ${late.length} newcomers have the partner that was planted, no trap is matched; ${planted.size} planted in all`
    const lines = [...pairs, ...[...found].map(([key, { a: one }]) => `${key} ${one}`)]
    return { rows, state: { hash: hashOf(lines.sort()), checked, isRepeatable: true } }
  },
}

function timeParsing({ a, b }: MatchingWorld, { isSmall }: BenchSetting): Row[] {
  const markets = [...a.markets, ...b.markets].slice(0, isSmall ? 200 : 40_000)
  const times = newTimes()
  let readCount = 0
  const batch = (from: number, count: number) => {
    for (const market of markets.slice(from, from + count)) {
      if (understandMarket(market).key === market.key) readCount += 1
    }
  }
  timeInRotation([{ times, batch }], { operationCount: markets.length, batchCount: READ_BATCH })
  check(readCount === markets.length, 'every market is read')
  return [timesRow('parsing one market', times)]
}

function timeComplete({ a, b, planted }: MatchingWorld): { rows: Row[]; matches: CorpusMatches } {
  // The garbage from creating the world must not be collected during the measurement.
  collectGarbage()
  const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20)
  const listed = mebibytes(process.memoryUsage().heapUsed)
  const [made, before] = [peakBytes(), process.memoryUsage().rss].map(mebibytes)
  resetPeak()
  const startedMs = systemClock.monotonicMs()
  const startedCpu = process.cpuUsage()
  const matches = runToEnd(matchCorpus(a, b, DEFAULT_SCORER))
  const tookMs = systemClock.monotonicMs() - startedMs
  const { user, system } = process.cpuUsage(startedCpu)
  const high = matches.markets.filter(({ pairScore }) => pairScore.score >= MATCH_SCORE)
  const partners = new Map(high.map((pair) => [pair.a.key, pair.b.key]))
  let [same, found, trapped] = [0, 0, 0]
  for (const [key, { other, kind }] of planted) {
    const isFound = partners.get(key) === other
    if (kind === 'same') same += 1
    if (kind === 'same' && isFound) found += 1
    if (kind !== 'same' && isFound) trapped += 1
  }
  check(trapped === 0, `no trap is matched, but ${trapped} are`)
  const size = `${a.markets.length} × ${b.markets.length} markets`
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  return {
    matches,
    rows: [
      figureRow(
        'a complete match',
        `${size} in ${seconds(tookMs)} (${seconds((user + system) / 1_000)} of processor), ${matches.scoredCount} pairs scored`,
      ),
      figureRow('planted pairs found by it', `${found} of ${same}`),
      figureRow(
        'peak memory',
        `${mebibytes(peakBytes())} MiB resident while matched, ${before} before, of which the listings are ${listed}; making the world took ${made}`,
      ),
    ],
  }
}

const peakBytes = (): number => process.resourceUsage().maxRSS * 1_024

/** Resets Linux's peak counter (see proc(5)), so that memory for creating the world is not included. */
const resetPeak = (): void => writeFileSync('/proc/self/clear_refs', '5')

function newcomers({ b, planted }: MatchingWorld, count: number): readonly MatchMarket[] {
  const same = new Set<string>()
  for (const { other, kind } of planted.values()) if (kind === 'same') same.add(other)
  const random = seededRandom('newcomers')
  const left = b.markets.filter(({ key }) => same.has(key))
  const chosen: MatchMarket[] = []
  while (chosen.length < count && left.length > 0) {
    chosen.push(...left.splice(random.below(left.length), 1))
  }
  return chosen
}

interface Found {
  readonly a: string
  readonly score: number
}

/**
 * Indexes all markets except the late ones. Then times put and find of each late market, alternating with the text
 * search.
 */
function timeNewcomers(
  { a, b, planted }: MatchingWorld,
  late: readonly MatchMarket[],
): { rows: Row[]; found: Map<string, Found> } {
  const isLate = new Set(late.map(({ key }) => key))
  const filed = [...a.markets, ...b.markets.filter(({ key }) => !isLate.has(key))]
  const finder = finderOf()
  finder.put(filed)
  const search = searchOf(a.markets)
  const found = new Map<string, Found>()
  let hitCount = 0
  const [ours, theirs] = [newTimes(), newTimes()]
  const partnerOf = new Map([...planted].map(([key, { other }]) => [other, key]))
  for (const [index, market] of late.entries()) {
    const startedMs = systemClock.monotonicMs()
    const pairs = finder.comeLate(market)
    const foundMs = systemClock.monotonicMs()
    const hits = search(market)
    const searchedMs = systemClock.monotonicMs()
    // The first market is not recorded, because it also indexes every event, as at startup.
    if (index > 0) record(ours, foundMs - startedMs)
    if (index > 0) record(theirs, searchedMs - foundMs)
    for (const { a: number, pairScore } of pairs) {
      if (pairScore.score < MATCH_SCORE) continue
      found.set(market.key, { a: filed[number - 1]?.key ?? '', score: pairScore.score })
    }
    if (hits[0] === partnerOf.get(market.key)) hitCount += 1
  }
  return {
    found,
    rows: [
      timesRow('a new market: indexed, compared, matched', ours),
      timesRow('an off-the-shelf search for its text', theirs),
      ratioRow('ours against the search', ours, theirs),
      figureRow('planted partner found', `${found.size} of ${late.length}`),
      figureRow('first hit of the search is the partner', `${hitCount} of ${late.length}`),
    ],
  }
}

function finderOf() {
  const finder = openPairFinder()
  let [seq, number] = [0, 0]
  const change = (markets: readonly MatchMarket[]): readonly number[] => {
    const put = markets.map((market) => {
      number += 1
      return { number, market }
    })
    seq += 1
    const done = finder.run({ seq, kind: 'change', put, removed: [], overrides: [] })
    check(done !== 'lost', 'the finder keeps up')
    return put.map((one) => one.number)
  }
  return {
    put: change,
    comeLate: (market: MatchMarket): readonly ScoredPair[] => {
      const numbers = change([market])
      seq += 1
      const done = finder.run({ seq, kind: 'find', numbers })
      return done === 'lost' ? [] : done.begun
    },
  }
}

/**
 * A search index of one venue's titles, short titles and events. Returns the keys of markets for another market's text.
 */
function searchOf(markets: readonly MatchMarket[]): (market: MatchMarket) => readonly string[] {
  const index = new MiniSearch<{ id: number; text: string }>({ fields: ['text'] })
  index.addAll(markets.map((market, id) => ({ id, text: textOf(market) })))
  return (market) => {
    const hits = index.search(textOf(market)).slice(0, HITS_MAX)
    return hits.map(({ id }) => markets[Number(id)]?.key ?? '')
  }
}

const textOf = ({ title, subtitle, eventTitle, eventSubtitle }: MatchMarket): string =>
  [title, subtitle, eventTitle, eventSubtitle].join(' ')

function checkFound(
  found: ReadonlyMap<string, Found>,
  late: readonly MatchMarket[],
  { planted }: MatchingWorld,
): void {
  for (const [key, { a }] of found) {
    const pair = planted.get(a)
    check(pair?.other === key && pair.kind === 'same', `${a} and ${key} were planted as a pair`)
  }
  check(found.size >= 0.97 * late.length, `${found.size} of ${late.length} newcomers have partners`)
}
