// An answer of the server that is asked for again and again. Not for: one that is asked for once (asked.ts).

import { useEffect, useState } from 'preact/hooks'
import { every, monotonicMs } from '../browser.ts'

export interface Polled<Answer> {
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
