// Tables of the status page from /health and /v1/stats: feeds, cluster processes, and unknown data from the
// venues. Venue data is rendered as plain text.

import { countText, durationText } from '../../format.ts'
import { html } from '../../html.ts'
import type { Health, Stats } from '../../records.ts'
import type { FeedState } from '../../stream.ts'
import { fullVenueText, venueText } from '../lists/venues.ts'
import { Ago, Time } from '../time.ts'

const NOT_KNOWN = 'not known'

interface FeedRow {
  readonly venue: string
  readonly state: string
  readonly lagMs: number | null
  readonly delayMs: number | null
  readonly lastTradeMs: number | null
}

/**
 * One row per venue. Stream values take precedence over REST values. REST values of a server that does not
 * answer are unknown.
 */
export function feedRows(
  { exchanges }: Pick<Health, 'exchanges'>,
  stats: Stats | null,
  feedStates: ReadonlyMap<string, FeedState>,
  isAnswering = true,
): readonly FeedRow[] {
  return Object.entries(exchanges).map(([venue, isLive]) => {
    const feed = feedStates.get(venue)
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
    <th scope="col" class="num">Venue delay</th><th scope="col" class="num">Server delay</th><th scope="col" class="num">Last trade</th>
  </tr></thead>
  <tbody>${rows.map(
    ({ venue, state, lagMs, delayMs, lastTradeMs }) => html`<tr key=${venue} data-venue=${venue}>
    <th scope="row">${fullVenueText(venue)}</th>
    <td data-label="Feed" class=${state === 'live' ? 'up' : state === NOT_KNOWN ? 'muted' : 'down'}>${state}</td>
    <td data-label="Venue delay" class="num">${durationText(lagMs)}</td>
    <td data-label="Server delay" class="num">${durationText(delayMs)}</td>
    <td data-label="Last trade" class="num"><${Ago} atMs=${lastTradeMs} /></td>
  </tr>`,
  )}</tbody>
</table></div>`

type Cluster = NonNullable<Health['cluster']>
const ROLE_LABELS = { engine: 'Engine', standby: 'Standby', gateway: 'Gateway' } as const

/** The cluster's leader, and how long it has been silent. */
export function leaseText({ lease }: Pick<Cluster, 'lease'>): string {
  if (lease === null) return 'No engine leads, as far as is known'
  const { holder, term, silent_ms } = lease
  const led = `${holder} leads${term === null ? '' : `, term ${term}`}`
  return silent_ms <= SILENT_MS_MAX ? led : `${led}, silent for ${durationText(silent_ms)}`
}

/** The leader sends a message every second. */
const SILENT_MS_MAX = 5_000

/** The cluster's processes, as seen by the one that answered. */
export const ClusterTable = ({
  cluster,
}: {
  readonly cluster: Cluster
}) => html`<p data-lease>${leaseText(cluster)}.</p>
<div class="scroll-x"><table class="list stacked">
  <caption class="visually-hidden">Processes of the cluster</caption>
  <thead><tr>
    <th scope="col">Role</th><th scope="col">Name</th>
    <th scope="col" class="num">Messages behind</th><th scope="col" class="num">Time behind</th><th scope="col" class="num">Last heard</th>
  </tr></thead>
  <tbody>${cluster.members.map(
    ({ role, name, lag_batches, lag_ms, silent_ms }) => html`<tr key=${name} data-member=${role}>
    <th scope="row">${ROLE_LABELS[role]}</th>
    <td data-label="Name">${name}${name === cluster.name ? html` <span class="muted">(answers here)</span>` : null}</td>
    <td data-label="Messages behind" class="num">${countText(lag_batches)}</td>
    <td data-label="Time behind" class="num">${durationText(lag_ms)}</td>
    <td data-label="Last heard" class="num">${durationText(silent_ms)}</td>
  </tr>`,
  )}</tbody>
</table></div>`

type Finding = Health['drift'][string][number] & { readonly venue: string }

/** Findings of all venues, data loss first. */
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
