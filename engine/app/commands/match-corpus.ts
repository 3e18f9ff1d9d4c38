// `npm run match:corpus -- --venue-a FILE… --venue-b FILE… --out FILE [--take N] [--known FILE]` matches two dumps with
// the service's code and writes the pairs as JSON lines, best first. With --known it also prints how many labelled
// pairs were found.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { systemClock } from '../../clock.ts'
import { isRecord } from '../../json-record.ts'
import { DEFAULT_SCORER } from '../../matching/compare/pair-scorer.ts'
import { encodedScorer, textsOf } from '../../matching/encoder/encoded-scorer.ts'
import {
  type CorpusMatches,
  type CorpusPair,
  matchCorpus,
  type VenueSubjects,
} from '../../matching/offline/corpus-matching.ts'
import { addDumpRow } from '../../matching/offline/dump-rows.ts'
import { labelledPairOf } from '../../matching/offline/labelled-pair.ts'
import { MATCH_SCORE } from '../../matching/veto/vetoes.ts'
import { type Arguments, openProgress, UsageError } from '../../process/command-line.ts'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { SlicedWork } from '../../time-slices.ts'
import type { VenueFacts } from '../../venue-table.ts'
import { PAIRED_VENUES } from '../../venues/venues.ts'
import { dumpRows, namedEncoder } from './dump-reader.ts'
import { runCommand } from './run-command.ts'

const COMMAND = {
  name: 'npm run match:corpus',
  about:
    'Matches two dumps through the service\u2019s own code and writes the pairs as JSON lines, best first.',
  usage: ['--venue-a FILE ... --venue-b FILE ... --out FILE [--take ROWS] [--known FILE]'],
  options: {
    'venue-a': {
      takes: 'FILE',
      means: 'dumps of venue a: JSON or JSON lines, plain or gzip',
      isMany: true,
    },
    'venue-b': { takes: 'FILE', means: 'dumps of venue b', isMany: true },
    out: { takes: 'FILE', means: 'where the pairs are written' },
    take: { takes: 'ROWS', means: 'how many rows of each venue are read (all)' },
    known: { takes: 'FILE', means: 'labelled pairs; prints how many were found' },
  },
  examples: ['--venue-a gamma.jsonl.gz --venue-b events-1.json events-2.json --out pairs.jsonl'],
  notes: ['Exit codes: 0 done, 1 after a failure, 2 for a bad request.'],
} as const

type Given = Arguments<keyof typeof COMMAND.options>

const [FIRST, SECOND] = PAIRED_VENUES
type Side = 'a' | 'b'

const progress = openProgress()

async function main(given: Given): Promise<void> {
  const out = given.text('out')
  for (const option of ['venue-a', 'venue-b', 'out'] as const) {
    if (given.text(option) === null) throw new UsageError(`--${option} FILE is missing`)
  }
  const take = given.number('take', { above: 0, max: Number.POSITIVE_INFINITY }) ?? Infinity
  const startMs = systemClock.monotonicMs()
  const a = await readSide('venue-a', given, take)
  const b = await readSide('venue-b', given, take)
  const readMs = systemClock.monotonicMs()
  const matches = await matchSides(a, b)
  const matchedMs = systemClock.monotonicMs()
  await write(out ?? '', matches)
  progress.end()
  printLine(`read ${sizeOf(a)} of venue a, ${sizeOf(b)} of venue b in ${seconds(readMs - startMs)}`)
  printLine(
    `matched in ${seconds(matchedMs - readMs)}, ${matches.scoredCount} pairs of markets scored`,
  )
  for (const grain of ['markets', 'events'] as const) {
    const pairs = matches[grain]
    const high = pairs.filter(({ pairScore }) => pairScore.score >= MATCH_SCORE)
    const identical = high.filter(({ pairScore }) => pairScore.relation === 'identical')
    printLine(
      `${grain}: ${pairs.length} pairs, ${high.length} of at least 80, ${identical.length} identical`,
    )
  }
  printLine(`peak memory ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB`)
  const labelledFile = given.text('known')
  if (labelledFile !== null) await printLabelledCounts(labelledFile, { a, b }, matches)
}

async function readSide(
  option: 'venue-a' | 'venue-b',
  given: Given,
  take: number,
): Promise<VenueSubjects> {
  const [own, other] = option === 'venue-a' ? [FIRST, SECOND] : [SECOND, FIRST]
  const subjects = { markets: [] as MatchMarket[], events: [] as MatchEvent[] }
  let count = 0
  for (const file of given.texts(option)) {
    for await (const row of dumpRows(file)) {
      if (count >= take) break
      if (isOf(row, other) && !isOf(row, own))
        throw new UsageError(`--${option} ${file} has rows of the other venue`)
      if (addDumpRow(own.subjects, row, subjects)) count += 1
      progress.show(`${file}: ${count} rows`)
    }
  }
  return subjects
}

function isOf(row: unknown, { handles, idFields }: VenueFacts): boolean {
  return (
    isRecord(row) &&
    [handles, idFields.market, idFields.event ?? handles].some((name) => name in row)
  )
}

async function matchSides(a: VenueSubjects, b: VenueSubjects): Promise<CorpusMatches> {
  const encoded = await namedEncoder()
  if (encoded === null) return finishShowing(matchCorpus(a, b, DEFAULT_SCORER))
  progress.show('reading meanings', true)
  for (const { markets, events } of [a, b]) {
    await encoded.encoder.read([...markets.flatMap(textsOf), ...events.map(({ title }) => title)])
  }
  return finishShowing(matchCorpus(a, b, encodedScorer(encoded)))
}

function finishShowing<Result>(work: SlicedWork<Result>): Result {
  for (let count = 1; ; count += 1) {
    const { done, value } = work.next()
    if (done === true) return value
    progress.show(`matching: step ${count}`)
  }
}

async function write(file: string, matches: CorpusMatches): Promise<void> {
  const out = createWriteStream(file)
  for (const grain of ['market', 'event'] as const) {
    const pairs: readonly CorpusPair<MatchMarket | MatchEvent>[] =
      grain === 'market' ? matches.markets : matches.events
    for (const { a, b, pairScore } of pairs) {
      const { score, relation, inverted, outcomeMap, vetoes, explanation } = pairScore
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

/**
 * Counts how many labelled pairs of both kinds, same and different, were found. Ignores labelled pairs that the dumps
 * do not contain.
 */
async function printLabelledCounts(
  file: string,
  read: Record<Side, VenueSubjects>,
  matches: CorpusMatches,
): Promise<void> {
  const present = {
    market: { a: namesOf(read.a.markets), b: namesOf(read.b.markets) },
    event: { a: namesOf(read.a.events), b: namesOf(read.b.events) },
  }
  const found = { market: foundIn(matches.markets), event: foundIn(matches.events) }
  const counts = { market: [0, 0, 0, 0, 0], event: [0, 0, 0, 0, 0] }
  for await (const row of dumpRows(file)) {
    const pair = labelledPairOf(row, PAIRED_VENUES)
    if (pair === null) continue
    const [one, other] = [nameOf(pair.a), nameOf(pair.b)]
    if (!present[pair.grain].a.has(one) || !present[pair.grain].b.has(other)) continue
    const score = found[pair.grain].get(`${one} ${other}`) ?? -1
    const counter = counts[pair.grain]
    const first = pair.isSame ? 0 : 3
    counter[first] = (counter[first] ?? 0) + 1
    if (score >= MATCH_SCORE) counter[first + 1] = (counter[first + 1] ?? 0) + 1
    if (pair.isSame && score >= 0) counter[2] = (counter[2] ?? 0) + 1
  }
  for (const [grain, [same = 0, high = 0, any = 0, others = 0, wrong = 0]] of Object.entries(
    counts,
  )) {
    printLine(
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
  return new Map(pairs.map(({ a, b, pairScore }) => [`${nameOf(a)} ${nameOf(b)}`, pairScore.score]))
}

const sizeOf = ({ markets, events }: VenueSubjects): string =>
  `${markets.length} markets and ${events.length} events`
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
const printLine = (line: string): boolean => process.stdout.write(`${line}\n`)

await runCommand(COMMAND, main)
