import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type AnswerFacts, request, watchFacts } from '../api.ts'
import { after, nowMs, serverBase } from '../browser.ts'
import { countText } from '../format.ts'
import { html } from '../html.ts'
import { Time } from '../parts/figures.ts'
import {
  Confirm,
  described,
  Field,
  FormProblem,
  focusProblem,
  passwordRefusal,
  refusalOf,
  SecretOnce,
  useAction,
} from '../parts/forms.ts'
import { useRequest } from '../parts/requests.ts'
import { Empty, Failure, Unanswered } from '../parts/states.ts'
import type { ApiKey, ApiKeys, CreatedKey, Me } from '../records.ts'
import { changePassword, deleteAccount, logOut, session, whoAmI } from '../session.ts'
import { useSignal } from '../signal.ts'

export function AccountPage() {
  const who = useSignal(session)
  // The local account has no password to change or to confirm a deletion with.
  const hasPassword = who.kind === 'in' && who.user.has_password
  return html`<h1>Account</h1><${AccountLimits} /><${KeyList} /><${Sessions} />
    ${hasPassword ? html`<${ChangePassword} /><${DeleteAccount} />` : null}`
}

/** Ends all sessions of the account, including this one. API keys stay valid. */
function Sessions() {
  const action = useAction()
  return html`<section class="card stack" aria-labelledby="sessions">
    <h2 id="sessions">Sessions</h2>
    <p class="muted">You stay logged in for a day, in every tab of this browser. API keys are not affected.</p>
    <p><${Confirm}
      action="End all sessions" of="of this account" isRunning=${action.isRunning}
      onYes=${() => action.run(() => logOut(true))} question="Logs you out everywhere, here too."
    /></p>
    ${action.error === null ? null : html`<${Failure} error=${action.error} />`}
  </section>`
}

// The account, its limits, and the requests left in the current minute. The dashboard has a separate quota;
// its state comes from the last response.

/** The server's value for "no limit". */
const UNLIMITED = 2_147_483_647
/** Length of a quota window. */
const WINDOW_MS = 60_000

export function AccountLimits() {
  const result = useRequest(whoAmI, [])
  const left = useLeft()
  return html`<section class="card stack" aria-labelledby="who">
    <h2 id="who">Profile</h2>
    <${Unanswered} result=${result} what="your account" />
    ${result.kind === 'answered' ? html`<${Facts} me=${result.answer} left=${left} />` : null}
  </section>`
}

interface Left {
  readonly limit: number
  readonly requests: number
  readonly atMs: number
}

function Facts({ me, left }: { readonly me: Me; readonly left: Left | null }) {
  const { user, limits } = me
  const { requests_per_minute: limit, websocket_connections: connections } = limits
  return html`<dl class="account-facts">
    <div><dt>Email</dt><dd class="email">${user.email}</dd></div>
    <div><dt>Plan</dt><dd><span class="tag">${user.tier}</span></dd></div>
    <div><dt>Member since</dt><dd><${Time} atMs=${user.created_at * 1_000} style="day" /></dd></div>
    <div><dt>Requests per minute</dt><dd>${limitText(limit)}</dd></div>
    <div><dt>Dashboard requests left this minute</dt><dd>${
      left === null
        ? html`<span class="muted">all</span>`
        : html`<meter min="0" max=${left.limit} low=${left.limit / 5} value=${left.requests} aria-label="Requests left for this dashboard"
            >${left.requests}</meter> <span data-left>${countText(left.requests)}</span>
            <small class="muted"> as of${' '}<${Time} atMs=${left.atMs} style="clock" /></small>`
    }</dd></div>
    <div><dt>Stream connections</dt><dd>${limitText(connections)}</dd></div>
  </dl>`
}

export const limitText = (limit: number): string =>
  limit >= UNLIMITED ? 'no limit' : countText(limit)

/**
 * Quota state of the last response; null after a whole window without a response, since this tab has then
 * used nothing.
 */
function useLeft(): Left | null {
  const [left, setLeft] = useState<Left | null>(null)
  useEffect(() => {
    let stop: () => void = () => undefined
    watchFacts(({ limit, remaining }: AnswerFacts) => {
      if (limit === null || remaining === null) return
      stop()
      setLeft({ limit, requests: remaining, atMs: nowMs() })
      stop = after(WINDOW_MS, () => setLeft(null))
    })
    return () => {
      stop()
      watchFacts(() => undefined)
    }
  }, [])
  return left
}

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

// Forms that require the password: change it (ends all other sessions, keys stay valid) and delete the
// account.

const CURRENT = 'current_password'
const NEXT = 'new_password'

export function ChangePassword() {
  const form = useRef<HTMLFormElement>(null)
  const action = useAction()
  const [isChanged, setChanged] = useState(false)
  const refusal = action.error === null ? null : passwordRefusal(action.error, CURRENT, NEXT)
  useLayoutEffect(() => focusProblem(form.current), [action.error])
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    if (form.current === null) return
    const formData = new FormData(form.current)
    const [current, next] = [String(formData.get(CURRENT) ?? ''), String(formData.get(NEXT) ?? '')]
    setChanged(false)
    action.run(async () => {
      await changePassword(current, next)
      form.current?.reset()
      setChanged(true)
    })
  }
  const fields = refusal?.fields
  const current = { id: 'current-password', problem: fields?.get(CURRENT) ?? null }
  const hint = 'At least 8 characters.'
  const next = { id: 'new-password', hint, problem: fields?.get(NEXT) ?? null }
  return html`<section class="card stack" aria-labelledby="password">
    <h2 id="password">Password</h2>
    <p class="muted">Changing it logs you out everywhere else. API keys are not affected.</p>
    <form class="password-form stack" ref=${form} novalidate onSubmit=${onSubmit}>
      <${Field} ...${current} label="Current password">
        <input ...${described(current)} name=${CURRENT} type="password" autocomplete="current-password" required />
      <//>
      <${Field} ...${next} label="New password">
        <input ...${described(next)} name=${NEXT} type="password" autocomplete="new-password" required />
      <//>
      <${FormProblem} text=${refusal?.form ?? null} />
      ${isChanged ? html`<p role="status">The password is changed.</p>` : null}
      <p><button type="submit" aria-disabled=${action.isRunning}>
        ${action.isRunning ? 'Changing it…' : 'Change password'}
      </button></p>
    </form>
  </section>`
}

export function DeleteAccount() {
  const [isConfirming, setConfirming] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const wasConfirming = useRef(false)
  // A layout effect runs before the browser handles the next key press, so no key is lost.
  useLayoutEffect(() => {
    // Returns the focus to the button.
    if (!isConfirming && wasConfirming.current) button.current?.focus()
    wasConfirming.current = isConfirming
  }, [isConfirming])
  return html`<section class="card stack" aria-labelledby="end">
    <h2 id="end">Delete account</h2>
    <p class="muted">Deletes your keys, webhooks and undelivered events. This cannot be undone.</p>
    ${
      isConfirming
        ? html`<${DeleteForm} close=${() => setConfirming(false)} />`
        : html`<p><button type="button" ref=${button} onClick=${() => setConfirming(true)}>Delete account</button></p>`
    }
  </section>`
}

function DeleteForm({ close }: { readonly close: () => void }) {
  const form = useRef<HTMLFormElement>(null)
  const action = useAction()
  const refusal =
    action.error === null ? null : passwordRefusal(action.error, 'password', 'password')
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), [])
  useLayoutEffect(() => focusProblem(form.current), [action.error])
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    if (form.current === null) return
    const password = String(new FormData(form.current).get('password') ?? '')
    action.run(() => deleteAccount(password))
  }
  const onKeyDown = (event: KeyboardEvent) => event.key === 'Escape' && close()
  const field = { id: 'end-password', problem: refusal?.fields.get('password') ?? null }
  return html`<form class="password-form stack" ref=${form} novalidate onSubmit=${onSubmit} onKeyDown=${onKeyDown}>
    <${Field} ...${field} label="Your password">
      <input ...${described(field)} name="password" type="password" autocomplete="current-password" required />
    <//>
    <${FormProblem} text=${refusal?.form ?? null} />
    <p class="row">
      <button type="button" class="quiet" onClick=${close}>Cancel</button>
      <button type="submit" class="danger" aria-disabled=${action.isRunning}>
        ${action.isRunning ? 'Deleting…' : 'Delete permanently'}
      </button>
    </p>
  </form>`
}
