// Hooks for REST requests: one request per mount and input change, or polling. Requests are aborted on
// unmount.

import { useEffect, useState } from 'preact/hooks'
import { every, monotonicMs } from '../browser.ts'

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
