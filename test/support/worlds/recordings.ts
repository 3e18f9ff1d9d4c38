// Invented data of test/fixtures, and recorded data if `SHARED_DATA` has it. Frames are read without our parsers.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { BookSide, Level, LevelChange } from '../../../engine/events.ts'
import { isRecord } from '../../../engine/json-record.ts'
import { priceMicros, sizeMicros, type TimeMs, timeMs } from '../../../engine/units.ts'

/** The folder of recordings: `SHARED_DATA`, or a folder beside the repository. */
export const RECORDED = process.env.SHARED_DATA ?? '../shared/data'
export const INVENTED = join(import.meta.dirname, '../../fixtures')

export type Origin = 'invented' | 'recorded'
/** The paths of invented and of recorded data in the same format. */
export type Sources = Readonly<Record<Origin, string>>

/** Polymarket's market channel in the format of 2025: each message has one token, and fills are visible only in books. */
export const POLYMARKET_STREAM: Sources = {
  invented: `${INVENTED}/polymarket/book-stream-2025.jsonl`,
  recorded: `${RECORDED}/polymarket-book-stream-2025.jsonl.gz`,
}
/** The books of one Kalshi connection: one snapshot per market, then deltas. */
export const KALSHI_STREAM: Sources = {
  invented: `${INVENTED}/kalshi/orderbook-stream.jsonl`,
  recorded: `${RECORDED}/fixtures/kalshi/ws_orderbook_stream.json`,
}

type CaseCheck = (t: TestContext, path: string, origin: Origin) => void | Promise<void>

/** Runs a test with invented data, and with recorded data if there is any. */
export function testOnBoth(name: string, sources: Sources, validator: CaseCheck): void {
  test(`${name} (synthetic data)`, (t) => validator(t, sources.invented, 'invented'))
  test(`${name} (recorded data)`, (t) => {
    if (isAbsent(t, sources.recorded)) return
    return validator(t, sources.recorded, 'recorded')
  })
}

/** Skips the test and prints why if the data does not exist. */
export function isAbsent(t: TestContext, path: string): boolean {
  if (existsSync(path)) return false
  t.diagnostic(`RECORDED DATA ABSENT: ${path} (set SHARED_DATA)`)
  t.skip(`RECORDED DATA ABSENT: ${path} (set SHARED_DATA)`)
  return true
}

/** Decompresses the file if necessary. */
function textOfFile(path: string): string {
  const bytes = readFileSync(path)
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
}

/** The rows of a file: its lines, the items of its array, or its single value. */
export function rowsOfFile(path: string): readonly unknown[] {
  const text = textOfFile(path)
  if (/\.jsonl(\.gz)?$/.test(path)) {
    return text
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
  }
  const value: unknown = JSON.parse(text)
  return Array.isArray(value) ? value : [value]
}

/** An invented row, its expected outcome, and parts of its expected parsed value. */
interface Case {
  readonly name: string
  readonly row: unknown
  readonly becomes: readonly string[]
  /** Expected values, one for each part of the row. Empty if nothing is parsed. */
  readonly reads: readonly unknown[]
}

/**
 * `text` is a frame that is not JSON. `but` contains fields that replace those of the first row. `without` lists fields
 * that are omitted.
 */
export function casesOf(path: string): readonly Case[] {
  const written = rowsOfFile(path).filter(isRecord)
  const first = written[0]?.row
  return written.map((line) => {
    const { case: name, becomes, reads = [], row, text = row } = line
    assert.ok(typeof name === 'string' && Array.isArray(becomes) && Array.isArray(reads), path)
    return { name, becomes, reads, row: isRecord(line.but) ? changed(first, line) : text }
  })
}

function changed(first: unknown, line: { readonly [key: string]: unknown }): unknown {
  assert.ok(isRecord(first) && isRecord(line.but))
  const without: unknown[] = Array.isArray(line.without) ? line.without : []
  const fields = Object.entries({ ...first, ...line.but })
  return Object.fromEntries(fields.filter(([key]) => !without.includes(key)))
}

/** Levels and changes have prices of the message's own token. */
export interface CapturedFrame {
  readonly text: string
  readonly isFirst: boolean
  readonly timeMs: TimeMs
  /** null if the frame is not a `book`. */
  readonly book: { readonly bids: readonly Level[]; readonly asks: readonly Level[] } | null
  /** Empty for a `book`. */
  readonly changes: readonly LevelChange[]
}

/** The stream has both tokens of one market, in order of arrival. */
export interface Capture {
  readonly name: string
  readonly tokens: readonly [first: string, second: string]
  readonly frames: readonly CapturedFrame[]
}

interface WireLevel {
  readonly price: string
  readonly size: string
}

interface CapturedRow {
  readonly capture: string
  readonly asset_id: string
  readonly event_type: string
  readonly timestamp: string
  readonly bids?: readonly WireLevel[]
  readonly asks?: readonly WireLevel[]
  readonly changes?: readonly (WireLevel & { readonly side: string })[]
}

const captures = new Map<string, readonly Capture[]>()

/** The streams of a file in the format of POLYMARKET_STREAM. */
export function polymarketCaptures(path: string): readonly Capture[] {
  const parsed = captures.get(path) ?? parseCaptures(path)
  captures.set(path, parsed)
  return parsed
}

function parseCaptures(path: string): readonly Capture[] {
  const found = new Map<string, { tokens: string[]; frames: CapturedFrame[] }>()
  for (const text of textOfFile(path).trim().split('\n')) {
    const row: CapturedRow = JSON.parse(text)
    let capture = found.get(row.capture)
    if (capture === undefined) {
      capture = { tokens: [], frames: [] }
      found.set(row.capture, capture)
    }
    if (!capture.tokens.includes(row.asset_id)) capture.tokens.push(row.asset_id)
    capture.frames.push(frameOf(text, row, row.asset_id === capture.tokens[0]))
  }
  return [...found].map(([name, { tokens, frames }]) => {
    const [first, second] = tokens
    if (first === undefined || second === undefined) throw new Error(`${name} has one token`)
    return { name, tokens: [first, second], frames }
  })
}

function frameOf(text: string, row: CapturedRow, isFirst: boolean): CapturedFrame {
  const { bids = [], asks = [], changes = [] } = row
  return {
    text,
    isFirst,
    timeMs: timeMs(Number(row.timestamp)),
    book: row.event_type === 'book' ? { bids: levelsOf(bids), asks: levelsOf(asks) } : null,
    changes: changes.map((change) => ({
      side: change.side === 'BUY' ? 'bid' : 'ask',
      ...levelOf(change),
    })),
  }
}

const micros = (text: string): number => Math.round(Number(text) * 1e6)

function levelOf({ price, size }: WireLevel): Level {
  return { price: priceMicros(micros(price)), size: sizeMicros(micros(size)) }
}

function levelsOf(wire: readonly WireLevel[]): Level[] {
  return wire.map(levelOf).filter((level) => level.size > 0)
}

/** The level with the price of the opposite token. */
export function mirrored<T extends Level>(level: T): T {
  return { ...level, price: priceMicros(1_000_000 - level.price) }
}

export const otherSide = (side: BookSide): BookSide => (side === 'bid' ? 'ask' : 'bid')

/** The outcomes are those of the frame's messages, and the book is that after the frame. */
interface PolymarketStep {
  readonly name: string
  readonly text: string
  readonly receivedAtMs: TimeMs
  readonly becomes: readonly string[]
  /** Levels with prices of the first token, best first. */
  readonly book: { readonly bids: readonly Level[]; readonly asks: readonly Level[] }
}

interface StepRow {
  readonly case: string
  readonly received_ms: number
  readonly frame?: unknown
  /** Replaces `frame`: a text that is not JSON. */
  readonly text?: string
  readonly becomes: readonly string[]
  readonly book: WrittenBook
}

/** The first frame lists the market and its tokens in order. */
export function polymarketSteps(path: string): {
  readonly market: string
  readonly tokens: readonly [first: string, second: string]
  readonly steps: readonly PolymarketStep[]
} {
  const rows = textOfFile(path)
    .trim()
    .split('\n')
    .map((line): StepRow => JSON.parse(line))
  const steps = rows.map(({ frame, text = JSON.stringify(frame), ...row }) => ({
    name: row.case,
    text,
    receivedAtMs: timeMs(row.received_ms),
    becomes: row.becomes,
    book: writtenBook(row.book),
  }))
  const named = steps[0]?.text.matchAll(/"asset_id":"(\d+)"/g) ?? []
  const [first, second] = [...named].map((match) => match[1])
  const market = /"market":"(0x[0-9a-f]+)"/.exec(steps[0]?.text ?? '')?.[1]
  if (market === undefined || first === undefined || second === undefined) {
    throw new Error(`${path} begins without books`)
  }
  return { market, tokens: [first, second], steps }
}

interface KalshiFrame {
  readonly receivedAtMs: TimeMs
  readonly text: string
  readonly frame: KalshiBody
  /** The market's book after the message. null if the file does not contain it. */
  readonly book: { readonly bids: readonly Level[]; readonly asks: readonly Level[] } | null
}

export interface KalshiBody {
  readonly type: string
  readonly sid?: number
  readonly seq?: number
  readonly msg: {
    readonly market_ticker?: string
    readonly yes_dollars_fp?: readonly (readonly [string, string])[]
    readonly no_dollars_fp?: readonly (readonly [string, string])[]
    readonly price_dollars?: string
    readonly delta_fp?: string
    readonly side?: 'yes' | 'no'
  }
}

/** Reads a stream in the format of KALSHI_STREAM. */
export function kalshiRecording(path: string): {
  readonly tickers: readonly string[]
  readonly frames: readonly KalshiFrame[]
} {
  const frames = kalshiRows(path).map(({ received_ms, frame, book = null }) => ({
    receivedAtMs: timeMs(received_ms),
    text: JSON.stringify(frame),
    frame,
    book: book === null ? null : writtenBook(book),
  }))
  const tickers = frames.flatMap(({ frame }) => frame.msg.market_ticker ?? [])
  return { tickers: [...new Set(tickers)], frames }
}

interface KalshiRow {
  readonly received_ms: number
  readonly frame: KalshiBody
  readonly book?: WrittenBook
}

function kalshiRows(path: string): readonly KalshiRow[] {
  const text = textOfFile(path)
  if (!path.endsWith('.jsonl')) {
    const recording: { readonly frames: readonly KalshiRow[] } = JSON.parse(text)
    return recording.frames
  }
  return text
    .trim()
    .split('\n')
    .map((line): KalshiRow => JSON.parse(line))
}

/** Levels are `[price, size]`, with prices of the first outcome. */
interface WrittenBook {
  readonly bids: readonly (readonly [price: string, size: string])[]
  readonly asks: readonly (readonly [price: string, size: string])[]
}

function writtenBook({ bids, asks }: WrittenBook): { bids: Level[]; asks: Level[] } {
  const levels = (side: WrittenBook['bids']) =>
    side.map(([price, size]) => levelOf({ price, size }))
  return { bids: levels(bids), asks: levels(asks) }
}
