// How many messages a second this tab gets: counted over the last seconds, so that a quiet moment is no zero and a burst
// no record. Not for: what the server gets of the venues. Upholds DASH70.

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
