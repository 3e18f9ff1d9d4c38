// Deliveries of a webhook, newest first. The list is polled, more often after a test or retry.

import { useEffect, useRef, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { after, every, nowMs, onRowClick, type StopTimer } from '../browser.ts'
import { countText, durationText, shortId } from '../format.ts'
import { html } from '../html.ts'
import type { Deliveries, Delivery, DeliveryDetail as Detail } from '../records.ts'
import { allRows } from './csv-button.ts'
import { Figures, Time } from './figures.ts'
import { useAction } from './forms.ts'
import { Unanswered, useRequest } from './requests.ts'
import { Empty, Failure, Waiting } from './states.ts'
import { table } from './tables.ts'

const POLL_DELAYS_MS = [300, 700, 1_500, 3_000, 6_000, 10_000] as const
const PAGE_ROWS = 25
const PERIOD_MS = 5_000

interface WebhookDeliveriesProps {
  /** API path of the webhook, starting with `/v1`. */
  readonly path: string
  readonly url: string
  readonly sent: Delivery | null
  /** Called when a delivery's status may have changed. */
  readonly onSettled?: () => void
}

export function WebhookDeliveries({ path, url, sent, onSettled }: WebhookDeliveriesProps) {
  const [shown, setShown] = useState<Shown | null>(null)
  const [watched, setWatched] = useState<Delivery | null>(null)
  const lastStates = useRef<string | null>(null)
  const action = useAction()
  const read = (cursor: string | null) =>
    request<Deliveries>(`${path}/deliveries`, { query: { limit: PAGE_ROWS, cursor } })
  const readNewest = async () => {
    const page = await read(null)
    setShown((last) => withNewest(last, page))
    const now = page.deliveries
      .map(({ id, status, attempts }) => `${id} ${status} ${attempts}`)
      .join()
    if (lastStates.current !== null && lastStates.current !== now) onSettled?.()
    lastStates.current = now
    return page
  }
  const refresh = () => action.run(async () => void (await readNewest()))
  useEffect(refresh, [path])
  // A failed poll shows no error. Only reloads by the user show errors.
  useEffect(() => every(PERIOD_MS, () => void readNewest().catch(() => undefined)), [path])
  const update = (delivery: Delivery) =>
    setShown((last) => (last === null ? null : withOne(last, delivery)))
  const watch = (delivery: Delivery) => {
    update(delivery)
    setWatched(delivery)
  }
  useEffect(() => (sent === null ? undefined : watch(sent)), [sent])
  usePolling(watched, async () => {
    const { deliveries } = await readNewest()
    const now = deliveries.find(({ id }) => id === watched?.id)
    return now === undefined || now.status !== 'pending' || now.attempts > 0
  })
  const cursor = shown?.cursor ?? null
  const readOlder = () =>
    action.run(async () => {
      const page = await read(cursor)
      setShown((last) => (last === null ? last : withOlder(last, page)))
    })
  return html`<section class="card stack" aria-labelledby="deliveries">
    <div class="row spread">
      <h2 id="deliveries">Deliveries</h2>
      <button type="button" class="quiet" onClick=${refresh} aria-disabled=${action.isRunning}>Refresh</button>
    </div>
    <${Failure} error=${action.error} retry=${refresh} />
    ${shown === null && action.error === null ? html`<${Waiting} what="deliveries" />` : null}
    ${shown === null ? null : html`<${DeliveryTable} rows=${shown.rows} path=${path} url=${url} onRetried=${watch} onSeen=${update} />`}
    ${
      cursor === null
        ? null
        : html`<p><button type="button" aria-disabled=${action.isRunning} onClick=${readOlder}>Older deliveries</button></p>`
    }
  </section>`
}

function usePolling(watched: Delivery | null, poll: () => Promise<boolean>): void {
  useEffect(() => {
    if (watched === null) return undefined
    let isOver = false
    let stop: StopTimer = () => undefined
    const next = (index: number) => {
      const delayMs = POLL_DELAYS_MS[index]
      if (isOver || delayMs === undefined) return
      stop = after(delayMs, () => {
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
  /** Receives the loaded details of a delivery, so that the list shows the same state. */
  readonly onSeen: (delivery: Delivery) => void
}

function DeliveryTable({ rows, path, url, onRetried, onSeen }: DeliveryTableProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  if (rows.length === 0) {
    return html`<${Empty}>Nothing sent yet. Send a test, or wait for the first matching event.<//>`
  }
  const pathOf = ({ id }: Delivery) => `${path}/deliveries/${encodeURIComponent(id)}`
  const toggle = ({ id }: Delivery) =>
    setOpen((ids) => new Set(ids.has(id) ? [...ids].filter((one) => one !== id) : [...ids, id]))
  return table({
    ...{ list: 'deliveries', kind: 'deliveries stacked', region: 'Table of the deliveries', rows },
    exported: () =>
      allRows(
        (cursor, limit) => request<Deliveries>(`${path}/deliveries`, { query: { limit, cursor } }),
        ({ deliveries }) => deliveries,
      ),
    keyOf: ({ id }) => id,
    marks: (row) => ({
      ...{ class: 'opens', 'data-delivery': row.id, 'data-status': row.status },
      onClick: onRowClick(() => toggle(row)),
    }),
    columns: [
      [
        'Event',
        'subject',
        (row) =>
          html`<button type="button" class="inline" aria-expanded=${open.has(row.id)} onClick=${() => toggle(row)}>${row.event_type}</button><small class="muted"><code title=${`webhook-id: ${row.event_id}`}>${shortId(row.event_id)}</code></small>`,
      ],
      ['Created', '', ({ created_at: at }) => near(at)],
      [
        'Status',
        '',
        ({ status }) =>
          html`<span class=${`tag ${COLORS[status]}`}>${DELIVERY_WORDS[status]}</span>`,
      ],
      ['Attempts', 'num', ({ attempts }) => attempts],
      ['Last attempt', 'attempt', attemptText],
      ['Next attempt', '', ({ next_attempt_at: at }) => near(at)],
      [
        'Try again',
        'actions',
        (row) => html`<${Retry} delivery=${row} path=${pathOf(row)} onRetried=${onRetried} />`,
      ],
    ],
    below: (row) =>
      open.has(row.id)
        ? html`<tr class="detail"><td colspan="7"><${DeliveryDetail} delivery=${row} path=${pathOf(row)} url=${url} onSeen=${onSeen} /></td></tr>`
        : null,
  })
}

interface RetryProps extends Pick<DeliveryTableProps, 'path' | 'onRetried'> {
  readonly delivery: Delivery
}

function Retry({ delivery: { event_type: type, event_id: id }, path, onRetried }: RetryProps) {
  const { isRunning, error, run } = useAction()
  const retry = () =>
    run(async () => onRetried(await request<Delivery>(`${path}/retry`, { method: 'POST' })))
  return html`<button
      type="button" class="quiet" aria-disabled=${isRunning} onClick=${retry} aria-label=${`Send again ${type} ${id}`}
    >Send again</button>
    <${Failure} error=${error} />`
}

const HALF_DAY_S = 43_200

/** Times within half a day of now include seconds, since retries may be seconds apart. */
const near = (seconds: number | null) =>
  html`<${Time} seconds=${seconds} style=${Math.abs((seconds ?? 0) - nowMs() / 1_000) < HALF_DAY_S ? 'clock' : 'full'} />`

const COLORS = { pending: 'wait', delivered: 'good', exhausted: 'bad', dropped: 'bad' } as const

export const DELIVERY_WORDS = {
  ...{ delivered: 'delivered', pending: 'pending', exhausted: 'failed', dropped: 'dropped' },
} as const

interface DeliveryDetailProps extends Pick<DeliveryTableProps, 'path' | 'url' | 'onSeen'> {
  readonly delivery: Delivery
}

/**
 * Details of a delivery, reloaded after each attempt. The server stores only the last attempt, so an expanded row
 * retains earlier attempts.
 */
function DeliveryDetail({ delivery, path, url, onSeen }: DeliveryDetailProps) {
  const { attempts, status, last_attempt: last } = delivery
  const result = useRequest(
    (signal) => request<Detail>(path, { signal }),
    [path, attempts, status, last?.at],
  )
  const { answer } = result
  useEffect(() => (answer === null ? undefined : onSeen(answer)), [answer])
  const seen = useRef(new Map<number | null, Detail>())
  if (answer !== null) seen.current = withAttempt(seen.current, answer)
  const details = [...seen.current.values()].reverse()
  const [newest] = details
  return html`<div class="stack delivery">
    <p data-sentence>${deliverySentence(delivery, nowMs())}</p>
    <${Unanswered} result=${result} what="the request and its response" />
    ${
      newest === undefined
        ? null
        : html`<${Figures} of=${[
            ['Event created', exactly({ atMs: newest.created_at_ms })],
            ['Attempts', countText(newest.attempts)],
            ['Next attempt', exactly({ seconds: newest.next_attempt_at })],
          ]} />`
    }
    ${details.map((detail, index) => attempt(detail, url, index === 0))}
  </div>`
}

const exactly = (at: { readonly atMs?: number | null; readonly seconds?: number | null }) =>
  html`<${Time} ...${at} style="exact" />`

/** Retained attempts per delivery. The oldest are dropped first. */
const ATTEMPTS_MAX = 10

export function withAttempt(
  previous: ReadonlyMap<number | null, Detail>,
  detail: Detail,
): Map<number | null, Detail> {
  const { attempted_at_ms: atMs } = detail
  // An entry without a time represents a delivery without attempts. The first attempt replaces it.
  const tried = [...previous].filter(([at]) => at !== null && at !== atMs)
  const all = [...tried, [atMs, detail] as const]
  return new Map(all.sort(([one], [other]) => (one ?? 0) - (other ?? 0)).slice(-ATTEMPTS_MAX))
}

function attempt(detail: Detail, url: string, isLast: boolean) {
  const { attempted_at_ms: atMs, request: sent, response, last_attempt: last } = detail
  const status = last === null ? 'Not sent yet' : (last.status ?? last.error ?? '')
  return html`<section class="stack" key=${atMs} data-attempt=${atMs}>
    ${
      last === null
        ? null
        : html`<h3>${isLast ? 'Last attempt' : 'Earlier attempt'}</h3>
          <${Figures} of=${[['Began', exactly({ atMs })], ['Took', durationText(last.duration_ms)]]} />`
    }
    <div class="exchange">
      <section class="stack">
        <h4>Request</h4>
        <pre data-part="request" tabindex="0" aria-label="The request">${[
          ...[`POST ${url}`, ...headerLines(sent.headers)],
          ...['webhook-signature: (not shown)', '', indented(sent.body)],
        ].join('\n')}</pre>
      </section>
      <section class="stack">
        <h4>Response</h4>
        <pre data-part="response" tabindex="0" aria-label="The response">${[
          last?.status === null || last === null ? String(status) : `HTTP ${status}`,
          ...(response === null ? [] : [...headerLines(response.headers), '', response.body]),
        ].join('\n')}</pre>
        ${response?.is_cut === true ? html`<p class="muted">Only the first 2 KB of the response are stored.</p>` : null}
        ${
          last !== null && last.status !== null && response === null
            ? html`<p class="muted">The body of this response was not stored.</p>`
            : null
        }
      </section>
    </div>
  </section>`
}

const headerLines = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`)

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

export function attemptText({ last_attempt: last }: Delivery): string {
  if (last === null) return 'Not tried yet'
  const took = durationText(last.duration_ms)
  if (last.error === null) return `${last.status ?? ''} in ${took}`.trim()
  // Most error messages already contain the status.
  const isNamed = last.status === null || last.error.includes(String(last.status))
  return `${isNamed ? '' : `${last.status}: `}${last.error}, in ${took}`
}

const inText = (seconds: number, nowMs: number): string =>
  seconds * 1_000 <= nowMs ? 'now' : `in ${durationText(seconds * 1_000 - nowMs)}`

/** Describes the state of a delivery and what happens next. */
export function deliverySentence(
  delivery: Pick<Delivery, 'status' | 'attempts' | 'last_attempt' | 'next_attempt_at'>,
  nowMs: number,
): string {
  const { status, attempts, last_attempt: last, next_attempt_at: next } = delivery
  const tries = `${countText(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'}`
  const outcome =
    last === null
      ? ''
      : last.error === null
        ? `Your server answered ${last.status ?? ''} after ${durationText(last.duration_ms)}`
        : `The last of ${tries} failed: ${last.error}`
  switch (status) {
    case 'delivered':
      return `${outcome}: the event is delivered${attempts > 1 ? `, with ${tries}` : ''}.`
    case 'pending': {
      const when = next === null ? '' : ` The next attempt is ${inText(next, nowMs)}.`
      return last === null ? `The event waits for its first attempt.${when}` : `${outcome}.${when}`
    }
    case 'exhausted':
      return `${outcome}. No further attempt is made unless you send it again.`
    case 'dropped':
      return 'The event was dropped before it was sent: it waited too long, or too many events were waiting.'
  }
}

export interface Shown {
  readonly rows: readonly Delivery[]
  /** Cursor of the next older page; null if there is none. */
  readonly cursor: string | null
}

function apart(rows: readonly Delivery[], { deliveries }: Pick<Deliveries, 'deliveries'>) {
  const ids = new Set(deliveries.map(({ id }) => id))
  return rows.filter(({ id }) => !ids.has(id))
}

/** Replaces the rows of the newest page and keeps older rows. */
export function withNewest(shown: Shown | null, page: Deliveries): Shown {
  const { deliveries: rows, cursor } = page
  const last = rows.at(-1)
  // A page that does not overlap the list replaces it, since deliveries between them may be missing.
  const isMeeting = page.has_more && shown?.rows.some(({ id }) => id === last?.id) === true
  if (shown === null || !isMeeting) return { rows, cursor }
  return { rows: [...rows, ...apart(shown.rows, page)], cursor: shown.cursor }
}

export function withOlder({ rows }: Shown, page: Deliveries): Shown {
  return {
    rows: [...rows, ...apart(page.deliveries, { deliveries: [...rows] })],
    cursor: page.cursor,
  }
}

export function withOne({ rows, cursor }: Shown, delivery: Delivery): Shown {
  const isListed = rows.some(({ id }) => id === delivery.id)
  if (!isListed) return { rows: [delivery, ...rows], cursor }
  return { rows: rows.map((row) => (row.id === delivery.id ? delivery : row)), cursor }
}
