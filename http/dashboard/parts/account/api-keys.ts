import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { request } from '../../api.ts'
import { serverBase } from '../../browser.ts'
import { html } from '../../html.ts'
import type { ApiKey, ApiKeys, CreatedKey } from '../../records.ts'
import { useAction } from '../forms/action.ts'
import { Confirm } from '../forms/confirm.ts'
import { described, Field, FormProblem, focusProblem } from '../forms/field.ts'
import { refusalOf } from '../forms/refusal.ts'
import { SecretOnce } from '../forms/secret-once.ts'
import { useRequest } from '../request-state.ts'
import { Empty, Failure, Unanswered } from '../states.ts'
import { Time } from '../time.ts'

const LABEL_CHARACTERS_MAX = 64

export function KeyList() {
  const result = useRequest((signal) => request<ApiKeys>('/v1/keys', { signal }), [])
  const [made, setMade] = useState<CreatedKey | null>(null)
  const onMade = (key: CreatedKey) => {
    setMade(key)
    result.again()
  }
  const onRevoked = ({ id }: ApiKey) => {
    if (made?.id === id) setMade(null)
    result.again()
  }
  return html`
    ${
      made === null
        ? null
        : html`<${SecretOnce}
          title=${`Your new key “${made.label}”`} what="key" secret=${made.key}
          command=${curlLine(made.key, serverBase())} onDone=${() => setMade(null)}
        />`
    }
    <section class="card stack" aria-labelledby="keys">
      <h2 id="keys">API keys</h2>
      <p class="muted">Programs sign in with a key. Give each program its own, so that you can revoke one without touching the others.</p>
      <${KeyForm} onMade=${onMade} />
      <${Unanswered} result=${result} what="your keys" />
      ${result.kind === 'answered' ? html`<${KeyTable} keys=${result.answer.keys} onRevoked=${onRevoked} />` : null}
    </section>
  `
}

/** A curl command that requests markets with the key. */
export const curlLine = (key: string, base: string): string =>
  `curl -H 'X-API-Key: ${key}' '${base}v1/markets?limit=3'`

function KeyForm({ onMade }: { readonly onMade: (key: CreatedKey) => void }) {
  const form = useRef<HTMLFormElement>(null)
  const action = useAction()
  const [isEmpty, setEmpty] = useState(false)
  const refusal = action.error === null ? null : refusalOf(action.error, ['label'])
  const problem = isEmpty ? 'Enter a name.' : (refusal?.fields.get('label') ?? null)
  useLayoutEffect(() => focusProblem(form.current), [problem])
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    if (form.current === null) return
    const formData = new FormData(form.current)
    const label = String(formData.get('label') ?? '').trim()
    const scopes = formData.has('webhooks') ? ['read', 'webhooks'] : ['read']
    setEmpty(label === '')
    if (label === '') return
    action.run(async () => {
      onMade(await request<CreatedKey>('/v1/keys', { method: 'POST', body: { label, scopes } }))
      form.current?.reset()
    })
  }
  const hint = 'What will use it, such as “trading bot”.'
  const field = { id: 'key-label', hint, problem }
  return html`<form class="key-form" ref=${form} novalidate onSubmit=${onSubmit}>
    <${Field} ...${field} label="Key name">
      <span class="row joined">
        <input ...${described(field)} name="label" defaultValue="My key" maxlength=${LABEL_CHARACTERS_MAX} autocomplete="off" required />
        <button type="submit" class="primary" aria-disabled=${action.isRunning}>
          ${action.isRunning ? 'Creating…' : 'Create key'}
        </button>
      </span>
    <//>
    <label class="row"><input type="checkbox" name="webhooks" /> Allow it to manage webhooks</label>
    <${FormProblem} text=${refusal?.form ?? null} />
  </form>`
}

interface KeyTableProps {
  readonly keys: readonly ApiKey[]
  readonly onRevoked: (key: ApiKey) => void
}

function KeyTable({ keys, onRevoked }: KeyTableProps) {
  if (keys.length === 0) return html`<${Empty}>No keys yet. Create one above.<//>`
  return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Table of your keys">
    <table class="list keys stacked">
      <thead><tr>
        <th scope="col">Name</th><th scope="col">Permissions</th><th scope="col">Prefix</th><th scope="col">Created</th>
        <th scope="col">Last used</th><th scope="col"><span class="visually-hidden">Revoke</span></th>
      </tr></thead>
      <tbody>
        ${keys.map((key) => html`<${KeyRow} key=${key.id} row=${key} onRevoked=${onRevoked} />`)}
      </tbody>
    </table>
  </div>`
}

interface KeyRowProps {
  readonly row: ApiKey
  readonly onRevoked: (key: ApiKey) => void
}

function KeyRow({ row, onRevoked }: KeyRowProps) {
  const { id, label, scopes, prefix, created_at: created, last_used_at: used } = row
  const action = useAction()
  const revoke = () =>
    action.run(async () => {
      await request(`/v1/keys/${encodeURIComponent(id)}`, { method: 'DELETE' })
      onRevoked(row)
    })
  return html`<tr data-key=${id}>
    <th scope="row" class="label">${label}</th>
    <td data-label="Permissions">${scopes.includes('webhooks') ? 'Read, manage webhooks' : 'Read'}</td>
    <td data-label="Prefix"><code>${prefix}…</code></td>
    <td data-label="Created"><${Time} atMs=${created * 1_000} style="day" /></td>
    <td data-label="Last used">${used === null ? html`<span class="muted">never</span>` : html`<${Time} atMs=${used * 1_000} />`}</td>
    <td class="actions">
      <${Confirm}
        action="Revoke" of=${`the key ${label}`} isRunning=${action.isRunning} onYes=${revoke}
        question="Programs that use it stop working at once."
      />
      ${action.error === null ? null : html`<${Failure} error=${action.error} />`}
    </td>
  </tr>`
}
