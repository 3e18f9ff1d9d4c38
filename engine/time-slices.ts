// Long work that can pause: a generator that yields wherever the loop may have its turn, some tenths of
// a millisecond apart. The caller decides how long it runs in one piece.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from './clock.ts'

/** Work with a result that stops at each `yield`. */
export type SlicedWork<Result> = Generator<void, Result, void>

/** The same done with each item, a step each. */
export function* forEachSliced<Item>(
  items: Iterable<Item>,
  act: (item: Item) => void,
): SlicedWork<void> {
  for (const item of items) {
    act(item)
    yield
  }
}

/** Milliseconds of one piece; one step more may begin within them. */
const SLICE_MS = 1

let last: Promise<unknown> = Promise.resolve()

/** A turn of the loop that no other caller is given: works that go on at once share the loop, and their pieces never add up. */
export function yieldToEventLoop(): Promise<void> {
  const tick = last.then(() => nextTurn())
  last = tick
  return tick
}

/** Does all of it at once. */
export function runToEnd<Result>(work: SlicedWork<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** Does one piece; null while something is left to do. */
export function runSlice<Result>(
  clock: Pick<Clock, 'monotonicMs'>,
  work: SlicedWork<Result>,
): { readonly result: Result } | null {
  const untilMs = clock.monotonicMs() + SLICE_MS
  do {
    const { done, value } = work.next()
    if (done === true) return { result: value }
  } while (clock.monotonicMs() < untilMs)
  return null
}

/** Does a piece in each turn of the loop that it is given, none in this one. */
export async function runInSlices<Result>(
  clock: Pick<Clock, 'monotonicMs'>,
  work: SlicedWork<Result>,
): Promise<Result> {
  for (;;) {
    await yieldToEventLoop()
    const done = runSlice(clock, work)
    if (done !== null) return done.result
  }
}
