// Times in the viewer's time zone with UTC as tooltip, and elapsed times.

import { useEffect, useState } from 'preact/hooks'
import { every, nowMs } from '../browser.ts'
import { durationText, localDay, type TimeStyle, timeText, utcText } from '../format.ts'
import { html } from '../html.ts'

/** Null shows a dash. A clock time of another day includes the date. */
export function Time({
  atMs,
  style = 'full',
}: {
  readonly atMs: number | null
  readonly style?: TimeStyle
}) {
  if (atMs === null) return html`<span>–</span>`
  const shown = style === 'clock' && localDay(atMs) !== localDay(nowMs()) ? 'past' : style
  return html`<time class=${shown} datetime=${new Date(atMs).toISOString()} title=${utcText(atMs)}>${timeText(atMs, shown)}</time>`
}

/** Elapsed time (`12 s ago`), updated every second. */
export function Ago({ atMs }: { readonly atMs: number | null }) {
  const [, setTick] = useState(0)
  useEffect(() => every(1_000, () => setTick((tick) => tick + 1)), [])
  if (atMs === null) return html`<span>–</span>`
  return html`<time datetime=${new Date(atMs).toISOString()} title=${utcText(atMs)}>${durationText(nowMs() - atMs)} ago</time>`
}
