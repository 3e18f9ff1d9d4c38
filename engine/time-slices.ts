// Long work in time slices. A generator yields every few tenths of a millisecond, wherever the event loop may run.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from './clock.ts'

export type SlicedWork<Result> = Generator<void, Result, void>

export function* forEachSliced<Item>(
  items: Iterable<Item>,
  act: (item: Item) => void,
): SlicedWork<void> {
  for (const item of items) {
    act(item)
    yield
  }
}

const SLICE_MS = 1

let last: Promise<unknown> = Promise.resolve()

/**
 * Resolves in an event-loop tick that no other caller gets. Concurrent tasks therefore never run two slices in one
 * tick.
 */
export function yieldToEventLoop(): Promise<void> {
  const tick = last.then(() => nextTurn())
  last = tick
  return tick
}

export function runToEnd<Result>(work: SlicedWork<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** Runs one slice. Returns null while work remains. */
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

/** Runs one slice per event-loop tick. The first slice runs in a later tick. */
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

/** Runs the first slice now and further ones in later event-loop ticks. */
export async function runInSlicesFromNow<Result>(
  clock: Pick<Clock, 'monotonicMs'>,
  work: SlicedWork<Result>,
): Promise<Result> {
  const done = runSlice(clock, work)
  return done === null ? runInSlices(clock, work) : done.result
}
