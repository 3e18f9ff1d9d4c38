// An answer of the server that a part of the page shows: asked for when the part appears or what it asks for changes,
// given up when it goes; or asked for again and again while it is wanted.

import { useEffect, useState } from 'preact/hooks'
import { every, monotonicMs } from '../browser.ts'

type State<Answer> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: unknown }

/** `again` asks once more; meanwhile the old answer stays. */
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
  /** Of the last request; null: it was answered. */
  readonly error: unknown
  /** How long the last answer took. */
  readonly latencyMs: number | null
}

/**
 * Asks now and every so often while it is wanted; the last answer stays while a newer one is waited for, and when it
 * fails. `ask` must be the same function each time.
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
