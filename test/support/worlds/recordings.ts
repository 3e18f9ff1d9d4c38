// The recorded data of ../shared/data as tests read it: where it is, what is missing, and the two
// recorded book streams frame by frame. What a frame says is read here by plain JSON and Number,
// independently of our parsers, so that it can judge them.
// Not for: sending frames anywhere (book-paths.ts).

import { existsSync, readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { BookSide, Level, LevelChange } from '../../../engine/events.ts'
import { priceMicros, sizeMicros, type TimeMs, timeMs } from '../../../engine/units.ts'

export const SHARED = process.env.SHARED_DATA ?? '../shared/data'
export const POLYMARKET_STREAM = `${SHARED}/polymarket-book-stream-2025.jsonl.gz`
export const KALSHI_STREAM = `${SHARED}/fixtures/kalshi/ws_orderbook_stream.json`

/** Says loudly that data is absent and skips the test; false when it is there. */
export function isAbsent(t: TestContext, path: string): boolean {
  if (existsSync(path)) return false
  t.diagnostic(`RECORDED DATA ABSENT: ${path} (set SHARED_DATA)`)
  t.skip(`${path} is absent`)
  return true
}

export function readRecorded(path: string): string {
  const bytes = readFileSync(path)
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
}

/** One message of a capture. Levels and changes are as its own token quotes them. */
export interface CapturedFrame {
  readonly text: string
  readonly isFirst: boolean
  readonly timeMs: TimeMs
  /** Null unless the frame is a `book`. */
  readonly book: { readonly bids: readonly Level[]; readonly asks: readonly Level[] } | null
  /** Empty for a `book`. */
  readonly changes: readonly LevelChange[]
}

/** One captured stream: both tokens of one market, in the order of their arrival. */
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

export function polymarketCaptures(): Capture[] {
  const found = new Map<string, { tokens: string[]; frames: CapturedFrame[] }>()
  for (const text of readRecorded(POLYMARKET_STREAM).trim().split('\n')) {
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

/** The same level, quoted for the other token. */
export function mirrored<T extends Level>(level: T): T {
  return { ...level, price: priceMicros(1_000_000 - level.price) }
}

export const otherSide = (side: BookSide): BookSide => (side === 'bid' ? 'ask' : 'bid')

/** One message of the recorded Kalshi stream. */
export interface KalshiFrame {
  readonly receivedAtMs: TimeMs
  readonly text: string
  readonly frame: KalshiBody
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

export function kalshiRecording(): { tickers: readonly string[]; frames: readonly KalshiFrame[] } {
  const recording: {
    tickers: string[]
    frames: { received_ms: number; frame: KalshiBody }[]
  } = JSON.parse(readRecorded(KALSHI_STREAM))
  return {
    tickers: recording.tickers,
    frames: recording.frames.map(({ received_ms, frame }) => ({
      receivedAtMs: timeMs(received_ms),
      text: JSON.stringify(frame),
      frame,
    })),
  }
}
