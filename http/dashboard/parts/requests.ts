// Hooks for REST requests: one request per mount and input change, or polling. Requests are aborted on
// unmount.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Channel, DataMessage } from '../../client/messages.ts'
import { after, every, monotonicMs } from '../browser.ts'
import { html } from '../html.ts'
import { useRedraw } from '../signal.ts'
import { follow } from '../stream.ts'
import { Failure } from './states.ts'

type State<Answer> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: unknown }

/** `again` repeats the request. The old answer stays visible meanwhile. */
export type RequestState<Answer = unknown> = State<Answer> & { readonly again: () => void }

export function useRequest<Answer>(
  fetchAnswer: (signal: AbortSignal) => Promise<Answer>,
  inputs: readonly unknown[],
): RequestState<Answer> {
  const [state, setState] = useState<State<Answer>>({ kind: 'waiting' })
  const [round, setRound] = useState(0)
  useEffect(() => setState({ kind: 'waiting' }), inputs)
  useEffect(() => {
    const ending = new AbortController()
    fetchAnswer(ending.signal).then(
      (answer) => ending.signal.aborted || setState({ kind: 'answered', answer }),
      (error: unknown) => ending.signal.aborted || setState({ kind: 'failed', error }),
    )
    return () => ending.abort()
  }, [...inputs, round])
  return { ...state, again: () => setRound((count) => count + 1) }
}

interface Polled<Answer> {
  readonly answer: Answer | null
  /** Error of the last request; null: it succeeded. */
  readonly error: unknown
  /** Duration of the last successful request. */
  readonly latencyMs: number | null
}

/**
 * Polls while `isWanted`. The last answer stays during a request and after an error. `fetchAnswer` must be
 * a stable function.
 */
export function usePolled<Answer>(
  fetchAnswer: (signal: AbortSignal) => Promise<Answer>,
  { periodMs, isWanted = true }: { readonly periodMs: number; readonly isWanted?: boolean },
): Polled<Answer> {
  const [polled, setPolled] = useState<Polled<Answer>>({
    answer: null,
    error: null,
    latencyMs: null,
  })
  useEffect(() => {
    if (!isWanted) return undefined
    const ending = new AbortController()
    const poll = () => {
      const beganMs = monotonicMs()
      fetchAnswer(ending.signal).then(
        (answer) => setPolled({ answer, error: null, latencyMs: monotonicMs() - beganMs }),
        (error: unknown) => ending.signal.aborted || setPolled((before) => ({ ...before, error })),
      )
    }
    poll()
    const stop = every(periodMs, poll)
    return () => {
      stop()
      ending.abort()
    }
  }, [fetchAnswer, periodMs, isWanted])
  return polled
}

// A list loaded by REST and updated by the stream. It loads once the stream is live, so that no change is
// missed, and again after a gap.

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

// A paged list: loads the first page on mount or when `inputs` change, and further pages on demand.

interface Page {
  readonly cursor: string | null
}

interface Progress<Answer> {
  readonly pages: readonly Answer[]
  readonly isLoading: boolean
  readonly error: unknown
}

interface Paged<Answer> extends Progress<Answer> {
  readonly hasMore: boolean
  /** Loads the next page, or retries the failed one. */
  readonly more: () => void
  /** Reloads from the first page. The old pages stay visible until then. */
  readonly again: () => void
}

const BEGINNING = { pages: [], isLoading: true, error: null } as const

/** The pages so far; cleared when `inputs` change. */
export function usePages<Answer extends Page>(
  fetchPage: (cursor: string | null, signal: AbortSignal) => Promise<Answer>,
  inputs: readonly unknown[],
): Paged<Answer> {
  const [progress, setProgress] = useState<Progress<Answer>>(BEGINNING)
  const ending = useRef<AbortController | null>(null)
  const loadAfter = (pages: readonly Answer[], shown = pages) => {
    const own = new AbortController()
    ending.current?.abort()
    ending.current = own
    setProgress({ pages: shown, isLoading: true, error: null })
    fetchPage(pages.at(-1)?.cursor ?? null, own.signal).then(
      (answer) => {
        if (own.signal.aborted) return
        setProgress({ pages: [...pages, answer], isLoading: false, error: null })
      },
      (error: unknown) => {
        if (!own.signal.aborted) setProgress({ pages: shown, isLoading: false, error })
      },
    )
  }
  useEffect(() => {
    loadAfter([])
    return () => ending.current?.abort()
  }, inputs)
  const cursor = progress.pages.at(-1)?.cursor ?? null
  return {
    ...progress,
    hasMore: cursor !== null,
    more: () => progress.isLoading || loadAfter(progress.pages),
    again: () => progress.isLoading || loadAfter([], progress.pages),
  }
}

/** Button for the next page, or the error of the last one; nothing after the last page. */
export function More({ paged }: { readonly paged: Omit<Paged<unknown>, 'pages'> }) {
  const { isLoading, error, hasMore, more } = paged
  if (error !== null) return html`<${Failure} error=${error} retry=${more} />`
  if (!hasMore) return null
  return html`<p><button type="button" class="more" aria-disabled=${isLoading} onClick=${more}>
    ${isLoading ? 'Loading…' : 'Show more'}
  </button></p>`
}
