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
  readonly load: (signal: AbortSignal) => Promise<Rows>
  /** The rows with what a message tells; the very same rows when it tells nothing of them. */
  readonly applyMessage: (rows: Rows, message: DataMessage) => Rows
  /** What is known with what the server answered, which was asked at that moment of the monotonic clock. */
  readonly join: (current: Rows, answer: Rows, requestedMs: number) => Rows
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
      const load = (signal: AbortSignal) => latest.current.load(signal)
      return followList({ ...source, load }, { current: () => list.current.rows, put })
    },
    [...inputs, round],
  )
  return { ...list.current, again: () => setRound(round + 1) }
}

function followList<Rows>(
  { channel, load, applyMessage, join }: LiveSource<Rows>,
  {
    current,
    put,
  }: { readonly current: () => Rows; readonly put: (change: Partial<LiveList<Rows>>) => void },
): () => void {
  const ending = new AbortController()
  const reload = () => {
    cancelWait()
    const requestedMs = monotonicMs()
    load(ending.signal).then(
      (answer) => {
        if (ending.signal.aborted) return
        put({ kind: 'answered', error: null, rows: join(current(), answer, requestedMs) })
      },
      (error: unknown) => ending.signal.aborted || put({ kind: 'failed', error }),
    )
  }
  const cancelWait = after(PATIENCE_MS, reload)
  const stop = follow(
    { channel, all: true },
    {
      onMessage: (message) => {
        const rows = applyMessage(current(), message)
        if (rows !== current()) put({ rows })
      },
      // What the stream lost for good, the server may still have.
      onGap: reload,
      onReady: reload,
    },
  )
  return () => {
    ending.abort()
    cancelWait()
    stop()
  }
}
