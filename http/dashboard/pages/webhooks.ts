// `#/webhooks` lists webhooks. `#/webhooks/ID` shows one webhook with its deliveries.

import { useState } from 'preact/hooks'
import { ApiError, request } from '../api.ts'
import { nowMs } from '../browser.ts'
import { countText, durationText } from '../format.ts'
import { html } from '../html.ts'
import { DELIVERY_WORDS, WebhookDeliveries } from '../parts/deliveries.ts'
import { Time } from '../parts/figures.ts'
import { Confirm, SecretOnce, useAction } from '../parts/forms.ts'
import { MarketName } from '../parts/picker.ts'
import { Unanswered, useRequest } from '../parts/requests.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import { table } from '../parts/tables.ts'
import {
  type Draft,
  type DraftBody,
  draftIn,
  draftOf,
  NEW_DRAFT,
  WebhookForm,
} from '../parts/webhook-form.ts'
import type { CreatedWebhook, Delivery, Webhook, Webhooks } from '../records.ts'
import { hrefOf, type PageProps } from '../route.ts'

const COLLECTION = '/v1/webhooks'
const pathOf = (id: string): string => `${COLLECTION}/${encodeURIComponent(id)}`
const PERIOD_MS = 10_000

export const WebhooksPage = ({ route: { subject, query } }: PageProps) =>
  subject === null
    ? html`<${AllWebhooks} key=${String(query)} wanted=${draftIn(query)} />`
    : html`<${OneWebhook} id=${subject} />`

/** `wanted`: the draft of an alert that a link on another page describes. */
function AllWebhooks({ wanted }: { readonly wanted: Draft | null }) {
  const [made, setMade] = useState<CreatedWebhook | null>(null)
  const [tested, setTested] = useState<Delivery | null>(null)
  const { latest: list, error } = useRequest(
    (signal) => request<Webhooks>(COLLECTION, { signal }),
    [made?.id],
    { periodMs: PERIOD_MS },
  )
  const create = async (body: DraftBody, isWithTest: boolean) => {
    const created = await request<CreatedWebhook>(COLLECTION, { method: 'POST', body })
    // A failed test does not undo the creation. The list of deliveries shows the test's result.
    const path = `${pathOf(created.id)}/test`
    const sending = isWithTest ? request<Delivery>(path, { method: 'POST' }) : null
    setTested((await sending?.catch(() => null)) ?? null)
    setMade(created)
  }
  const form = html`<section class="card stack" aria-labelledby="new">
    <h2 id="new">${wanted === null ? 'New webhook' : 'New alert'}</h2>
    <${WebhookForm} key=${made?.id ?? 'first'} initial=${made === null && wanted !== null ? wanted : NEW_DRAFT}
      verb="Create webhook" testVerb="Create and send a test" send=${create} />
  </section>`
  return html`
    <h1>Webhooks</h1>
    <p class="muted">
      Events are posted to your server as they happen, signed with${' '}
      <a href="https://www.standardwebhooks.com" rel="noopener noreferrer">Standard Webhooks</a> and retried for more than
      a day if your server does not accept them.
    </p>
    ${
      made === null
        ? null
        : html`<${CreatedNotice} webhook=${made} onDone=${() => setMade(null)} />
        <${WebhookDeliveries} key=${made.id} path=${pathOf(made.id)} url=${made.url} sent=${tested} />`
    }
    ${wanted === null ? null : form}
    <section class="card stack" aria-labelledby="webhooks">
      <h2 id="webhooks">Your webhooks</h2>
      ${list === null && error === null ? html`<${Waiting} what="your webhooks" />` : null}
      <${Failure} error=${error} />
      ${list === null ? null : webhookTable(list.webhooks)}
    </section>
    ${wanted === null ? form : null}
  `
}

interface CreatedNoticeProps {
  readonly webhook: CreatedWebhook
  readonly onDone: () => void
}

function CreatedNotice({ webhook: { id, format, url, secret }, onDone }: CreatedNoticeProps) {
  const link = html`<a href=${hrefOf('webhooks', id)}>Open the webhook</a>`
  if (format !== 'standard') {
    return html`<p class="notice" role="status">The webhook posts messages to ${url}. ${link} to change it or send tests.</p>`
  }
  return html`<${SecretOnce} title="The signing secret of your new webhook" what="secret" secret=${secret} onDone=${onDone}>
    <p>Use it to verify the signature of each event. ${link} to change it or send tests.</p>
  <//>`
}

function webhookTable(webhooks: readonly Webhook[]) {
  if (webhooks.length === 0) return html`<${Empty}>No webhooks yet.<//>`
  return table({
    ...{
      list: 'webhooks',
      kind: 'webhooks stacked',
      region: 'Table of your webhooks',
      rows: webhooks,
    },
    keyOf: ({ id }) => id,
    marks: ({ id }) => ({ 'data-webhook': id }),
    columns: [
      [
        'URL',
        'subject address',
        ({ id, url, description }) => html`<a href=${hrefOf('webhooks', id)}>${url}</a>
          ${description === null ? null : html`<small class="muted">${description}</small>`}`,
      ],
      ['State', '', stateTag],
      ['Events', '', ({ event_types: types }) => types.join(', ')],
      [
        'Deliveries',
        '',
        ({ counts, throttled }) => html`${countsText(counts)}
          ${throttled === 0 ? null : html` <span class="tag wait">${countText(throttled)} throttled</span>`}`,
      ],
    ],
  })
}

function OneWebhook({ id }: { readonly id: string }) {
  const path = pathOf(id)
  const result = useRequest((signal) => request<Webhook>(path, { signal }), [path])
  const [sent, setSent] = useState<Delivery | null>(null)
  const [isDeleted, setDeleted] = useState(false)
  const back = html`<p><a href=${hrefOf('webhooks')}>← All webhooks</a></p>`
  if (isDeleted) return html`${back}<h1>Webhook</h1><p class="notice" role="status">Deleted.</p>`
  const { answer: webhook, error, again } = result
  if (webhook === null) {
    // 404: unknown, deleted or another account's webhook. 422: invalid id.
    const isNone = error instanceof ApiError && (error.status === 404 || error.status === 422)
    return html`${back}<h1>Webhook</h1>
      ${
        isNone
          ? html`<${Empty}>No webhook of yours has the id ${id}.<//>`
          : html`<${Unanswered} result=${result} what="the webhook" />`
      }`
  }
  return html`${back}
    <h1 class="address">${webhook.url}</h1>
    <section class="card stack" aria-label="The webhook">
      ${webhookFacts(webhook)}
      <${WebhookControls}
        webhook=${webhook} path=${path} onSent=${setSent} onChanged=${again} onDeleted=${() => setDeleted(true)}
      />
    </section>
    <${WebhookDeliveries} path=${path} url=${webhook.url} sent=${sent} onSettled=${again} />`
}

function webhookFacts(webhook: Webhook) {
  const { description, event_types: types, counts, throttled, created_at: created } = webhook
  const { previous_secret_until: until } = webhook
  return html`<p>${stateTag(webhook)} ${stateOf(webhook, nowMs()).text}</p>
    <dl class="account-facts">
      ${description === null ? null : html`<div><dt>Description</dt><dd>${description}</dd></div>`}
      <div><dt>Events</dt><dd>${types.join(', ')}</dd></div>
      ${Object.entries(webhook.filters).map(([name, wanted]) =>
        wanted === null
          ? null
          : html`<div key=${name}><dt>Only <code>${name}</code></dt><dd>${filterText(name, wanted)}</dd></div>`,
      )}
      <div><dt>Deliveries</dt><dd data-counts>${countsText(counts)}</dd></div>
      ${
        throttled === 0
          ? null
          : html`<div><dt>Throttled</dt><dd data-throttled>${countText(throttled)} events were dropped, because your account had used up its deliveries a second. Narrow the filters to get fewer.</dd></div>`
      }
      <div><dt>Created</dt><dd><${Time} seconds=${created} /></dd></div>
      ${
        until === null
          ? null
          : html`<div><dt>The old secret signs until</dt><dd><${Time} seconds=${until} /></dd></div>`
      }
    </dl>`
}

/** Markets are shown by their questions. */
function filterText(name: string, wanted: string | number | readonly string[]) {
  if (typeof wanted === 'string' || typeof wanted === 'number') return wanted
  if (name !== 'market_ids') return wanted.join(', ')
  return html`<ul class="row chosen">${wanted.map(
    (id) => html`<li key=${id}><a href=${hrefOf('market', id)}><${MarketName} id=${id} /></a></li>`,
  )}</ul>`
}

const COLORS = { on: 'good', failing: 'wait', off: '' } as const

function stateTag(webhook: Webhook) {
  const { name, text } = stateOf(webhook, nowMs())
  return html`<span class=${`tag ${COLORS[name]}`} title=${text}>${name}</span>`
}

const OFF = {
  byUser: 'You switched it off: nothing is sent.',
  gone: 'It was switched off: your receiver answered 410 Gone.',
  failing: 'It was switched off: every attempt failed for five days.',
} as const

export function stateOf(
  webhook: Webhook,
  nowMs: number,
): { readonly name: keyof typeof COLORS; readonly text: string } {
  if (!webhook.active) return { name: 'off', text: OFF[webhook.disabled_reason ?? 'byUser'] }
  if (!webhook.verified) {
    return { name: 'off', text: 'It gets events once your receiver answers a test with a 2xx.' }
  }
  const since = webhook.failing_since
  if (since === null) return { name: 'on', text: 'Events are posted as they happen.' }
  const text = `Every attempt has failed for ${durationText(nowMs - since * 1_000)}.`
  return { name: 'failing', text: `${text} After five days it is switched off.` }
}

const COUNTED = ['delivered', 'pending', 'exhausted', 'dropped'] as const

/** Omits zeros: `12 delivered, 1 pending`. */
export function countsText(counts: Webhook['counts']): string {
  const parts = COUNTED.filter((name) => counts[name] > 0).map(
    (name) => `${countText(counts[name])} ${DELIVERY_WORDS[name]}`,
  )
  return parts.length === 0 ? 'None yet' : parts.join(', ')
}

interface WebhookControlsProps {
  readonly webhook: Webhook
  readonly path: string
  readonly onSent: (delivery: Delivery) => void
  readonly onChanged: () => void
  readonly onDeleted: () => void
}

function WebhookControls(props: WebhookControlsProps) {
  const { webhook, path, onSent, onChanged, onDeleted } = props
  const [secret, setSecret] = useState<string | null>(null)
  const [isChanging, setChanging] = useState(false)
  const { isRunning, error, run } = useAction()
  const patch = async (body: object) => {
    await request<Webhook>(path, { method: 'PATCH', body })
    onChanged()
  }
  const test = () =>
    run(async () => onSent(await request<Delivery>(`${path}/test`, { method: 'POST' })))
  const rotate = () =>
    run(async () => {
      const options = { method: 'POST', body: {} } as const
      setSecret((await request<CreatedWebhook>(`${path}/rotate-secret`, options)).secret)
      onChanged()
    })
  const remove = () =>
    run(async () => {
      await request(path, { method: 'DELETE' })
      onDeleted()
    })
  const save = async (body: DraftBody) => {
    await patch(body)
    setChanging(false)
  }
  const confirmed = { isRunning, of: 'of this webhook' }
  return html`
    <div class="row controls">
      <button type="button" class="primary" aria-disabled=${isRunning} onClick=${test}>Send a test</button>
      <button type="button" aria-disabled=${isRunning} onClick=${() => run(() => patch({ active: !webhook.active }))}>
        ${webhook.active ? 'Switch off' : 'Switch on'}
      </button>
      <button type="button" aria-expanded=${String(isChanging)} onClick=${() => setChanging(!isChanging)}>Change</button>
      <${Confirm} ...${confirmed} key=${`rotate ${secret}`} action="New secret" onYes=${rotate}
        question="The old secret keeps working for 24 hours." />
      <${Confirm} ...${confirmed} action="Delete" onYes=${remove}
        question="Deletes its delivery history too." />
    </div>
    <${Failure} error=${error} />
    ${secret === null ? null : html`<${SecretOnce} title="The new secret" what="secret" secret=${secret} onDone=${() => setSecret(null)} />`}
    ${
      isChanging
        ? html`<section class="card" aria-label="Change the webhook">
          <${WebhookForm} initial=${draftOf(webhook)} verb="Save" send=${save} />
        </section>`
        : null
    }
  `
}
