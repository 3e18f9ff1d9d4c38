// How the stream is, in a line at the top: silent while it is live, and otherwise what is the matter and when it is
// tried again; below it, venues whose feed is stale or down. Upholds DASH6.

import { useEffect, useState } from 'preact/hooks'
import { every, monotonicMs } from '../browser.ts'
import { durationText } from '../format.ts'
import { html } from '../html.ts'
import { useSignal } from '../signal.ts'
import { feeds, type StreamState, streamState } from '../stream.ts'

export function ConnectionLine() {
  const state = useSignal(streamState)
  const venues = useSignal(feeds)
  const [, setTick] = useState(0)
  const isWaiting = state.state === 'waiting'
  useEffect(() => {
    if (!isWaiting) return undefined
    return every(500, () => setTick((tick) => tick + 1))
  }, [isWaiting])
  const troubled = [...venues].filter(([, feed]) => feed.state !== 'live')
  const words = wordsOf(state)
  return html`<div class="connection" role="status" aria-live="polite" data-state=${state.state}>
    ${words === null ? null : html`<p class=${`line ${state.state}`}>${words}</p>`}
    ${troubled.map(
      ([name, feed]) => html`<p class="line stale" key=${name}>
        The feed of ${name} is ${feed.state}: what is shown of it may be old.
      </p>`,
    )}
  </div>`
}

/** Null: nothing is the matter. */
function wordsOf({ state, reason, retryAtMs }: StreamState): string | null {
  switch (state) {
    case 'off':
    case 'live':
      return null
    case 'connecting':
      return 'Connecting to the stream…'
    case 'catching_up':
      return 'Connected again: catching up with what was missed…'
    case 'waiting': {
      const waitMs = retryAtMs === null ? 0 : Math.max(0, retryAtMs - monotonicMs())
      const why = reason === '' ? '' : ` (${reason})`
      return `Connection lost${why}: what is shown is not live. Next try in ${durationText(Math.ceil(waitMs / 1_000) * 1_000)}.`
    }
    case 'closed':
      return `The stream was closed for good${reason === '' ? '' : ` (${reason})`}: reload the page or log in again.`
  }
}
