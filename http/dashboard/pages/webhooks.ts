// The list of webhooks with a form for new ones, and at `#/webhooks/ID` a single webhook with its deliveries.

import { useCallback, useState } from 'preact/hooks'
import { ApiError, request } from '../api.ts'
import { nowMs } from '../browser.ts'
import { html } from '../html.ts'
import { countsText, filterRows, stateOf, WebhookDeliveries } from '../parts/deliveries.ts'
import { Time } from '../parts/figures.ts'
import { Confirm, SecretOnce, useAction } from '../parts/forms.ts'
import { usePolled, useRequest } from '../parts/requests.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import { type DraftBody, draftOf, NEW_DRAFT, WebhookForm } from '../parts/webhook-form.ts'
import type { CreatedWebhook, Delivery, Webhook, Webhooks } from '../records.ts'
import { hrefOf, type PageProps } from '../route.ts'

const COLLECTION = '/v1/webhooks'
/** Poll period of the list. */
const PERIOD_MS = 10_000
const nothing = () => undefined

export function WebhooksPage({ route }: PageProps) {
  const { subject } = route
  return subject === null ? html`<${AllWebhooks} />` : html`<${OneWebhook} id=${subject} />`
}

function AllWebhooks() {
  const [made, setMade] = useState<CreatedWebhook | null>(null)
  const [tested, setTested] = useState<Delivery | null>(null)
  // A new webhook triggers an immediate reload.
  const fetchWebhooks = useCallback(
    (signal: AbortSignal) => request<Webhooks>(COLLECTION, { signal }),
    [made?.id],
  )
  const { answer: list, error } = usePolled(fetchWebhooks, { periodMs: PERIOD_MS })
  const create = async (body: DraftBody, isWithTest: boolean) => {
    const created = await request<CreatedWebhook>(COLLECTION, { method: 'POST', body })
    // The webhook exists even if the test fails. Its deliveries show the result.
    const path = `${COLLECTION}/${encodeURIComponent(created.id)}/test`
    const sending = isWithTest ? request<Delivery>(path, { method: 'POST' }) : null
    setTested((await sending?.catch(() => null)) ?? null)
    setMade(created)
  }
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
        : html`<${SecretOnce}
          title="The signing secret of your new webhook" what="secret" secret=${made.secret} command=${null}
          onDone=${() => setMade(null)}
        >
          <p>Use it to verify the signature of each event. <a href=${hrefOf('webhooks', made.id)}>Open the webhook</a> to${' '}
            change it or send tests.</p>
        <//>
        <${WebhookDeliveries} key=${made.id} path=${`${COLLECTION}/${encodeURIComponent(made.id)}`} url=${made.url}
          sent=${tested} onSettled=${nothing} />`
    }
    <section class="card stack" aria-labelledby="webhooks">
      <h2 id="webhooks">Your webhooks</h2>
      ${list === null && error === null ? html`<${Waiting} what="your webhooks" />` : null}
      ${error === null ? null : html`<${Failure} error=${error} />`}
      ${list === null ? null : html`<${WebhookList} webhooks=${list.webhooks} />`}
    </section>
    <section class="card stack" aria-labelledby="new">
      <h2 id="new">New webhook</h2>
      <${WebhookForm} key=${made?.id ?? 'first'} initial=${NEW_DRAFT} verb="Create webhook" testVerb="Create and send a test" send=${create} />
    </section>
  `
}

function OneWebhook({ id }: { readonly id: string }) {
  const path = `${COLLECTION}/${encodeURIComponent(id)}`
  const result = useRequest((signal) => request<Webhook>(path, { signal }), [path])
  const [sent, setSent] = useState<Delivery | null>(null)
  const [isDeleted, setDeleted] = useState(false)
  const back = html`<p><a href=${hrefOf('webhooks')}>← All webhooks</a></p>`
  if (isDeleted) return html`${back}<h1>Webhook</h1><p class="notice" role="status">Deleted.</p>`
  if (result.kind !== 'answered') {
    return html`${back}<h1>Webhook</h1>
      ${
        result.kind === 'waiting'
          ? html`<${Waiting} what="the webhook" />`
          : isNone(result.error)
            ? html`<${Empty}>No webhook of yours has the id ${id}.<//>`
            : html`<${Failure} error=${result.error} retry=${result.again} />`
      }`
  }
  const webhook = result.answer
  return html`${back}
    <h1 class="address">${webhook.url}</h1>
    <section class="card stack" aria-label="The webhook">
      <${WebhookFacts} webhook=${webhook} />
      <${WebhookControls}
        webhook=${webhook} path=${path} onSent=${setSent} onChanged=${result.again}
        onDeleted=${() => setDeleted(true)}
      />
    </section>
    <${WebhookDeliveries} path=${path} url=${webhook.url} sent=${sent} onSettled=${result.again} />`
}

/** The id belongs to another account or a deleted webhook, or it is invalid. */
const isNone = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 404 || error.status === 422)

function WebhookFacts({ webhook }: { readonly webhook: Webhook }) {
  const { description, event_types: types, counts, throttled, created_at: created } = webhook
  const until = webhook.previous_secret_until
  return html`<p><${WebhookTag} webhook=${webhook} /> ${stateOf(webhook, nowMs()).text}</p>
    <dl class="account-facts">
      ${description === null ? null : html`<div><dt>Description</dt><dd>${description}</dd></div>`}
      <div><dt>Events</dt><dd>${types.join(', ')}</dd></div>
      ${filterRows(webhook).map(
        ([name, wanted]) =>
          html`<div key=${name}><dt>Only <code>${name}</code></dt><dd>${wanted}</dd></div>`,
      )}
      <div><dt>Deliveries</dt><dd data-counts>${countsText(counts)}</dd></div>
      ${
        throttled === 0
          ? null
          : html`<div><dt>Throttled</dt><dd>${throttled} events were dropped: your account had used up its deliveries a second.</dd></div>`
      }
      <div><dt>Created</dt><dd><${Time} atMs=${created * 1_000} /></dd></div>
      ${
        until === null
          ? null
          : html`<div><dt>The old secret signs until</dt><dd><${Time} atMs=${until * 1_000} /></dd></div>`
      }
    </dl>`
}

function WebhookList({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  if (webhooks.length === 0) return html`<${Empty}>No webhooks yet. Create one below.<//>`
  return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Table of your webhooks">
    <table class="list webhooks stacked">
      <thead><tr>
        <th scope="col">URL</th><th scope="col">State</th><th scope="col">Events</th>
        <th scope="col">Deliveries</th>
      </tr></thead>
      <tbody>${webhooks.map((row) => html`<${WebhookRow} key=${row.id} webhook=${row} />`)}</tbody>
    </table>
  </div>`
}

function WebhookRow({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, description, event_types: types, counts } = webhook
  return html`<tr data-webhook=${id}>
    <th scope="row" class="address">
      <a href=${hrefOf('webhooks', id)}>${url}</a>
      ${description === null ? null : html`<small class="muted">${description}</small>`}
    </th>
    <td data-label="State"><${WebhookTag} webhook=${webhook} /></td>
    <td data-label="Events">${types.join(', ')}</td>
    <td data-label="Deliveries">${countsText(counts)}</td>
  </tr>`
}

/** State label with the reason as tooltip. */
function WebhookTag({ webhook }: { readonly webhook: Webhook }) {
  const { name, text } = stateOf(webhook, nowMs())
  return html`<span class=${`tag ${STATE_COLOURS[name]}`} title=${text}>${name}</span>`
}

const STATE_COLOURS = { on: 'good', failing: 'wait', off: '' } as const

// Actions on a webhook: test, switch on or off, edit, rotate the secret, delete.

interface WebhookControlsProps {
  readonly webhook: Webhook
  /** Path of the webhook, starting with `/v1`. */
  readonly path: string
  readonly onSent: (delivery: Delivery) => void
  readonly onChanged: () => void
  readonly onDeleted: () => void
}

export function WebhookControls(props: WebhookControlsProps) {
  const { webhook, path, onSent, onChanged, onDeleted } = props
  const [secret, setSecret] = useState<string | null>(null)
  const [isChanging, setChanging] = useState(false)
  const action = useAction()
  const patch = async (body: object) => {
    await request<Webhook>(path, { method: 'PATCH', body })
    onChanged()
  }
  const test = () =>
    action.run(async () => onSent(await request<Delivery>(`${path}/test`, { method: 'POST' })))
  const rotate = () =>
    action.run(async () => {
      const options = { method: 'POST', body: {} } as const
      setSecret((await request<CreatedWebhook>(`${path}/rotate-secret`, options)).secret)
      onChanged()
    })
  const remove = () =>
    action.run(async () => {
      await request(path, { method: 'DELETE' })
      onDeleted()
    })
  const save = async (body: DraftBody) => {
    await patch(body)
    setChanging(false)
  }
  const { isRunning } = action
  const confirmed = { isRunning, of: 'of this webhook' }
  return html`
    <div class="row controls">
      <button type="button" class="primary" aria-disabled=${isRunning} onClick=${test}>Send a test</button>
      <button type="button" aria-disabled=${isRunning} onClick=${() => action.run(() => patch({ active: !webhook.active }))}>
        ${webhook.active ? 'Switch off' : 'Switch on'}
      </button>
      <button type="button" aria-expanded=${String(isChanging)} onClick=${() => setChanging(!isChanging)}>
        Change
      </button>
      <${Confirm} ...${confirmed} key=${`rotate ${secret}`} action="New secret" onYes=${rotate}
        question="The old secret keeps working for 24 hours." />
      <${Confirm} ...${confirmed} action="Delete" onYes=${remove}
        question="Deletes its delivery history too." />
    </div>
    ${action.error === null ? null : html`<${Failure} error=${action.error} />`}
    ${
      secret === null
        ? null
        : html`<${SecretOnce}
          title="The new secret" what="secret" secret=${secret} command=${null} onDone=${() => setSecret(null)}
        />`
    }
    ${
      isChanging
        ? html`<section class="card" aria-label="Change the webhook">
          <${WebhookForm} initial=${draftOf(webhook)} verb="Save" send=${save} />
        </section>`
        : null
    }
  `
}
