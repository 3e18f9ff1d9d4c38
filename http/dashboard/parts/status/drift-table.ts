// What the venues send or answer that the server does not know, as /health lists it. Its words are the venues': shown as
// text alone. Not for: feeds that fail (feed-table.ts). Upholds DASH75.

import { countText } from '../../format.ts'
import { html } from '../../html.ts'
import type { Health } from '../../records.ts'
import { venueText } from '../lists/venues.ts'
import { Ago, Time } from '../time.ts'

type Finding = Health['drift'][string][number] & { readonly venue: string }

/** The findings of all venues, those that cost a user something first. */
export function driftRows({ drift }: Pick<Health, 'drift'>): readonly Finding[] {
  const rows = Object.entries(drift).flatMap(([venue, findings]) =>
    findings.map((finding) => ({ ...finding, venue })),
  )
  const ofWeight = (weight: Finding['weight']) => rows.filter((row) => row.weight === weight)
  return [...ofWeight('loss'), ...ofWeight('notice')]
}

export const DriftTable = ({ rows }: { readonly rows: readonly Finding[] }) =>
  rows.length === 0
    ? html`<p class="muted" data-drift="none">Everything both venues send is recognized.</p>`
    : html`<div class="scroll-x"><table class="list stacked">
  <caption class="visually-hidden">What the venues send that is not known</caption>
  <thead><tr>
    <th scope="col">Venue</th><th scope="col">What</th><th scope="col">Weight</th><th scope="col" class="num">Times</th>
    <th scope="col" class="num">First</th><th scope="col" class="num">Last</th><th scope="col">Example</th>
  </tr></thead>
  <tbody>${rows.map(
    ({
      venue,
      kind,
      name,
      weight,
      first,
      last,
      count,
      sample,
    }) => html`<tr key=${`${venue} ${kind} ${name}`} data-drift=${`${kind}=${name}`}>
    <th scope="row">${venueText(venue)}</th>
    <td data-label="What">${kind}=${name}</td>
    <td data-label="Weight" class=${weight === 'loss' ? 'down' : 'muted'}>${weight}</td>
    <td data-label="Times" class="num">${countText(count)}</td>
    <td data-label="First" class="num"><${Time} atMs=${first * 1_000} /></td>
    <td data-label="Last" class="num"><${Ago} atMs=${last * 1_000} /></td>
    <td data-label="Example">${sample}</td>
  </tr>`,
  )}</tbody>
</table></div>`
