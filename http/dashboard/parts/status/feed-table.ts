// The venues' feeds: the state that the stream reports, the delays up to the server and within it, and when the last
// trade came; from /health and /v1/stats where the stream is silent. Not for: the line at the top. Upholds DASH69.

import { durationText } from '../../format.ts'
import { html } from '../../html.ts'
import type { Health, Stats } from '../../records.ts'
import type { FeedState } from '../../stream.ts'
import { wholeVenueText } from '../lists/venues.ts'
import { Ago } from '../time.ts'

const NOT_KNOWN = 'not known'

interface FeedRow {
  readonly venue: string
  readonly state: string
  readonly lagMs: number | null
  readonly delayMs: number | null
  readonly lastTradeMs: number | null
}

/**
 * A row a venue; what the stream says is newer than what was asked for, and nothing is known of what no longer answers.
 */
export function feedRows(
  { exchanges }: Pick<Health, 'exchanges'>,
  stats: Stats | null,
  told: ReadonlyMap<string, FeedState>,
  isAnswering = true,
): readonly FeedRow[] {
  return Object.entries(exchanges).map(([venue, isLive]) => {
    const feed = told.get(venue)
    const coverage = stats?.coverage[venue]
    return {
      venue,
      state: feed?.state ?? (!isAnswering ? NOT_KNOWN : isLive ? 'live' : 'stale or down'),
      lagMs: feed?.lag_ms ?? (isAnswering ? (coverage?.lag_ms ?? null) : null),
      delayMs: feed?.delay_ms ?? (isAnswering ? (coverage?.delay_ms ?? null) : null),
      lastTradeMs: coverage?.last_trade_ms ?? null,
    }
  })
}

export const FeedTable = ({
  rows,
}: {
  readonly rows: readonly FeedRow[]
}) => html`<div class="scroll-x"><table class="list stacked">
  <caption class="visually-hidden">Feeds of the venues</caption>
  <thead><tr>
    <th scope="col">Venue</th><th scope="col">Feed</th>
    <th scope="col" class="num">Delay</th><th scope="col" class="num">Within</th><th scope="col" class="num">Last trade</th>
  </tr></thead>
  <tbody>${rows.map(
    ({ venue, state, lagMs, delayMs, lastTradeMs }) => html`<tr key=${venue} data-venue=${venue}>
    <th scope="row">${wholeVenueText(venue)}</th>
    <td data-label="Feed" class=${state === 'live' ? 'up' : state === NOT_KNOWN ? 'muted' : 'down'}>${state}</td>
    <td data-label="Delay" class="num">${durationText(lagMs)}</td>
    <td data-label="Within" class="num">${durationText(delayMs)}</td>
    <td data-label="Last trade" class="num"><${Ago} atMs=${lastTradeMs} /></td>
  </tr>`,
  )}</tbody>
</table></div>`
