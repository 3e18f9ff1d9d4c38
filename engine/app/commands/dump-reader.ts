// Reads the rows of a dump: JSON lines, a JSON array, or an object that contains an array, plain or gzipped.

import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import { type OpenEncoder, openEncoder } from '../../matching/encoder/encoder-folder.ts'
import { type ComparedPair, comparePairs, textsOfPairs } from '../../matching/offline/evaluation.ts'
import { type LabelledPair, labelledPairOf } from '../../matching/offline/labelled-pair.ts'
import { type Arguments, type Progress, UsageError } from '../../process/command-line.ts'
import { PAIRED_VENUES } from '../../venues/venues.ts'

const LISTS = ['events', 'markets', 'data', 'rows']

/** Yields the rows in order, and null for a line that is not JSON. Throws file system errors. */
export async function* dumpRows(file: string): AsyncIterable<unknown> {
  const isZipped = hasGzipMark(file)
  const source = createReadStream(file)
  const stream = isZipped ? source.pipe(createGunzip()) : source
  let lineCount = 0
  for await (const line of createInterface({
    input: stream,
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (line.trim() === '') continue
    lineCount += 1
    const row = parsed(line)
    if (lineCount === 1 && (row === undefined || Array.isArray(row) || listOf(row) !== null)) {
      yield* await rowsOfDocument(file, isZipped)
      return
    }
    yield row ?? null
  }
}

async function rowsOf(file: string): Promise<readonly unknown[]> {
  const rows: unknown[] = []
  for await (const row of dumpRows(file)) rows.push(row)
  return rows
}

const LABELLED: readonly string[] = ['pairs-dev.jsonl', 'pairs-dev-2.jsonl']
export const PAIRS_OPTION = {
  takes: 'FILE',
  means: `labelled pairs as JSON lines, plain or gzip (${LABELLED.join(', ')} of SHARED_DATA)`,
  isMany: true,
} as const

export function sharedFile(name: string): string {
  return join(process.env.SHARED_DATA ?? '../shared/data', name)
}

/** The encoder of MATCH_ENCODER_DIR. Null if the variable is unset. Throws UsageError for an unusable encoder. */
export async function namedEncoder(): Promise<OpenEncoder | null> {
  const folder = process.env.MATCH_ENCODER_DIR ?? ''
  if (folder === '') return null
  const opened = await openEncoder(folder)
  if (opened.kind === 'open') return opened
  throw new UsageError(`MATCH_ENCODER_DIR ${opened.reason}`)
}

export async function comparedPairs(
  given: Arguments<'pairs'>,
  encoded: OpenEncoder | null,
  progress: Progress,
): Promise<readonly ComparedPair[]> {
  progress.show('reading', true)
  const pairs = await labelledPairsOf(given.texts('pairs'))
  if (encoded !== null) {
    progress.show('reading meanings', true)
    await encoded.encoder.read(textsOfPairs(pairs))
  }
  progress.show(`scoring ${pairs.length} pairs`, true)
  return comparePairs(pairs, encoded?.encoder)
}

/** Skips rows that are not labelled pairs and prints their number on standard error. */
async function labelledPairsOf(named: readonly string[]): Promise<readonly LabelledPair[]> {
  const files = named.length > 0 ? named : LABELLED.map(sharedFile)
  const pairs: LabelledPair[] = []
  for (const file of files) {
    const rows = await rowsOf(file)
    const read = rows.flatMap((row) => labelledPairOf(row, PAIRED_VENUES, basename(file)) ?? [])
    if (read.length < rows.length) {
      process.stderr.write(`${file}: ${rows.length - read.length} lines are no labelled pairs\n`)
    }
    for (const pair of read) pairs.push(pair)
  }
  return pairs
}

async function rowsOfDocument(file: string, isZipped: boolean): Promise<readonly unknown[]> {
  const bytes = await readFile(file)
  const text = (isZipped ? await promisify(gunzip)(bytes) : bytes).toString('utf8')
  const parsedFile = parsed(text)
  if (Array.isArray(parsedFile)) return parsedFile
  const list = listOf(parsedFile)
  if (list !== null) return list
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [parsed(line) ?? null]))
}

/** An object with `markets` and a title is an event, not a list of rows. */
function listOf(value: unknown): readonly unknown[] | null {
  if (typeof value !== 'object' || value === null || 'title' in value) return null
  for (const [name, list] of Object.entries(value)) {
    if (LISTS.includes(name) && Array.isArray(list)) return list
  }
  return null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function hasGzipMark(file: string): boolean {
  const handle = openSync(file, 'r')
  try {
    const mark = Buffer.alloc(2)
    readSync(handle, mark)
    return mark[0] === 0x1f && mark[1] === 0x8b
  } finally {
    closeSync(handle)
  }
}
