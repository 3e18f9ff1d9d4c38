// Status page. Visitors without a session see only the parts that need no token. By default, the server offers metrics
// only to its own machine.

import { useEffect, useState } from 'preact/hooks'
import { request, requestText } from '../api.ts'
import { every, monotonicMs } from '../browser.ts'
import { bytesText, countText, durationText, utcText } from '../format.ts'
import { html } from '../html.ts'
import { Ago, Figures, Time } from '../parts/figures.ts'
import { useRequest } from '../parts/requests.ts'
import { Failure, Waiting } from '../parts/states.ts'
import { table } from '../parts/tables.ts'
import { fullVenueText, venueText } from '../parts/venues.ts'
import type { Health, Stats } from '../records.ts'
import { session } from '../session.ts'
import { useSignal } from '../signal.ts'
import { type FeedState, feeds, follow, received, streamState } from '../stream.ts'

/** /health has no rate limit. Requests of /v1/stats count against the account's limit. */
const HEALTH_MS = 5_000
const STATS_MS = 20_000
const RATE_MS = 1_000

const fetchHealth = (signal: AbortSignal) => request<Health>('/health', { signal })
const fetchStats = (signal: AbortSignal) => request<Stats>('/v1/stats', { signal })

export function StatusPage() {
  const isIn = useSignal(session).kind === 'in'
  const health = useRequest(fetchHealth, [], { periodMs: HEALTH_MS })
  const stats = useRequest(fetchStats, [], { periodMs: STATS_MS, isWanted: isIn })
  const connections = useConnections()
  const feedStates = useSignal(feeds)
  // Subscribes to all trades to measure the message rate and to receive feed states.
  useEffect(
    () =>
      isIn ? follow({ channel: 'trades', all: true }, { onMessage: () => undefined }) : undefined,
    [isIn],
  )
  const { latest: answer } = health
  return html`
    <h1>Status</h1>
    ${answer === null && health.error === null ? html`<${Waiting} what="the status" />` : null}
    <${Failure} error=${health.error} />
    ${health.error === null || answer === null ? null : html`<p class="muted">Showing the last known status.</p>`}
    ${
      answer === null
        ? null
        : html`<div class="stack" data-status=${answer.status}>
      <section class="card stack" aria-labelledby="feeds">
        <h2 id="feeds">Feeds</h2>
        ${feedTable(feedRows(answer, stats.latest, feedStates, health.error === null))}
      </section>
      ${
        answer.cluster === undefined
          ? null
          : html`<section class="card stack" aria-labelledby="cluster">
        <h2 id="cluster">Cluster</h2>
        ${clusterTable(answer.cluster)}
      </section>`
      }
      <section class="card stack" aria-labelledby="drift">
        <h2 id="drift">Changes at the venues</h2>
        ${driftTable(driftRows(answer))}
      </section>
      <section class="card stack" aria-labelledby="server">
        <h2 id="server">Server</h2>
        <${Figures} of=${[...healthFigures(answer), ...(connections === null ? [] : [['Open streams', countText(connections)]]), ...(stats.latest === null ? [] : statsFigures(stats.latest))]} />
        <${Failure} error=${stats.error} />
        ${isIn ? null : html`<p class="muted">Log in to see what the database holds.</p>`}
      </section>
      <${ThisTab} isIn=${isIn} latencyMs=${health.latencyMs} />
    </div>`
    }
  `
}

function ThisTab({
  isIn,
  latencyMs,
}: {
  readonly isIn: boolean
  readonly latencyMs: number | null
}) {
  const { state } = useSignal(streamState)
  const [samples, setSamples] = useState<readonly RateSample[]>([])
  useEffect(() => {
    const sample = () => {
      const now = { atMs: monotonicMs(), count: received.count }
      setSamples((before) => [...before, now].slice(-SAMPLES))
    }
    sample()
    return every(RATE_MS, sample)
  }, [])
  const rate = rateOf(samples)
  return html`<section class="card stack" aria-labelledby="tab">
    <h2 id="tab">This tab</h2>
    <${Figures} of=${[
      ['Stream', isIn ? STATE_LABELS[state] : 'Not connected: log in first'],
      ['Messages a second', rate === null ? '–' : rate.toFixed(1)],
      ['Messages so far', countText(received.count)],
      ['Last request took', durationText(latencyMs)],
    ]} />
  </section>`
}

const STATE_LABELS = {
  off: 'Not connected',
  resting: 'Not connected: nothing is followed',
  offline: 'Browser is offline',
  late: 'No messages for some seconds',
  polling: 'Unavailable: polling every few seconds',
  connecting: 'Connecting',
  live: 'Live',
  catching_up: 'Catching up',
  waiting: 'Lost, reconnecting soon',
  closed: 'Closed',
} as const

const healthFigures = (health: Health) =>
  [
    ['Service', health.status === 'ok' ? 'OK' : 'Degraded'],
    ['Database', health.database ? 'OK' : 'Failing'],
    ['Catalog', health.cache ? 'Loaded' : 'Loading'],
    ['Version', health.version],
    ['Uptime', durationText(health.uptime_s * 1_000)],
  ] as const

/** What is on the tape, and whether it is complete. */
export function tapeText(tape: Stats['tape']): string {
  if (tape === null) return 'Off'
  const { state, bytes, oldest_ms: oldestMs, lost_rows: lostRows } = tape
  const since = oldestMs === null ? '' : `, since ${utcText(oldestMs)}`
  const lost = lostRows === 0 ? '' : `, ${countText(lostRows)} updates missing`
  return `${TAPE_STATE_TEXTS[state]}, ${bytesText(bytes)}${since}${lost}`
}

const TAPE_STATE_TEXTS = {
  recording: 'Recording',
  slow_disk: 'Disk too slow',
  disk_full: 'Disk full',
  disk_error: 'Disk failing',
  closed: 'Failing',
} as const

function statsFigures(stats: Stats) {
  const { markets, matches } = stats
  return [
    ['Markets', countText(markets.total)],
    [
      'Open / closed / resolved',
      [markets.open, markets.closed, markets.resolved].map(countText).join(' / '),
    ],
    ['Events', countText(stats.events)],
    [
      'Matches (high confidence)',
      `${countText(matches.total)} (${countText(matches.high_confidence)})`,
    ],
    ['Trades', countText(stats.trades)],
    ['Book snapshots', countText(stats.orderbook_snapshots)],
    ['Wallets', countText(stats.wallets)],
    ['Database size', bytesText(stats.database_bytes)],
    ['Tape', tapeText(stats.tape)],
  ] as const
}

export function gaugeIn(text: string, name: string): number | null {
  for (const line of text.split('\n')) {
    const [key, value] = line.split(' ', 2)
    if (key === name && value !== undefined && value !== '') return Number(value)
  }
  return null
}

const fetchConnections = async (signal: AbortSignal) =>
  gaugeIn(await requestText('/metrics', { signal }), 'stream_connections')

/** Null if the server denies access to metrics. Polling then ends. */
function useConnections(): number | null {
  const [isShown, setShown] = useState(true)
  const options = { periodMs: HEALTH_MS, isWanted: isShown }
  const { latest, error } = useRequest(fetchConnections, [], options)
  useEffect(() => {
    if (error !== null) setShown(false)
  }, [error])
  return isShown ? latest : null
}

const SAMPLES = 6
/** Minimum samples for a rate, so that the burst after a subscription is averaged out. */
const SAMPLES_MIN = 3

interface RateSample {
  readonly atMs: number
  readonly count: number
}

/** Messages per second in the averaging window; null if there are too few samples. */
export function rateOf(samples: readonly RateSample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || samples.length < SAMPLES_MIN) return null
  return ((last.count - first.count) * 1_000) / (last.atMs - first.atMs)
}

const NOT_KNOWN = 'not known'

interface FeedRow {
  readonly venue: string
  readonly state: string
  readonly lagMs: number | null
  readonly delayMs: number | null
  readonly lastTradeMs: number | null
  readonly books: string
  readonly policy: string
}

/** Stream values take precedence over REST values. If the server does not answer, REST values are unknown. */
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
      books: booksText(coverage),
      policy: coverage?.policy ?? '–',
    }
  })
}

function booksText(coverage: Stats['coverage'][string] | undefined): string {
  const [covered, open] = [coverage?.covered_markets ?? null, coverage?.open_markets ?? null]
  return covered === null || open === null ? '–' : `${countText(covered)} of ${countText(open)}`
}

const feedTable = (rows: readonly FeedRow[]) =>
  table({
    ...{ list: 'feeds', kind: 'stacked', caption: 'Feeds of the venues', rows },
    keyOf: ({ venue }) => venue,
    marks: ({ venue }) => ({ 'data-venue': venue }),
    columns: [
      ['Venue', 'subject', ({ venue }) => fullVenueText(venue)],
      [
        'Feed',
        '',
        ({ state }) =>
          html`<span class=${state === 'live' ? 'up' : state === NOT_KNOWN ? 'muted' : 'down'}>${state}</span>`,
      ],
      ['Venue delay', 'num', ({ lagMs }) => durationText(lagMs)],
      ['Server delay', 'num', ({ delayMs }) => durationText(delayMs)],
      ['Last trade', 'num', ({ lastTradeMs }) => html`<${Ago} atMs=${lastTradeMs} />`],
      ['Books covered', 'num', ({ books }) => books],
      ['Coverage policy', '', ({ policy }) => policy],
    ],
  })

type Cluster = NonNullable<Health['cluster']>
const ROLE_LABELS = { engine: 'Engine', standby: 'Standby', gateway: 'Gateway' } as const

/** Names the cluster's leader. Adds the time since its last message if that time exceeds SILENT_MS_MAX. */
export function leaseText({ lease }: Pick<Cluster, 'lease'>): string {
  if (lease === null) return 'No engine is known to lead'
  const { holder, term, silent_ms } = lease
  const led = `${holder} leads${term === null ? '' : `, term ${term}`}`
  return silent_ms <= SILENT_MS_MAX ? led : `${led}, silent for ${durationText(silent_ms)}`
}

/** The leader sends a message every second. The page reports longer silences than this. */
const SILENT_MS_MAX = 5_000

const clusterTable = (cluster: Cluster) => html`<p data-lease>${leaseText(cluster)}.</p>
  ${table({
    ...{
      list: 'processes',
      kind: 'stacked',
      caption: 'Processes of the cluster',
      rows: cluster.members,
    },
    keyOf: ({ name }) => name,
    marks: ({ role }) => ({ 'data-member': role }),
    columns: [
      ['Role', 'subject', ({ role }) => ROLE_LABELS[role]],
      [
        'Name',
        '',
        ({ name }) =>
          html`${name}${name === cluster.name ? html` <span class="muted">(answers here)</span>` : null}`,
      ],
      ['Messages behind', 'num', ({ lag_batches: count }) => countText(count)],
      ['Time behind', 'num', ({ lag_ms: ms }) => durationText(ms)],
      ['Last seen', 'num', ({ silent_ms: ms }) => durationText(ms)],
    ],
  })}`

type Finding = Health['drift'][string][number] & { readonly venue: string }

/** Data that the server did not recognize, of all venues. Findings that lose data come first. */
export function driftRows({ drift }: Pick<Health, 'drift'>): readonly Finding[] {
  const rows = Object.entries(drift).flatMap(([venue, findings]) =>
    findings.map((finding) => ({ ...finding, venue })),
  )
  const ofWeight = (weight: Finding['weight']) => rows.filter((row) => row.weight === weight)
  return [...ofWeight('loss'), ...ofWeight('notice')]
}

const driftTable = (rows: readonly Finding[]) =>
  rows.length === 0
    ? html`<p class="muted" data-drift="none">Everything both venues send is recognized.</p>`
    : table({
        ...{ list: 'unknown data', kind: 'stacked', caption: 'Unknown data from the venues', rows },
        keyOf: ({ venue, kind, name }) => `${venue} ${kind} ${name}`,
        marks: ({ kind, name }) => ({ 'data-drift': `${kind}=${name}` }),
        columns: [
          ['Venue', 'subject', ({ venue }) => venueText(venue)],
          ['What', '', ({ kind, name }) => `${kind}=${name}`],
          [
            'Weight',
            '',
            ({ weight }) =>
              html`<span class=${weight === 'loss' ? 'down' : 'muted'}>${weight}</span>`,
          ],
          ['Times', 'num', ({ count }) => countText(count)],
          ['First', 'num', ({ first }) => html`<${Time} seconds=${first} />`],
          ['Last', 'num', ({ last }) => html`<${Ago} atMs=${last * 1_000} />`],
          ['Example', '', ({ sample }) => sample],
        ],
      })
