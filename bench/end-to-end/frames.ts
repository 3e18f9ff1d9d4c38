// The plan by which frames are sent, and the index that each frame carries as its time.

/** Frame `from + n` is due at `startMs + n * 1000 / perSecond`, whatever happened before. */
export interface SendPlan {
  /** By sharedMs (bench/latency-recorder.ts). */
  readonly startMs: number
  readonly perSecond: number
  readonly from: number
  readonly to: number
}

/** The time of a frame is this plus its index in the load, in milliseconds. */
const FRAME_ZERO_MS = Date.UTC(2026, 10, 20, 12, 0, 1)

/** The index of the frame with this time; null if it is not a frame's time. */
export function frameIndex(timeMs: number): number | null {
  const index = timeMs - FRAME_ZERO_MS
  return index >= 0 && Number.isInteger(index) ? index : null
}

/** Replaces the frame's time by its index; frames whose time has no milliseconds are unchanged. */
export function numbered(text: string, index: number): string {
  const timeMs = FRAME_ZERO_MS + index
  return text
    .replace(/"timestamp":"\d{13}"/g, `"timestamp":"${timeMs}"`)
    .replace(/"ts_ms":\d{13}/, `"ts_ms":${timeMs}`)
}
