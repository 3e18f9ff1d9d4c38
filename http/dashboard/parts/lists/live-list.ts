// A list loaded by REST and updated by the stream. It loads once the stream is live, so that no change is
// missed, and again after a gap.

import { useRef, useState } from 'preact/hooks'
import type { Channel, DataMessage } from '../../../client/messages.ts'
import { after, monotonicMs } from '../../browser.ts'
import { useRedraw } from '../../signal.ts'
import { follow } from '../../stream.ts'

interface LiveSource<Rows> {
  readonly channel: Channel
  readonly none: Rows
  readonly load: (signal: AbortSignal) => Promise<Rows>
  /** Applies a message. Returns the same object if nothing changes. */
  readonly applyMessage: (rows: Rows, message: DataMessage) => Rows
  /** Merges the response into the current rows. `requestedMs` is the monotonic time of the request. */
  readonly join: (current: Rows, answer: Rows, requestedMs: number) => Rows
}

interface LiveList<Rows> {
  readonly kind: 'waiting' | 'answered' | 'failed'
  readonly error: unknown
  readonly rows: Rows
}

/** Loads without the stream if it is not live after this time. */
const PATIENCE_MS = 1_500

/** The current list. It resets when `inputs` change. `again` also resets it and reloads. */
export function useLiveList<Rows>(
  source: LiveSource<Rows>,
  inputs: readonly unknown[],
): LiveList<Rows> & { readonly again: () => void } {
  const beginning: LiveList<Rows> = { kind: 'waiting', error: null, rows: source.none }
  const list = useRef(beginning)
  // A reload uses the source of the latest render.
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
      // The server may still have what the stream lost.
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
