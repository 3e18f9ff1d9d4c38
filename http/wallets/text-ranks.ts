// Ranks texts alphabetically as numbers for sorting, without blocking the event loop.

import type { Clock } from '../../engine/clock.ts'
import { forEachInSlices, nextMeasuredTick } from '../request/time-slices.ts'

/** Texts sorted per event-loop tick: a fraction of a millisecond. */
const RUN_TEXTS = 512

/** The rank of each text among the distinct ones, by code units; NaN for null. */
export async function textRanks(
  clock: Clock,
  texts: readonly (string | null)[],
): Promise<Float64Array> {
  const ranks = new Map<string, number>()
  await forEachInSlices(clock, texts, (text) => {
    if (text !== null) ranks.set(text, 0)
  })
  const sorted = await sortedTexts(clock, [...ranks.keys()])
  let rank = 0
  await forEachInSlices(clock, sorted, (text) => {
    ranks.set(text, rank)
    rank += 1
  })
  const keys = new Float64Array(texts.length).fill(Number.NaN)
  let index = 0
  await forEachInSlices(clock, texts, (text) => {
    if (text !== null) keys[index] = ranks.get(text) ?? Number.NaN
    index += 1
  })
  return keys
}

async function sortedTexts(clock: Clock, texts: readonly string[]): Promise<readonly string[]> {
  let runs: (readonly string[])[] = []
  for (let start = 0; start < texts.length; start += RUN_TEXTS) {
    if (start > 0) await nextMeasuredTick(clock)
    runs.push(texts.slice(start, start + RUN_TEXTS).sort())
  }
  while (runs.length > 1) {
    const merged: (readonly string[])[] = []
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(await mergedRuns(clock, runs[index] ?? [], runs[index + 1] ?? []))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function mergedRuns(
  clock: Clock,
  one: readonly string[],
  other: readonly string[],
): Promise<readonly string[]> {
  if (other.length === 0) return one
  await nextMeasuredTick(clock)
  const merged: string[] = []
  let otherCount = 0
  await forEachInSlices(clock, one, (text) => {
    for (
      let next = other[otherCount];
      next !== undefined && next < text;
      next = other[otherCount]
    ) {
      merged.push(next)
      otherCount += 1
    }
    merged.push(text)
  })
  for (; otherCount < other.length; otherCount += 1) merged.push(other[otherCount] ?? '')
  return merged
}
