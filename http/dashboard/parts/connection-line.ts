// Status line of the stream: empty while live, otherwise the problem and the time of the next attempt. Lists
// venues whose feed is stale or down.

import { useEffect, useState } from 'preact/hooks'
import { every, monotonicMs } from '../browser.ts'
import { durationText } from '../format.ts'
import { html } from '../html.ts'
import { useSignal } from '../signal.ts'
import { feeds, type StreamState, streamState } from '../stream.ts'
import { POLL_MS } from '../stream-poll.ts'
import { venueText } from './lists/venues.ts'

export function ConnectionLine() {
  const state = useSignal(streamState)
  const venues = useSignal(feeds)
  const troubled = [...venues].filter(([, feed]) => feed.state !== 'live')
  const text = statusText(state)
  return html`<div class="connection" role="status" aria-live="polite" data-state=${state.state}>
    ${text === null ? null : html`<p class=${`line ${state.state}`}>${text} <${Countdown} untilMs=${state.retryAtMs} /></p>`}
    ${troubled.map(
      ([name, feed]) => html`<p class="line stale" key=${name}>
        ${feed.state === 'down' ? `${venueText(name)} cannot be reached` : `Nothing new comes from ${venueText(name)}`}: what is shown of it may be old.
      </p>`,
    )}
  </div>`
}

/** Hidden from screen readers, which would announce every second. */
function Countdown({ untilMs }: { readonly untilMs: number | null }) {
  const [, setTick] = useState(0)
  const isCounting = untilMs !== null
  useEffect(() => {
    if (!isCounting) return undefined
    return every(500, () => setTick((tick) => tick + 1))
  }, [isCounting])
  if (untilMs === null) return null
  const seconds = Math.ceil(Math.max(0, untilMs - monotonicMs()) / 1_000)
  return html`<span aria-hidden="true">Next try in ${durationText(seconds * 1_000)}.</span>`
}

/** User-facing texts for close reasons. Other reasons are not shown. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^no ticket/, 'the server does not answer'],
  [/status 429|in use|connection limit/, 'all connections of this account may be in use'],
  [/^silent/, 'the server stopped answering'],
  [/shutting down|going away|status 503/, 'the server is restarting'],
  [/status 40[13]|revoked|session/, 'the session has ended'],
]

function whyOf(reason: string): string {
  const text = REASONS.find(([pattern]) => pattern.test(reason))?.[1]
  return text === undefined ? '' : ` (${text})`
}

/** Null: no problem. */
function statusText({ state, reason, isLost }: StreamState): string | null {
  const why = whyOf(reason)
  switch (state) {
    case 'off':
    case 'resting':
    case 'live':
      return null
    case 'offline':
      return 'This browser is offline: what is shown is not live.'
    case 'late':
      return 'Nothing has come from the server for some seconds: what is shown may be old.'
    case 'polling':
      return `No live stream${why}: what is shown is read anew every ${durationText(POLL_MS)}.`
    case 'connecting':
      // The first connection takes only a moment. A line would make the page jump.
      return isLost ? 'Connection lost: connecting again…' : null
    case 'catching_up':
      return isLost ? 'Connected again: catching up with what was missed…' : null
    case 'waiting':
      return `Connection lost${why}: what is shown is not live.`
    case 'closed':
      return `The stream was closed for good${why}: reload the page or log in again.`
  }
}
