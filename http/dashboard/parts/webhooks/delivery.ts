// One delivery, opened: the request as it was posted, the head of what the receiver answered, and when. Asked for anew
// with every attempt. Not for: the list (deliveries.ts). Upholds DASH85.

import { request } from '../../api.ts'
import { countText, durationText } from '../../format.ts'
import { html } from '../../html.ts'
import type { Delivery, DeliveryDetail as Detail } from '../../records.ts'
import { useAsked } from '../asked.ts'
import { Unanswered } from '../states.ts'
import { Time } from '../time.ts'
import { Figures } from '../wallets/profile.ts'

interface DeliveryDetailProps {
  readonly delivery: Delivery
  /** Where the delivery is under `/v1`. */
  readonly path: string
  /** Where events are posted to. */
  readonly url: string
}

export function DeliveryDetail({ delivery, path, url }: DeliveryDetailProps) {
  const { attempts, status } = delivery
  const asked = useAsked((signal) => request<Detail>(path, { signal }), [path, attempts, status])
  const { last_attempt: last, next_attempt_at: next } = delivery
  return html`<div class="stack delivery">
    <${Figures} of=${[
      ['Event created', asked.kind === 'answered' ? moment(asked.answer.created_at_ms) : '–'],
      ['Last attempt', asked.kind === 'answered' ? moment(asked.answer.attempted_at_ms) : '–'],
      ['Took', last === null ? '–' : durationText(last.duration_ms)],
      ['Attempts', countText(attempts)],
      ['Next attempt', moment(next === null ? null : next * 1_000)],
    ]} />
    <${Unanswered} asked=${asked} what="the request and its response" />
    ${asked.kind === 'answered' ? html`<${Exchange} detail=${asked.answer} url=${url} />` : null}
  </div>`
}

const moment = (atMs: number | null) => html`<${Time} atMs=${atMs} style="exact" />`

/** Request and response, beside each other where there is room. */
function Exchange({ detail, url }: { readonly detail: Detail; readonly url: string }) {
  const { request: sent, response, last_attempt: last } = detail
  const status = last === null ? 'Not sent yet' : (last.status ?? last.error ?? '')
  return html`<div class="exchange">
    <section class="stack">
      <h3>Request</h3>
      <pre data-part="request" tabindex="0" aria-label="The request">${[
        `POST ${url}`,
        ...headerLines(sent.headers),
        'webhook-signature: (not shown)',
        '',
        indented(sent.body),
      ].join('\n')}</pre>
    </section>
    <section class="stack">
      <h3>Response</h3>
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

/** JSON as people read it; the bytes that are posted have no blanks. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
