// `npm run train:matching [-- --pairs FILE…]` trains the matcher's model on labelled pairs and writes
// engine/matching/compare/weights.json. The result is deterministic.

import { writeFileSync } from 'node:fs'
import { type Row, textOf } from '../../json-fields.ts'
import { isRecord } from '../../json-record.ts'
import { FEATURES } from '../../matching/compare/compare.ts'
import type { Learned } from '../../matching/compare/model.ts'
import { examplesOf, trainOn } from '../../matching/offline/evaluation.ts'
import {
  familyOf,
  learnWords,
  type TextFamily,
  tableOf,
} from '../../matching/offline/learn-words.ts'
import { type Arguments, openProgress } from '../../process/command-line.ts'
import { PAIRED_VENUES } from '../../venues/venues.ts'
import { comparedPairs, dumpRows, namedEncoder, PAIRS_OPTION, sharedFile } from './dump-reader.ts'
import { runCommand } from './run-command.ts'

const TARGET = new URL('../../matching/compare/weights.json', import.meta.url)
const WORDS_TARGET = new URL('../../matching/understand/learned-words.json', import.meta.url)
const TITLES_MAX = 40
/** Dumps of both venues under SHARED_DATA. Each has a function that returns the family of a row's text. */
const DUMPS: readonly (readonly [string, (row: Row) => string])[] = [
  ['kalshi-events-to-2026-02.jsonl.gz', (row) => textOf(row, 'series_ticker')],
  ['polymarket-markets-2025-08_11.jsonl.gz', (row) => familyOf(textOf(row, 'question'))],
]
const COMMAND = {
  name: 'npm run train:matching',
  about: 'Trains the matcher\u2019s model on labelled pairs and writes its weights.',
  usage: ['[--pairs FILE ...] [--out FILE]', '--words'],
  options: {
    pairs: PAIRS_OPTION,
    out: {
      takes: 'FILE',
      means: 'where to (engine/matching/compare/weights.json; with an encoder its weights.json)',
    },
    words: {
      takes: null,
      means: 'learns the weights of words from the dumps of SHARED_DATA instead',
    },
  },
  examples: ['', '--pairs pairs.jsonl.gz --out weights.json'],
  notes: [
    'With MATCH_ENCODER_DIR the weights are that encoder\u2019s: they go into its folder.',
    'The same pairs give the same file. Exit codes: 0 done, 1 after a failure, 2 for a bad request.',
  ],
} as const
type Option = keyof typeof COMMAND.options

async function main(given: Arguments<Option>): Promise<void> {
  const progress = openProgress()
  if (given.has('words')) {
    progress.show('learning words', true)
    const learned = learnWords(
      await families(),
      new Set(PAIRED_VENUES.map(({ protocol }) => protocol)),
    )
    progress.end()
    writeFileSync(WORDS_TARGET, jsonOf(tableOf(learned)))
    process.stdout.write(
      `${learned.familyCount} families, ${learned.counts.size} words, ${learned.ordinary.length} ordinary\n`,
    )
    return
  }
  const encoded = await namedEncoder()
  const compared = await comparedPairs(given, encoded, progress)
  progress.show(`training on ${compared.length} pairs`, true)
  const model = trainOn(compared)
  progress.end()
  const file = encoded?.fileOf(model) ?? { path: TARGET, text: fileOf(model.weights) }
  writeFileSync(given.text('out') ?? file.path, file.text)
  process.stdout.write(
    `${compared.length} pairs, ${examplesOf(compared).length} of them undecided by vetoes, ${model.weights.length} weights\n`,
  )
}

async function families(): Promise<Iterable<TextFamily>> {
  const found = new Map<string, { titles: string[]; prose: string[] }>()
  for (const [name, keyOf] of DUMPS) {
    for await (const row of dumpRows(sharedFile(name))) {
      if (!isRecord(row)) continue
      const key = keyOf(row)
      const family = found.get(key) ?? { titles: [], prose: [] }
      found.set(key, family)
      if (family.titles.length >= TITLES_MAX) continue
      family.titles.push(textOf(row, 'title', 'question'), textOf(row, 'sub_title'))
      family.prose.push(textOf(row, 'description'))
    }
  }
  return found.values()
}

function fileOf(weights: readonly number[]): string {
  const rows = weights.map((weight, at) => [FEATURES[at] ?? '', Math.round(weight * 1_000)])
  const thousandths: Learned['thousandths'] = Object.fromEntries(rows)
  return jsonOf({ source: 'npm run train:matching', thousandths } satisfies Learned)
}

const jsonOf = (table: object): string => `${JSON.stringify(table, null, 2)}\n`

await runCommand(COMMAND, main)
