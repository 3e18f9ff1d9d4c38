// How many streams are open at the server, from its metrics, which it shows only to its own machine unless it is set to
// show them elsewhere too; and how many messages a second this tab receives, over its last seconds.
// Not for: the connection of this tab (connection-line.ts). Upholds DASH48, DASH70.

import { useEffect, useState } from 'preact/hooks'
import { requestText } from '../../api.ts'
import { usePolled } from '../asked.ts'

const LOOK_MS = 5_000

/** The value of a gauge without labels in the text form of Prometheus; null when it is not there. */
export function gaugeIn(text: string, name: string): number | null {
  for (const line of text.split('\n')) {
    const [key, value] = line.split(' ', 2)
    if (key === name && value !== undefined && value !== '') return Number(value)
  }
  return null
}

const askConnections = async (signal: AbortSignal) =>
  gaugeIn(await requestText('/metrics', { signal }), 'stream_connections')

/** Open streams of all clients; null where the server does not say, which is then not asked again. */
export function useConnections(): number | null {
  const [isShown, setShown] = useState(true)
  const { answer, error } = usePolled(askConnections, { periodMs: LOOK_MS, isWanted: isShown })
  useEffect(() => {
    if (error !== null) setShown(false)
  }, [error])
  return isShown ? answer : null
}

/** How long is counted. */
const SPAN_MS = 5_000
/** Of a shorter time there is no rate: what comes at once when a page begins to listen is no flow. */
const SPAN_MIN_MS = 2_000

export class MessageRate {
  /** The count at moments of the monotonic clock, the oldest first. */
  #looks: readonly { readonly atMs: number; readonly count: number }[] = []

  /** Notes the count of all messages so far; the rate a second since the oldest look within the span, null at first. */
  look(atMs: number, count: number): number | null {
    // One look before the span stays: the span's own beginning is seldom looked at.
    const kept = this.#looks.filter((_, index) => {
      const next = this.#looks[index + 1]
      return next === undefined || next.atMs > atMs - SPAN_MS
    })
    this.#looks = [...kept, { atMs, count }]
    const [first] = this.#looks
    if (first === undefined || atMs - first.atMs < SPAN_MIN_MS) return null
    return ((count - first.count) * 1_000) / (atMs - first.atMs)
  }
}
