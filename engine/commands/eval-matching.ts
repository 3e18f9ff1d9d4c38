// `npm run eval:matching -- --pairs FILE [--out FILE] [--folds 5]`: scores labelled pairs (JSON lines, gzip
// too) through the same code as the service and prints how often it is right; with --folds the model is
// trained anew for each fold on the others, by venue b's event. `--series FILE` says instead which classes
// of rule differences between families of markets are recognised.

import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { WEIGHTS } from '../matching/compare/weights.ts'
import { crossScore, foldOf, judge, type Scored, scoreAll } from '../matching/offline/evaluation.ts'
import { type LabelledPair, labelledPairOf } from '../matching/offline/labelled-pair.ts'
import { pairReport } from '../matching/offline/report.ts'
import { seriesReport } from '../matching/offline/series-rules.ts'

const USAGE =
  'usage: npm run eval:matching -- --pairs FILE [--out FILE] [--folds N] [--worst N] | --series FILE'

function main(): void {
  const options = readOptions(process.argv.slice(2))
  const series = options.get('series')
  const file = options.get('pairs')
  if (series !== undefined) {
    process.stdout.write(`${seriesReport(rowsOf(series)).join('\n')}\n`)
    return
  }
  if (file === undefined) throw new Error(USAGE)
  const scored = score(readPairs(file), options.get('folds'))
  process.stdout.write(`${pairReport(scored, Number(options.get('worst') ?? 20)).join('\n')}\n`)
  const out = options.get('out')
  if (out !== undefined) writeFileSync(out, scored.map(lineOf).join(''))
}

function readOptions(args: readonly string[]): ReadonlyMap<string, string> {
  const options = new Map<string, string>()
  for (let at = 0; at < args.length; at += 2) {
    const name = /^--(pairs|series|out|folds|worst)$/.exec(args[at] ?? '')?.[1]
    const value = args[at + 1]
    if (name === undefined || value === undefined) throw new Error(USAGE)
    options.set(name, value)
  }
  return options
}

function score(pairs: readonly LabelledPair[], folds: string | undefined): readonly Scored[] {
  const judged = judge(pairs)
  if (folds === undefined) return scoreAll(judged, WEIGHTS)
  const count = Number(folds)
  if (!Number.isInteger(count) || count < 2) throw new Error(USAGE)
  return crossScore(judged, (pair) => foldOf(pair, count))
}

/** The labelled pairs of a file; lines that are none are told and left out. */
function readPairs(file: string): readonly LabelledPair[] {
  const rows = rowsOf(file)
  const pairs = rows.flatMap((row) => labelledPairOf(row) ?? [])
  if (pairs.length < rows.length) {
    process.stderr.write(`${rows.length - pairs.length} lines are no labelled pairs\n`)
  }
  return pairs
}

function rowsOf(file: string): readonly unknown[] {
  const bytes = readFileSync(file)
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
  const text = (isGzip ? gunzipSync(bytes) : bytes).toString('utf8')
  return text.split('\n').flatMap((line): unknown[] => {
    if (line.trim() === '') return []
    try {
      return [JSON.parse(line)]
    } catch {
      return [null]
    }
  })
}

function lineOf({ pair, result, baseline }: Scored): string {
  const { a, b, label, grain } = pair
  const keys = { grain, label, a: a.handle || a.title, b: b.handle || b.title }
  return `${JSON.stringify({ ...keys, ...result, baseline: Math.round(baseline * 1_000) / 10 })}\n`
}

try {
  main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
