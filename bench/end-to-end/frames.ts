// The times at which frames are sent. Each frame contains its index instead of its time.

/** Frame `from + n` is due at `startMs + n * 1000 / perSecond`, even if earlier frames were late. */
export interface SendPlan {
  /** Measured with `sharedMs` (bench/latency-recorder.ts). */
  readonly startMs: number
  readonly perSecond: number
  readonly from: number
  readonly to: number
}

/** A frame's time is this constant plus its index, in milliseconds. */
const FRAME_ZERO_MS = Date.UTC(2026, 10, 20, 12, 0, 1)

/** The index of the frame with this time. Null if no frame can have this time. */
export function frameIndex(timeMs: number): number | null {
  const index = timeMs - FRAME_ZERO_MS
  return index >= 0 && Number.isInteger(index) ? index : null
}

/** Replaces the frame's time by its index. Frames with times in whole seconds stay unchanged. */
export function numbered(text: string, index: number): string {
  const timeMs = FRAME_ZERO_MS + index
  return text
    .replace(/"timestamp":"\d{13}"/g, `"timestamp":"${timeMs}"`)
    .replace(/"ts_ms":\d{13}/, `"ts_ms":${timeMs}`)
}
