// A list that the server answers and the stream goes on with, for as long as the page is open: it is asked for once the
// stream is live, so that nothing falls between the two, and again when the stream lost something for good.

import { useRef, useState } from 'preact/hooks'
import type { Channel, DataMessage } from '../../../client/messages.ts'
import { after, monotonicMs } from '../../browser.ts'
import { useRedraw } from '../../signal.ts'
import { follow } from '../../stream.ts'

interface LiveSource<Rows> {
  readonly channel: Channel
  readonly none: Rows
  /** Rejects with ApiError. */
  readonly ask: (signal: AbortSignal) => Promise<Rows>
  /** The rows with what a message tells; the very same rows when it tells nothing of them. */
  readonly tell: (rows: Rows, message: DataMessage) => Rows
  /** What is known with what the server answered, which was asked at that moment of the monotonic clock. */
  readonly join: (known: Rows, answer: Rows, askedMs: number) => Rows
}

interface LiveList<Rows> {
  readonly kind: 'waiting' | 'answered' | 'failed'
  readonly error: unknown
  readonly rows: Rows
}

/** A stream that is not live by then is not waited for. */
const PATIENCE_MS = 1_500

/** The rows so far; they are dropped when `inputs` change, and by `again`, which asks the server once more. */
export function useLiveList<Rows>(
  source: LiveSource<Rows>,
  inputs: readonly unknown[],
): LiveList<Rows> & { readonly again: () => void } {
  const beginning: LiveList<Rows> = { kind: 'waiting', error: null, rows: source.none }
  const list = useRef(beginning)
  // Asked again, it is for what the page shows by then.
  const latest = useRef(source)
  latest.current = source
  const [round, setRound] = useState(0)
  useRedraw(
    (redraw) => {
      const put = (change: Partial<LiveList<Rows>>) => {
        list.current = { ...list.current, ...change }
        redraw()
      }
      put(beginning)
      const ask = (signal: AbortSignal) => latest.current.ask(signal)
      return followList({ ...source, ask }, { known: () => list.current.rows, put })
    },
    [...inputs, round],
  )
  return { ...list.current, again: () => setRound(round + 1) }
}

function followList<Rows>(
  { channel, ask: askServer, tell, join }: LiveSource<Rows>,
  {
    known,
    put,
  }: { readonly known: () => Rows; readonly put: (change: Partial<LiveList<Rows>>) => void },
): () => void {
  const ending = new AbortController()
  const ask = () => {
    stopWaiting()
    const askedMs = monotonicMs()
    askServer(ending.signal).then(
      (answer) => {
        if (ending.signal.aborted) return
        put({ kind: 'answered', error: null, rows: join(known(), answer, askedMs) })
      },
      (error: unknown) => ending.signal.aborted || put({ kind: 'failed', error }),
    )
  }
  const stopWaiting = after(PATIENCE_MS, ask)
  const stop = follow(
    { channel, all: true },
    {
      onMessage: (message) => {
        const rows = tell(known(), message)
        if (rows !== known()) put({ rows })
      },
      // What the stream lost for good, the server may still have.
      onGap: ask,
      onReady: ask,
    },
  )
  return () => {
    ending.abort()
    stopWaiting()
    stop()
  }
}
