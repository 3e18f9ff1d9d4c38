import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Channel, DataMessage } from '../../client/messages.ts'
import { after, every, monotonicMs, type StopTimer } from '../browser.ts'
import { html } from '../html.ts'
import { useRedraw } from '../signal.ts'
import { follow } from '../stream.ts'
import { Failure, Waiting } from './states.ts'

/** Calls `onAnswer` or `onError` when the promise settles, unless `signal` has aborted. */
export function settle<Answer>(
  answer: Promise<Answer>,
  signal: AbortSignal,
  onAnswer: (answer: Answer) => void,
  onError: (error: unknown) => void,
): void {
  answer.then(
    (value) => signal.aborted || onAnswer(value),
    (error: unknown) => signal.aborted || onError(error),
  )
}

interface Result {
  readonly kind: 'waiting' | 'answered' | 'failed'
  readonly error: unknown
  /** Repeats the request. The old answer stays visible until the new answer arrives. */
  readonly again: () => void
}

interface RequestState<Answer> extends Result {
  /** Null unless `kind` is `answered`. */
  readonly answer: Answer | null
  /** The last answer, even if the inputs have changed or the last request failed. */
  readonly latest: Answer | null
  /** Duration of the last successful request; null before the first success. */
  readonly latencyMs: number | null
}

/** Requests on mount, when `inputs` change, and every `periodMs` if given. Sends nothing while `isWanted` is false. */
export function useRequest<Answer>(
  fetchAnswer: (signal: AbortSignal) => Promise<Answer>,
  inputs: readonly unknown[],
  { periodMs, isWanted = true }: { readonly periodMs?: number; readonly isWanted?: boolean } = {},
): RequestState<Answer> {
  const waiting: Omit<RequestState<Answer>, 'again' | 'latest' | 'latencyMs'> = {
    ...{ kind: 'waiting', answer: null, error: null },
  }
  const [state, setState] = useState(waiting)
  const [round, setRound] = useState(0)
  const last = useRef<Pick<RequestState<Answer>, 'latest' | 'latencyMs'>>({
    ...{ latest: null, latencyMs: null },
  })
  useLayoutEffect(() => setState(waiting), inputs)
  useEffect(() => {
    if (!isWanted) return undefined
    const ending = new AbortController()
    const load = () => {
      const beganMs = monotonicMs()
      settle(
        fetchAnswer(ending.signal),
        ending.signal,
        (answer) => {
          last.current = { latest: answer, latencyMs: monotonicMs() - beganMs }
          setState({ kind: 'answered', answer, error: null })
        },
        (error) => setState({ kind: 'failed', answer: null, error }),
      )
    }
    load()
    const stop = periodMs === undefined ? () => undefined : every(periodMs, load)
    return () => {
      stop()
      ending.abort()
    }
  }, [...inputs, round, isWanted])
  return { ...state, ...last.current, again: () => setRound((count) => count + 1) }
}

/** Shows a running or failed request. `hasRows` hides the loading state. */
export function Unanswered({
  result: { kind, error, again },
  what,
  hasRows = false,
}: {
  readonly result: Result
  readonly what: string
  readonly hasRows?: boolean
}) {
  if (kind === 'waiting') return hasRows ? null : html`<${Waiting} what=${what} />`
  return kind === 'answered' ? null : html`<${Failure} error=${error} retry=${again} />`
}

interface Progress<Page> {
  readonly pages: readonly Page[]
  /** False while the pages of the previous inputs are shown. */
  readonly isCurrent: boolean
  /** `first`: the last request was for the first page, which replaces all pages. */
  readonly part: 'first' | 'next'
  readonly isLoading: boolean
  /** Error of the last request; null while it runs or after a success. */
  readonly error: unknown
}

interface Paged<Page> extends Progress<Page>, Result {
  readonly hasMore: boolean
  readonly more: () => void
}

/**
 * Loads the first page on mount and further pages on demand. A change of `inputs` reloads the first page. The old pages
 * stay visible until the new page arrives. `kind` is the state of the first page.
 */
export function usePages<Page extends { readonly cursor: string | null }>(
  fetchPage: (cursor: string | null, signal: AbortSignal) => Promise<Page>,
  inputs: readonly unknown[],
): Paged<Page> {
  const beginning: Progress<Page> = {
    ...{ pages: [], isCurrent: false, part: 'first', isLoading: true, error: null },
  }
  const [progress, setProgress] = useState(beginning)
  const ending = useRef(new AbortController())
  const { pages, part, isLoading, error } = progress
  const load = (next: Progress<Page>['part'], isCurrent = progress.isCurrent) => {
    ending.current.abort()
    ending.current = new AbortController()
    const { signal } = ending.current
    const before = next === 'first' ? [] : pages
    const begun: Progress<Page> = { pages, isCurrent, part: next, isLoading: true, error: null }
    setProgress(begun)
    settle(
      fetchPage(before.at(-1)?.cursor ?? null, signal),
      signal,
      (page) =>
        setProgress({ ...begun, pages: [...before, page], isCurrent: true, isLoading: false }),
      (failure) => setProgress({ ...begun, isLoading: false, error: failure }),
    )
  }
  useLayoutEffect(() => {
    load('first', false)
    return () => ending.current.abort()
  }, inputs)
  const isFailed = part === 'first' && error !== null
  return {
    ...progress,
    kind: isFailed ? 'failed' : progress.isCurrent ? 'answered' : 'waiting',
    hasMore: (pages.at(-1)?.cursor ?? null) !== null,
    more: () => void (isLoading || load('next')),
    again: () => void (isLoading || load('first')),
  }
}

/** Renders nothing if the first page failed or no page follows. */
export function More({ paged }: { readonly paged: Paged<unknown> }) {
  const { kind, isLoading, error, hasMore, more } = paged
  if (kind === 'failed' || !hasMore) return null
  if (error !== null) return html`<${Failure} error=${error} retry=${more} />`
  return html`<p><button type="button" class="more" aria-disabled=${isLoading} onClick=${more}>
    ${isLoading ? 'Loading…' : 'Show more'}
  </button></p>`
}

interface LiveSource<Rows> {
  readonly channel: Channel
  readonly marketIds?: readonly string[]
  readonly none: Rows
  readonly load: (signal: AbortSignal) => Promise<Rows>
  /** Returns the same object if the message changes nothing. */
  readonly applyMessage: (rows: Rows, message: DataMessage) => Rows
  /** Merges a REST response into the current rows. `requestedMs`: monotonic time of the request. */
  readonly join: (current: Rows, answer: Rows, requestedMs: number) => Rows
}

/** The list loads without the stream if the stream is not live after this time. */
const PATIENCE_MS = 1_500

interface LiveState<Rows> extends Omit<Result, 'again'> {
  /** Equals `none` before the first response or message. */
  readonly rows: Rows
  readonly none: Rows
  /** Rows of the previous inputs, shown while `rows` equals `none`. */
  readonly previous: Rows
  readonly key: string
}

/**
 * A list that REST loads and the stream updates. It loads once the stream is live, so that no change is missed, and
 * reloads after a gap. The previous rows stay visible after a change of `inputs`.
 */
export function useLiveList<Rows>(source: LiveSource<Rows>, inputs: readonly (string | number)[]) {
  const key = inputs.join('\n')
  const { none } = source
  const list = useRef<LiveState<Rows>>({
    ...{ kind: 'waiting', error: null, rows: none, none, previous: none, key },
  })
  const shown = () =>
    list.current.rows === list.current.none ? list.current.previous : list.current.rows
  const again = useRef<() => void>(() => undefined)
  // Reloads must call the functions of the latest render.
  const latest = useRef(source)
  latest.current = source
  useRedraw(
    (redraw) => {
      const ending = new AbortController()
      let cancelWait: StopTimer = () => undefined
      const put = (change: Partial<LiveState<Rows>>) => {
        list.current = { ...list.current, ...change }
        redraw()
      }
      const reload = () => {
        cancelWait()
        const requestedMs = monotonicMs()
        const { load, join } = latest.current
        settle(
          load(ending.signal),
          ending.signal,
          (answer) =>
            put({
              kind: 'answered',
              error: null,
              rows: join(list.current.rows, answer, requestedMs),
            }),
          (error) => put({ kind: 'failed', error }),
        )
      }
      put({ kind: 'waiting', error: null, rows: none, none, previous: shown(), key })
      again.current = reload
      cancelWait = after(PATIENCE_MS, reload)
      const { channel, marketIds, applyMessage } = source
      const stop = follow(
        marketIds === undefined ? { channel, all: true } : { channel, marketIds },
        {
          onMessage: (message) => {
            const rows = applyMessage(list.current.rows, message)
            if (rows !== list.current.rows) put({ rows })
          },
          // REST may have the changes that the stream lost.
          onGap: reload,
          onReady: reload,
        },
      )
      return () => {
        ending.abort()
        cancelWait()
        stop()
      }
    },
    [key],
  )
  const { kind, error, rows } = list.current
  // The effect that resets the list for new inputs runs after the render.
  const isReset = list.current.key === key
  return {
    kind: isReset ? kind : ('waiting' as const),
    error,
    rows: shown(),
    /** False while the rows of the previous inputs are shown. */
    isCurrent: isReset && rows !== list.current.none,
    again: () => again.current(),
  }
}

/** Newest first, at most `max` rows. Rows of `one` replace rows of `other` with the same id. */
export function mergedByTime<Row extends { readonly id: string; readonly timestamp_ms: number }>(
  one: readonly Row[],
  other: readonly Row[],
  max: number,
): readonly Row[] {
  const ids = new Set<string>()
  return [...one, ...other]
    .filter(({ id }) => !ids.has(id) && ids.add(id))
    .sort((first, second) => second.timestamp_ms - first.timestamp_ms)
    .slice(0, max)
}
