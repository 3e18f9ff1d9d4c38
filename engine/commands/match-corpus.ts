// `npm run match:corpus -- --venue-a FILE… --venue-b FILE… --out FILE [--take N] [--known FILE]`: matches two dumps
// through the service's own code and writes the pairs as JSON lines, best first. Prints what was found, time and
// peak memory; with --known also how many labelled pairs that are in both dumps were found. Upholds CORPUS7.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { systemClock } from '../clock.ts'
import type { VenueKey } from '../ids.ts'
import { openJudge } from '../matching/compare/judge.ts'
import { addDumpRow } from '../matching/offline/dump-rows.ts'
import { labelledPairOf } from '../matching/offline/labelled-pair.ts'
import {
  type CorpusMatches,
  type CorpusPair,
  matchCorpus,
  type VenueSubjects,
} from '../matching/offline/match-corpus.ts'
import type { MatchEvent, MatchMarket } from '../matching/read/subject.ts'
import { finish } from '../steps.ts'
import { dumpRows } from './dump-lines.ts'

const USAGE =
  'usage: npm run match:corpus -- --venue-a FILE… --venue-b FILE… --out FILE [--take ROWS] [--known PAIRS_FILE]'
const HIGH_SCORE_MIN = 80

interface Request {
  readonly files: Record<VenueKey, string[]>
  out: string
  /** Rows of each venue that are read. */
  take: number
  known: string | null
}

async function main(): Promise<void> {
  const request = readRequest(process.argv.slice(2))
  const startMs = systemClock.monotonicMs()
  const a = await readSide('a', request)
  const b = await readSide('b', request)
  const readMs = systemClock.monotonicMs()
  const judge = openJudge({
    markets: [...a.markets, ...b.markets],
    events: [...a.events, ...b.events],
  })
  const learnedMs = systemClock.monotonicMs()
  const matches = finish(matchCorpus(a, b, judge))
  const matchedMs = systemClock.monotonicMs()
  await write(request.out, matches)
  say(`read ${sizeOf(a)} of venue a, ${sizeOf(b)} of venue b in ${seconds(readMs - startMs)}`)
  say(`learned in ${seconds(learnedMs - readMs)}`)
  say(
    `matched in ${seconds(matchedMs - learnedMs)}, ${matches.judgedCount} pairs of markets judged`,
  )
  for (const grain of ['markets', 'events'] as const) {
    const pairs = matches[grain]
    const high = pairs.filter(({ judged }) => judged.score >= HIGH_SCORE_MIN)
    const identical = high.filter(({ judged }) => judged.relation === 'identical')
    say(
      `${grain}: ${pairs.length} pairs, ${high.length} of at least 80, ${identical.length} identical`,
    )
  }
  say(`peak memory ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB`)
  if (request.known !== null) await sayKnown(request.known, { a, b }, matches)
}

function readRequest(args: readonly string[]): Request {
  const request: Request = { files: { a: [], b: [] }, out: '', take: Infinity, known: null }
  let flag = ''
  for (const arg of args) {
    if (arg.startsWith('--')) flag = arg
    else if (flag === '--venue-a') request.files.a.push(arg)
    else if (flag === '--venue-b') request.files.b.push(arg)
    else if (flag === '--out') request.out = arg
    else if (flag === '--take') request.take = Number(arg)
    else if (flag === '--known') request.known = arg
    else throw new Error(USAGE)
  }
  const { files, out, take } = request
  if (files.a.length === 0 || files.b.length === 0 || out === '' || !(take > 0)) {
    throw new Error(USAGE)
  }
  return request
}

async function readSide(venue: VenueKey, { files, take }: Request): Promise<VenueSubjects> {
  const subjects = { markets: [] as MatchMarket[], events: [] as MatchEvent[] }
  let count = 0
  for (const file of files[venue]) {
    for await (const row of dumpRows(file)) {
      if (count >= take) break
      if (addDumpRow(venue, row, subjects)) count += 1
    }
  }
  return subjects
}

async function write(file: string, matches: CorpusMatches): Promise<void> {
  const out = createWriteStream(file)
  for (const grain of ['market', 'event'] as const) {
    const pairs: readonly CorpusPair<MatchMarket | MatchEvent>[] =
      grain === 'market' ? matches.markets : matches.events
    for (const { a, b, judged } of pairs) {
      const { score, relation, inverted, outcomeMap, vetoes, explanation } = judged
      const row = {
        ...{ grain, score, relation, inverted, a: shown(a), b: shown(b) },
        ...{ outcome_map: outcomeMap, vetoes, explanation },
      }
      if (!out.write(`${JSON.stringify(row)}\n`)) await once(out, 'drain')
    }
  }
  out.end()
  await once(out, 'close')
}

function shown(subject: MatchMarket | MatchEvent): Record<string, string> {
  const { key, handle, title, subtitle } = subject
  return { key, handle, title, subtitle }
}

/** Labelled pairs whose both sides were read: how many of the same were found, how many others were. */
async function sayKnown(
  file: string,
  read: Record<VenueKey, VenueSubjects>,
  matches: CorpusMatches,
): Promise<void> {
  const present = {
    market: { a: namesOf(read.a.markets), b: namesOf(read.b.markets) },
    event: { a: namesOf(read.a.events), b: namesOf(read.b.events) },
  }
  const found = { market: foundIn(matches.markets), event: foundIn(matches.events) }
  const counts = { market: [0, 0, 0, 0, 0], event: [0, 0, 0, 0, 0] }
  for await (const row of dumpRows(file)) {
    const pair = labelledPairOf(row)
    if (pair === null) continue
    const [one, other] = [nameOf(pair.a), nameOf(pair.b)]
    if (!present[pair.grain].a.has(one) || !present[pair.grain].b.has(other)) continue
    const score = found[pair.grain].get(`${one} ${other}`) ?? -1
    const tally = counts[pair.grain]
    const first = pair.isSame ? 0 : 3
    tally[first] = (tally[first] ?? 0) + 1
    if (score >= HIGH_SCORE_MIN) tally[first + 1] = (tally[first + 1] ?? 0) + 1
    if (pair.isSame && score >= 0) tally[2] = (tally[2] ?? 0) + 1
  }
  for (const [grain, [same = 0, high = 0, any = 0, others = 0, wrong = 0]] of Object.entries(
    counts,
  )) {
    say(
      `known ${grain} pairs: ${high} of ${same} the same found at 80, ${any} at any score; ` +
        `${wrong} of ${others} others at 80`,
    )
  }
}

const nameOf = ({ handle, key }: MatchMarket | MatchEvent): string => handle || key

function namesOf(subjects: readonly (MatchMarket | MatchEvent)[]): ReadonlySet<string> {
  return new Set(subjects.map(nameOf))
}

function foundIn(pairs: readonly CorpusPair<MatchMarket | MatchEvent>[]): Map<string, number> {
  return new Map(pairs.map(({ a, b, judged }) => [`${nameOf(a)} ${nameOf(b)}`, judged.score]))
}

const sizeOf = ({ markets, events }: VenueSubjects): string =>
  `${markets.length} markets and ${events.length} events`
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
const say = (line: string): boolean => process.stdout.write(`${line}\n`)

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
