// Runs a user's action and tracks its progress and error. Ignores further calls while an action is running.

import { useEffect, useRef, useState } from 'preact/hooks'

interface Action {
  readonly isRunning: boolean
  /** Error of the last action; null if it succeeded or there was none. */
  readonly error: unknown
  /** Runs `work`, which updates the page itself. Its result is ignored after the component unmounts. */
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
