// A value that parts of the page listen to. Set as often as you like: a part that uses it is drawn at most once a
// picture, with the newest value.

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

  /** Returns how to stop listening. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }
}

/** The signal's value; the part is drawn again before the next picture after it changed. */
export function useSignal<Value>(signal: Signal<Value>): Value {
  const drawn = signal.value
  useRedraw(
    (redraw) => {
      // It may have changed between being drawn and being listened to.
      if (signal.value !== drawn) redraw()
      return signal.subscribe(redraw)
    },
    [signal],
  )
  return drawn
}

/**
 * Draws the part again before the next picture, at most once a picture, when `redraw` is called by what `begin` began;
 * `begin` returns how to end it, and is called again when `inputs` change.
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
