// Actions on a webhook: test, switch on or off, edit, rotate the secret, delete.

import { useState } from 'preact/hooks'
import { request } from '../../api.ts'
import { html } from '../../html.ts'
import type { CreatedWebhook, Delivery, Webhook } from '../../records.ts'
import { useAction } from '../forms/action.ts'
import { Confirm } from '../forms/confirm.ts'
import { SecretOnce } from '../forms/secret-once.ts'
import { Failure } from '../states.ts'
import { type DraftBody, draftOf } from './draft.ts'
import { WebhookForm } from './form.ts'

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
