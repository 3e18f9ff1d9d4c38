// An answer of the server that a part of the page shows: asked for when the part appears or what it asks for changes,
// given up when it goes; or asked for again and again while it is wanted.

import { useEffect, useState } from 'preact/hooks'
import { every, monotonicMs } from '../browser.ts'

type State<Answer> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: unknown }

/** `again` asks once more; meanwhile the old answer stays. */
export type Asked<Answer = unknown> = State<Answer> & { readonly again: () => void }

export function useAsked<Answer>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  inputs: readonly unknown[],
): Asked<Answer> {
  const [asked, setAsked] = useState<State<Answer>>({ kind: 'waiting' })
  const [round, setRound] = useState(0)
  useEffect(() => setAsked({ kind: 'waiting' }), inputs)
  useEffect(() => {
    const ending = new AbortController()
    ask(ending.signal).then(
      (answer) => ending.signal.aborted || setAsked({ kind: 'answered', answer }),
      (error: unknown) => ending.signal.aborted || setAsked({ kind: 'failed', error }),
    )
    return () => ending.abort()
  }, [...inputs, round])
  return { ...asked, again: () => setRound((count) => count + 1) }
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
  ask: (signal: AbortSignal) => Promise<Answer>,
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
    const look = () => {
      const beganMs = monotonicMs()
      ask(ending.signal).then(
        (answer) => setPolled({ answer, error: null, latencyMs: monotonicMs() - beganMs }),
        (error: unknown) => ending.signal.aborted || setPolled((before) => ({ ...before, error })),
      )
    }
    look()
    const stop = every(periodMs, look)
    return () => {
      stop()
      ending.abort()
    }
  }, [ask, periodMs, isWanted])
  return polled
}
