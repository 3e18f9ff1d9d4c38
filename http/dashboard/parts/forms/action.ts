// Something that a person asks the server to do: whether it is under way, and why it failed. One at a time: a second
// click while the first is under way asks for nothing.

import { useEffect, useRef, useState } from 'preact/hooks'

interface Action {
  readonly isRunning: boolean
  /** Why the last action failed; null: it did not, or there was none. */
  readonly error: unknown
  /** `work` ends in what the page shows of it; how it ends is dropped once the part has gone. */
  readonly run: (work: () => Promise<void>) => void
  readonly clearError: () => void
}

export function useAction(): Action {
  const [state, setState] = useState<{ isRunning: boolean; error: unknown }>(IDLE)
  const isUnmounted = useRef(false)
  const isRunning = useRef(false)
  useEffect(() => {
    isUnmounted.current = false
    return () => {
      isUnmounted.current = true
    }
  }, [])
  const settle = (error: unknown) => {
    isRunning.current = false
    if (!isUnmounted.current) setState({ isRunning: false, error })
  }
  return {
    ...state,
    run(work) {
      if (isRunning.current) return
      isRunning.current = true
      setState({ isRunning: true, error: null })
      work().then(() => settle(null), settle)
    },
    clearError: () => setState((last) => ({ ...last, error: null })),
  }
}

const IDLE = { isRunning: false, error: null }
