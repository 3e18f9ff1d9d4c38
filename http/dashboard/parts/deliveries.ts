// Deliveries of a webhook, newest first, with older pages on demand. A row expands to request and response,
// and can be retried.
// The list reloads periodically, and more often after a test or retry until the result is known.

import { useEffect, useRef, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { after, every, nowMs, onRowClick } from '../browser.ts'
import { countText, durationText, shortId } from '../format.ts'
import { html } from '../html.ts'
import type { Deliveries, Delivery, DeliveryDetail as Detail, Webhook } from '../records.ts'
import { Figures, Time } from './figures.ts'
import { useAction } from './forms.ts'
import { useRequest } from './requests.ts'
import { Empty, Failure, Unanswered, Waiting } from './states.ts'

/** Delays between polls for the result of an attempt. */
const POLL_DELAYS_MS = [300, 700, 1_500, 3_000, 6_000, 10_000] as const
const PAGE_ROWS = 25
/** Poll period of the newest page. */
const PERIOD_MS = 5_000

interface WebhookDeliveriesProps {
  /** Path of the webhook, starting with `/v1`. */
  readonly path: string
  /** URL that events are posted to. */
  readonly url: string
  /** The latest test delivery; null: none. */
  readonly sent: Delivery | null
  /** Called when a delivery's status may have changed. */
  readonly onSettled: () => void
}

export function WebhookDeliveries({ path, url, sent, onSettled }: WebhookDeliveriesProps) {
  const [shown, setShown] = useState<Shown | null>(null)
  const [watched, setWatched] = useState<Delivery | null>(null)
  const lastStatuses = useRef<string | null>(null)
  const action = useAction()
  const read = (cursor: string | null) =>
    request<Deliveries>(`${path}/deliveries`, { query: { limit: PAGE_ROWS, cursor } })
  const readNewest = () =>
    action.run(async () => {
      const page = await read(null)
      setShown((last) => withNewest(last, page))
    })
  useEffect(readNewest, [path])
  useEffect(
    () =>
      every(PERIOD_MS, () => {
        // A failed poll is repeated. Errors are shown only for manual reloads.
        read(null).then(
          (page) => {
            setShown((last) => withNewest(last, page))
            const now = page.deliveries.map(({ id, status }) => `${id} ${status}`).join()
            if (lastStatuses.current !== null && lastStatuses.current !== now) onSettled()
            lastStatuses.current = now
          },
          () => undefined,
        )
      }),
    [path],
  )
  useEffect(() => watch(sent), [sent])
  usePolling(watched, async () => {
    const page = await read(null)
    setShown((last) => withNewest(last, page))
    const now = page.deliveries.find(({ id }) => id === watched?.id)
    const isSettled = now === undefined || now.status !== 'pending' || now.attempts > 0
    if (isSettled) onSettled()
    return isSettled
  })
  function watch(delivery: Delivery | null): void {
    if (delivery === null) return
    setShown((last) => (last === null ? null : withOne(last, delivery)))
    setWatched(delivery)
  }
  // Updates the list with the details of an expanded row.
  const updateRow = (delivery: Delivery) =>
    setShown((last) => (last === null ? null : withOne(last, delivery)))
  const readOlder = (cursor: string) =>
    action.run(async () => {
      const page = await read(cursor)
      setShown((last) => (last === null ? last : withOlder(last, page)))
    })
  const cursor = shown?.cursor ?? null
  return html`<section class="card stack" aria-labelledby="deliveries">
    <div class="row spread">
      <h2 id="deliveries">Deliveries</h2>
      <button type="button" class="quiet" onClick=${readNewest} aria-disabled=${action.isRunning}>Refresh</button>
    </div>
    ${action.error === null ? null : html`<${Failure} error=${action.error} retry=${readNewest} />`}
    ${shown === null && action.error === null ? html`<${Waiting} what="deliveries" />` : null}
    ${shown === null ? null : html`<${DeliveryTable} rows=${shown.rows} path=${path} url=${url} onRetried=${watch} onSeen=${updateRow} />`}
    ${
      cursor === null
        ? null
        : html`<p><button type="button" aria-disabled=${action.isRunning} onClick=${() => readOlder(cursor)}>
            Older deliveries
          </button></p>`
    }
  </section>`
}

/** Polls until `poll` resolves to true or the delays are used up. */
function usePolling(watched: Delivery | null, poll: () => Promise<boolean>): void {
  useEffect(() => {
    if (watched === null) return undefined
    let isOver = false
    let stop: () => void = () => undefined
    const next = (index: number) => {
      const delayMs = POLL_DELAYS_MS[index]
      if (isOver || delayMs === undefined) return
      stop = after(delayMs, () => {
        // A failed poll is repeated after the next delay. Errors are shown only for manual reloads.
        poll().then(
          (isSettled) => isSettled || next(index + 1),
          () => next(index + 1),
        )
      })
    }
    next(0)
    return () => {
      isOver = true
      stop()
    }
  }, [watched])
}

interface DeliveryTableProps {
  readonly rows: readonly Delivery[]
  readonly path: string
  readonly url: string
  readonly onRetried: (delivery: Delivery) => void
  readonly onSeen: (delivery: Delivery) => void
}

function DeliveryTable({ rows, ...parts }: DeliveryTableProps) {
  if (rows.length === 0) {
    return html`<${Empty}>Nothing sent yet. Send a test, or wait for the first matching event.<//>`
  }
  return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Table of the deliveries">
    <table class="list deliveries stacked">
      <thead><tr>
        <th scope="col">Event</th><th scope="col">Created</th><th scope="col">Status</th>
        <th scope="col" class="num">Attempts</th><th scope="col">Last attempt</th><th scope="col">Next attempt</th>
        <th scope="col"><span class="visually-hidden">Try again</span></th>
      </tr></thead>
      <tbody>
        ${rows.map((row) => html`<${DeliveryRow} key=${row.id} delivery=${row} ...${parts} />`)}
      </tbody>
    </table>
  </div>`
}

interface DeliveryRowProps extends Omit<DeliveryTableProps, 'rows'> {
  readonly delivery: Delivery
}

function DeliveryRow({ delivery, path, url, onRetried, onSeen }: DeliveryRowProps) {
  const { id, event_type: type, event_id: eventId, status, attempts } = delivery
  const { created_at: created, next_attempt_at: next } = delivery
  const action = useAction()
  const [isOpen, setOpen] = useState(false)
  const toggle = () => setOpen(!isOpen)
  const retry = () =>
    action.run(async () => {
      const address = `${path}/deliveries/${encodeURIComponent(id)}/retry`
      onRetried(await request<Delivery>(address, { method: 'POST' }))
    })
  return html`<tr class="opens" data-delivery=${id} data-status=${status} onClick=${onRowClick(toggle)}>
    <th scope="row"><button type="button" class="inline" aria-expanded=${isOpen} onClick=${toggle}>${type}</button><small class="muted"><code title=${`webhook-id: ${eventId}`}>${shortId(eventId)}</code></small></th>
    <td data-label="Created"><${Moment} seconds=${created} /></td>
    <td data-label="Status"><span class=${`tag ${COLOURS[status]}`}>${DELIVERY_WORDS[status]}</span></td>
    <td class="num" data-label="Attempts">${attempts}</td>
    <td class="attempt" data-label="Last attempt">${attemptText(delivery)}</td>
    <td data-label="Next attempt"><${Moment} seconds=${next} /></td>
    <td class="actions">
      <button
        type="button" class="quiet" aria-disabled=${action.isRunning} onClick=${retry}
        aria-label=${`Send again ${type} ${eventId}`}
      >Send again</button>
      ${action.error === null ? null : html`<${Failure} error=${action.error} />`}
    </td>
  </tr>
  ${isOpen ? html`<tr class="detail"><td colspan="7"><${DeliveryDetail} delivery=${delivery} path=${`${path}/deliveries/${encodeURIComponent(id)}`} url=${url} onSeen=${onSeen} /></td></tr>` : null}`
}

/** With seconds for recent and near times, since retries may be seconds apart. */
function Moment({ seconds }: { readonly seconds: number | null }) {
  if (seconds === null) return html`<span>–</span>`
  const atMs = seconds * 1_000
  return html`<${Time} atMs=${atMs} style=${Math.abs(atMs - nowMs()) < HALF_DAY_MS ? 'clock' : 'full'} />`
}

const HALF_DAY_MS = 43_200_000
const COLOURS = { pending: 'wait', delivered: 'good', exhausted: 'bad', dropped: 'bad' } as const

interface DeliveryDetailProps {
  readonly delivery: Delivery
  /** Path of the delivery, starting with `/v1`. */
  readonly path: string
  /** URL that events are posted to. */
  readonly url: string
  readonly onSeen: (delivery: Delivery) => void
}

/**
 * Details of a delivery, reloaded after every attempt. All figures of an attempt come from one response,
 * since the list may already show the next attempt.
 * The server stores only the last attempt. Earlier ones are retained while the row is expanded.
 */
function DeliveryDetail({ delivery, path, url, onSeen }: DeliveryDetailProps) {
  const { attempts, status, last_attempt: last } = delivery
  const result = useRequest(
    (signal) => request<Detail>(path, { signal }),
    [path, attempts, status, last?.at],
  )
  const answer = result.kind === 'answered' ? result.answer : null
  useEffect(() => (answer === null ? undefined : onSeen(answer)), [answer])
  const seen = useRef(new Map<number | null, Detail>())
  if (answer !== null) seen.current = withAttempt(seen.current, answer)
  const details = [...seen.current.values()].reverse()
  const [newest] = details
  return html`<div class="stack delivery">
    <${Unanswered} result=${result} what="the request and its response" />
    ${
      newest === undefined
        ? null
        : html`<${Figures} of=${[
            ['Event created', moment(newest.created_at_ms)],
            ['Attempts', countText(newest.attempts)],
            [
              'Next attempt',
              moment(newest.next_attempt_at === null ? null : newest.next_attempt_at * 1_000),
            ],
          ]} />`
    }
    ${details.map((detail, index) => html`<${Attempt} key=${detail.attempted_at_ms} detail=${detail} url=${url} isLast=${index === 0} />`)}
  </div>`
}

const moment = (atMs: number | null) => html`<${Time} atMs=${atMs} style="exact" />`

/** Limit of retained attempts. Beyond it the oldest are dropped. */
const ATTEMPTS_MAX = 10

export function withAttempt(
  previous: ReadonlyMap<number | null, Detail>,
  detail: Detail,
): Map<number | null, Detail> {
  const { attempted_at_ms: atMs } = detail
  // Before the first attempt there is an entry without a time, which the first attempt replaces.
  const tried = [...previous].filter(([at]) => at !== null && at !== atMs)
  const all = [...tried, [atMs, detail] as const]
  return new Map(all.sort(([one], [other]) => (one ?? 0) - (other ?? 0)).slice(-ATTEMPTS_MAX))
}

interface AttemptProps {
  readonly detail: Detail
  readonly url: string
  readonly isLast: boolean
}

function Attempt({ detail, url, isLast }: AttemptProps) {
  const { attempted_at_ms: atMs, last_attempt: last } = detail
  return html`<section class="stack" data-attempt=${atMs}>
    ${
      last === null
        ? null
        : html`<h3>${isLast ? 'Last attempt' : 'Earlier attempt'}</h3>
          <${Figures} of=${[['Began', moment(atMs)], ['Took', durationText(last.duration_ms)]]} />`
    }
    <${Exchange} detail=${detail} url=${url} />
  </section>`
}

function Exchange({ detail, url }: { readonly detail: Detail; readonly url: string }) {
  const { request: sent, response, last_attempt: last } = detail
  const status = last === null ? 'Not sent yet' : (last.status ?? last.error ?? '')
  return html`<div class="exchange">
    <section class="stack">
      <h4>Request</h4>
      <pre data-part="request" tabindex="0" aria-label="The request">${[
        `POST ${url}`,
        ...headerLines(sent.headers),
        'webhook-signature: (not shown)',
        '',
        indented(sent.body),
      ].join('\n')}</pre>
    </section>
    <section class="stack">
      <h4>Response</h4>
      <pre data-part="response" tabindex="0" aria-label="The response">${[
        last?.status === null || last === null ? String(status) : `HTTP ${status}`,
        ...(response === null ? [] : [...headerLines(response.headers), '', response.body]),
      ].join('\n')}</pre>
      ${response?.is_cut === true ? html`<p class="muted">Only the first 2 KB of the response are kept.</p>` : null}
      ${
        last !== null && last.status !== null && response === null
          ? html`<p class="muted">The body of this response was not kept.</p>`
          : null
      }
    </section>
  </div>`
}

const headerLines = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`)

/** Pretty-printed JSON; other text is unchanged. The posted body is compact. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

// Texts for webhook and delivery states, and merging of delivery pages. Pure functions.

/** Whether events are posted, and the reason if not. */
interface WebhookState {
  readonly name: 'on' | 'failing' | 'off'
  readonly text: string
}

/** `nowMs` is in Unix milliseconds. */
export function stateOf(webhook: Webhook, nowMs: number): WebhookState {
  if (!webhook.active) return { name: 'off', text: OFF[webhook.disabled_reason ?? 'byUser'] }
  if (!webhook.verified) {
    return { name: 'off', text: 'It gets events once your receiver answers a test with a 2xx.' }
  }
  const since = webhook.failing_since
  if (since === null) return { name: 'on', text: 'Events are posted as they happen.' }
  const text = `Every attempt has failed for ${durationText(nowMs - since * 1_000)}.`
  return { name: 'failing', text: `${text} After five days it is switched off.` }
}

const OFF = {
  byUser: 'You switched it off: nothing is sent.',
  gone: 'It was switched off: your receiver answered 410 Gone.',
  failing: 'It was switched off: every attempt failed for five days.',
} as const

/** Nonzero counts: `12 delivered, 1 pending`. */
export function countsText(counts: Webhook['counts']): string {
  const parts = COUNTS.flatMap(([name, label]) => {
    return counts[name] === 0 ? [] : [`${countText(counts[name])} ${label}`]
  })
  return parts.length === 0 ? 'None yet' : parts.join(', ')
}

const COUNTS = [
  ['delivered', 'delivered'],
  ['pending', 'pending'],
  ['exhausted', 'failed'],
  ['dropped', 'dropped'],
] as const

export const DELIVERY_WORDS: Readonly<Record<Delivery['status'], string>> = {
  pending: 'pending',
  delivered: 'delivered',
  exhausted: 'failed',
  dropped: 'dropped',
}

/** Result of the last attempt. */
export function attemptText({ last_attempt: last }: Delivery): string {
  if (last === null) return 'Not tried yet'
  const took = durationText(last.duration_ms)
  if (last.error === null) return `${last.status ?? ''} in ${took}`.trim()
  // Most error messages contain the status already.
  const isNamed = last.status === null || last.error.includes(String(last.status))
  return `${isNamed ? '' : `${last.status}: `}${last.error}, in ${took}`
}

/** Active filters as names and values. */
export function filterRows({ filters }: Webhook): readonly (readonly [string, string])[] {
  return Object.entries(filters).flatMap(([name, wanted]) => {
    if (wanted === null) return []
    return [[name, Array.isArray(wanted) ? wanted.join(', ') : String(wanted)] as const]
  })
}

export interface Shown {
  /** Newest first. */
  readonly rows: readonly Delivery[]
  /** Cursor of the next older page; null: none. */
  readonly cursor: string | null
}

/** Merges the newest page: replaces its rows and retains older ones. */
export function withNewest(shown: Shown | null, page: Deliveries): Shown {
  const fresh = { rows: page.deliveries, cursor: page.cursor }
  if (shown === null) return fresh
  const last = page.deliveries.at(-1)
  const ids = new Set(page.deliveries.map(({ id }) => id))
  // A page without overlap would leave a gap, so it replaces the list.
  const isMeeting = page.has_more && shown.rows.some(({ id }) => id === last?.id)
  if (!isMeeting) return fresh
  const older = shown.rows.filter(({ id }) => !ids.has(id))
  return { rows: [...page.deliveries, ...older], cursor: shown.cursor }
}

/** Appends an older page. */
export function withOlder(shown: Shown, page: Deliveries): Shown {
  const ids = new Set(shown.rows.map(({ id }) => id))
  const older = page.deliveries.filter(({ id }) => !ids.has(id))
  return { rows: [...shown.rows, ...older], cursor: page.cursor }
}

/** Updates a delivery; a new one is inserted at the top. */
export function withOne(shown: Shown, delivery: Delivery): Shown {
  const isListed = shown.rows.some(({ id }) => id === delivery.id)
  const rows = isListed
    ? shown.rows.map((row) => (row.id === delivery.id ? delivery : row))
    : [delivery, ...shown.rows]
  return { ...shown, rows }
}
