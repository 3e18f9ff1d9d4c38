// The account's webhooks in a table, each with its state and what came of its deliveries. Upholds DASH31.

import { nowMs } from '../../browser.ts'
import { html } from '../../html.ts'
import type { Webhook } from '../../records.ts'
import { hrefOf } from '../../route.ts'
import { Empty } from '../states.ts'
import { countsText, stateOf } from './words.ts'

export function WebhookList({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  if (webhooks.length === 0) return html`<${Empty}>No webhooks yet. Make one below.<//>`
  return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Table of your webhooks">
    <table class="list webhooks stacked">
      <thead><tr>
        <th scope="col">Posted to</th><th scope="col">State</th><th scope="col">Events</th>
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

/** On, failing or off; why, for who hovers. */
export function WebhookTag({ webhook }: { readonly webhook: Webhook }) {
  const { name, words } = stateOf(webhook, nowMs())
  return html`<span class=${`tag ${COLOURS[name]}`} title=${words}>${name}</span>`
}

const COLOURS = { on: 'good', failing: 'wait', off: '' } as const
