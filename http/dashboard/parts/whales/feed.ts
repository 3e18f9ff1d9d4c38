// Large trades for as long as the page is open: what the server has, then each new one as it happens, each once, newest
// first, and never more than a screen or two of them. The list is asked for once the stream is live, so that nothing
// falls between the two. Not for: how they look (pages/whales.ts). Upholds DASH62, DASH63.

import { useRef, useState } from 'preact/hooks'
import { request } from '../../api.ts'
import { after } from '../../browser.ts'
import { useRedraw } from '../../signal.ts'
import { follow, streamClient } from '../../stream.ts'

/** One large trade. Price and side are in the market's first outcome. */
export interface WhaleRow {
  readonly id: string
  readonly marketId: string
  readonly platform: string
  readonly question: string
  readonly side: string
  /** In dollars, 0 to 1. */
  readonly price: number
  /** Contracts. */
  readonly size: number
  readonly usd: number
  /** Which outcome was traded, where the venue says it. */
  readonly outcome: string | null
  /** The wallet that traded; null where the venue does not say. */
  readonly wallet: string | null
  readonly atMs: number
  /** It happened while the viewer looked on. */
  readonly isLive: boolean
}

/** Which rows are wanted; an empty word wants all. */
interface WhaleFilter {
  readonly usdMin: number
  readonly platform: string
  readonly side: string
}

export const WHALE_ROWS_MAX = 200

interface WhaleFeed {
  readonly kind: 'waiting' | 'answered' | 'failed'
  readonly error: unknown
  readonly rows: readonly WhaleRow[]
}

interface Answer {
  readonly trades: readonly Readonly<Record<string, unknown>>[]
}

const BEGINNING: WhaleFeed = { kind: 'waiting', error: null, rows: [] }
const PAGE_ROWS = 100
/** A stream that is not live by then is not waited for. */
const PATIENCE_MS = 1_500
const EVERYTHING = { channel: 'whales', all: true } as const

/** Whales that pass the filter; `again` asks the server once more. */
export function useWhales(filter: WhaleFilter): WhaleFeed & { readonly again: () => void } {
  const feed = useRef(BEGINNING)
  const [round, setRound] = useState(0)
  const { usdMin, platform, side } = filter
  useRedraw(
    (redraw) => {
      feed.current = BEGINNING
      redraw()
      return followWhales(filter, (change) => {
        feed.current = change(feed.current)
        redraw()
      })
    },
    [usdMin, platform, side, round],
  )
  return { ...feed.current, again: () => setRound(round + 1) }
}

function followWhales(
  filter: WhaleFilter,
  put: (change: (feed: WhaleFeed) => WhaleFeed) => void,
): () => void {
  const ending = new AbortController()
  const ask = () => {
    stopWaiting()
    askWhales(filter, ending.signal).then(
      (rows) =>
        ending.signal.aborted ||
        put((feed) => ({ kind: 'answered', error: null, rows: merged(feed.rows, rows) })),
      (error: unknown) =>
        ending.signal.aborted || put((feed) => ({ ...feed, kind: 'failed', error })),
    )
  }
  const stopWaiting = after(PATIENCE_MS, ask)
  const stop = follow(EVERYTHING, {
    onMessage: (message) => {
      const row = message.type === 'whale' ? whaleRow(message.data, true) : null
      if (row === null || !passes(row, filter)) return
      put((feed) => ({ ...feed, rows: merged([row], feed.rows) }))
    },
    // What the stream lost for good, the server may still have.
    onGap: ask,
  })
  const live = streamClient()?.subscribe(EVERYTHING)
  live?.ready.then(() => ending.signal.aborted || ask())
  return () => {
    ending.abort()
    stopWaiting()
    live?.unsubscribe()
    stop()
  }
}

async function askWhales(
  { usdMin, platform, side }: WhaleFilter,
  signal: AbortSignal,
): Promise<readonly WhaleRow[]> {
  const query = {
    min_usd: usdMin,
    platform: platform === '' ? null : platform,
    side: side === '' ? null : side,
    limit: PAGE_ROWS,
  }
  const { trades } = await request<Answer>('/v1/whales', { query, signal })
  return trades.flatMap((record) => whaleRow(record, false) ?? [])
}

/** The record as a row; null when it is none. */
export function whaleRow(
  record: Readonly<Record<string, unknown>>,
  isLive: boolean,
): WhaleRow | null {
  const { id, market_id, platform, question, side, price, size, size_usd, timestamp_ms } = record
  const texts = [id, market_id, platform, question, side]
  const numbers = [price, size, size_usd, timestamp_ms]
  if (!texts.every((value) => typeof value === 'string')) return null
  if (!numbers.every((value) => typeof value === 'number')) return null
  return {
    id: String(id),
    marketId: String(market_id),
    platform: String(platform),
    question: String(question),
    side: String(side),
    price: Number(price),
    size: Number(size),
    usd: Number(size_usd),
    outcome: textOrNull(record.outcome),
    wallet: textOrNull(record.wallet),
    atMs: Number(timestamp_ms),
    isLive,
  }
}

export const passes = (row: WhaleRow, { usdMin, platform, side }: WhaleFilter): boolean =>
  row.usd >= usdMin &&
  (platform === '' || row.platform === platform) &&
  (side === '' || row.side === side)

/** Both lists as one, each trade once, newest first, the oldest beyond the bound left out. */
export function merged(one: readonly WhaleRow[], other: readonly WhaleRow[]): readonly WhaleRow[] {
  const byId = new Map([...other, ...one].map((row) => [row.id, row]))
  return [...byId.values()].sort((a, b) => b.atMs - a.atMs).slice(0, WHALE_ROWS_MAX)
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
