// Large trades for as long as the page is open: what the server has, then each new one as it happens. The list is asked
// for once the stream is live, so that nothing falls between the two. Not for: merging (http/dashboard/parts/whales/rows.ts). Upholds DASH62.

import { useRef, useState } from 'preact/hooks'
import { request } from '../../api.ts'
import { after } from '../../browser.ts'
import { useRedraw } from '../../signal.ts'
import { follow, streamClient } from '../../stream.ts'
import { merged, passes, type WhaleFilter, type WhaleRow, whaleRow } from './rows.ts'

export interface WhaleFeed {
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
