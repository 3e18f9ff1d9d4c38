// An observable value. Components that use the value rerender at most once a frame.

import { useEffect, useState } from 'preact/hooks'
import { nextFrame } from './browser.ts'

export class Signal<Value> {
  #value: Value
  readonly #listeners = new Set<() => void>()

  constructor(value: Value) {
    this.#value = value
  }

  get value(): Value {
    return this.#value
  }

  set(value: Value): void {
    this.#value = value
    for (const listener of [...this.#listeners]) listener()
  }

  /** Returns an unsubscribe function. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }
}

/** Rerenders the component before the next frame after a change. */
export function useSignal<Value>(signal: Signal<Value>): Value {
  const drawn = signal.value
  useRedraw(
    (redraw) => {
      // The value may have changed between the render and the subscription.
      if (signal.value !== drawn) redraw()
      return signal.subscribe(redraw)
    },
    [signal],
  )
  return drawn
}

/**
 * `redraw` rerenders the component at most once a frame. `begin` subscribes and returns an unsubscribe function. A
 * change of `inputs` calls `begin` again.
 */
export function useRedraw(
  begin: (redraw: () => void) => () => void,
  inputs: readonly unknown[],
): void {
  const [, setCount] = useState(0)
  useEffect(() => {
    let isPlanned = false
    let cancelFrame: () => void = () => undefined
    const end = begin(() => {
      if (isPlanned) return
      isPlanned = true
      cancelFrame = nextFrame(() => {
        isPlanned = false
        setCount((count) => count + 1)
      })
    })
    return () => {
      cancelFrame()
      end()
    }
  }, inputs)
}
