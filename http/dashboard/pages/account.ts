// Account page. The dashboard has its own rate limit, so "requests left" is read from the last response.

import { useEffect, useState } from 'preact/hooks'
import { request, watchFacts } from '../api.ts'
import { after, nowMs, type StopTimer, serverBase } from '../browser.ts'
import { countText } from '../format.ts'
import { html } from '../html.ts'
import { Time } from '../parts/figures.ts'
import {
  ConfirmAction,
  described,
  Field,
  FormProblem,
  passwordRefusal,
  refusalOf,
  SecretOnce,
  useForm,
  useQuestion,
} from '../parts/forms.ts'
import { Unanswered, useRequest } from '../parts/requests.ts'
import { Empty } from '../parts/states.ts'
import { table } from '../parts/tables.ts'
import type { ApiKey, ApiKeys, CreatedKey, Me } from '../records.ts'
import { changePassword, deleteAccount, logOut, session, whoAmI } from '../session.ts'
import { useSignal } from '../signal.ts'

export function AccountPage() {
  const who = useSignal(session)
  // The local account has no password, so its password form and deletion form are hidden.
  const hasPassword = who.kind === 'in' && who.user.has_password
  return html`<h1>Account</h1><${AccountLimits} /><${KeyList} /><${Sessions} />
    ${hasPassword ? html`<${ChangePassword} /><${DeleteAccount} />` : null}`
}

/** Ends all sessions of the account, including the current session. API keys stay valid. */
function Sessions() {
  return html`<section class="card stack" aria-labelledby="sessions">
    <h2 id="sessions">Sessions</h2>
    <p class="muted">You stay logged in for a day, in every tab of this browser. API keys are not affected.</p>
    <${ConfirmAction}
      action="End all sessions" of="of this account" work=${() => logOut(true)}
      question="Ends every session, including this one."
    />
  </section>`
}

/** The API's limit value for "no limit". */
const UNLIMITED = 2_147_483_647
const WINDOW_MS = 60_000

function AccountLimits() {
  const result = useRequest(whoAmI, [])
  const left = useLeft()
  return html`<section class="card stack" aria-labelledby="who">
    <h2 id="who">Profile</h2>
    <${Unanswered} result=${result} what="your account" />
    ${result.answer === null ? null : facts(result.answer, left)}
  </section>`
}

interface Left {
  readonly limit: number
  readonly requests: number
  readonly atMs: number
}

function facts({ user, limits }: Me, left: Left | null) {
  const { requests_per_minute: limit, websocket_connections: connections } = limits
  return html`<dl class="account-facts">
    <div><dt>Email</dt><dd class="email">${user.email}</dd></div>
    <div><dt>Plan</dt><dd><span class="tag">${user.tier}</span></dd></div>
    <div><dt>Member since</dt><dd><${Time} seconds=${user.created_at} style="day" /></dd></div>
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

function useLeft(): Left | null {
  const [left, setLeft] = useState<Left | null>(null)
  useEffect(() => {
    let stop: StopTimer = () => undefined
    watchFacts(({ limit, remaining }) => {
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

function KeyList() {
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
      ${result.answer === null ? null : keyTable(result.answer.keys, onRevoked)}
    </section>
  `
}

export const curlLine = (key: string, base: string): string =>
  `curl -H 'X-API-Key: ${key}' '${base}v1/markets?limit=3'`

function KeyForm({ onMade }: { readonly onMade: (key: CreatedKey) => void }) {
  const { attributes, isRunning, refusal } = useForm(
    (error) => refusalOf(error, ['label']),
    (data) => {
      const label = String(data.get('label') ?? '').trim()
      const scopes = data.has('webhooks') ? ['read', 'webhooks'] : ['read']
      if (label === '') return new Map([['label', 'Enter a name.']])
      return async () =>
        onMade(await request<CreatedKey>('/v1/keys', { method: 'POST', body: { label, scopes } }))
    },
  )
  const hint = 'What will use it, such as “trading bot”.'
  const field = { id: 'key-label', hint, problem: refusal.fields.get('label') ?? null }
  return html`<form class="key-form" ...${attributes}>
    <${Field} ...${field} label="Key name">
      <span class="row joined">
        <input ...${described(field)} name="label" defaultValue="My key" maxlength=${LABEL_CHARACTERS_MAX} autocomplete="off" required />
        <button type="submit" class="primary" aria-disabled=${isRunning}>${isRunning ? 'Creating…' : 'Create key'}</button>
      </span>
    <//>
    <label class="row"><input type="checkbox" name="webhooks" /> Allow it to manage webhooks</label>
    <${FormProblem} text=${refusal.form} />
  </form>`
}

function keyTable(keys: readonly ApiKey[], onRevoked: (key: ApiKey) => void) {
  if (keys.length === 0) return html`<${Empty}>No keys yet. Create one above.<//>`
  return table({
    ...{ list: 'API keys', kind: 'keys stacked', region: 'Table of your keys', rows: keys },
    keyOf: ({ id }) => id,
    marks: ({ id }) => ({ 'data-key': id }),
    columns: [
      ['Name', 'subject label', ({ label }) => label],
      [
        'Permissions',
        '',
        ({ scopes }) => (scopes.includes('webhooks') ? 'Read, manage webhooks' : 'Read'),
      ],
      ['Prefix', '', ({ prefix }) => html`<code>${prefix}…</code>`],
      ['Created', '', ({ created_at: at }) => html`<${Time} seconds=${at} style="day" />`],
      [
        'Last used',
        '',
        ({ last_used_at: at }) =>
          at === null ? html`<span class="muted">never</span>` : html`<${Time} seconds=${at} />`,
      ],
      ['Revoke', 'actions', (key) => html`<${Revoke} row=${key} onRevoked=${onRevoked} />`],
    ],
  })
}

function Revoke({
  row,
  onRevoked,
}: {
  readonly row: ApiKey
  readonly onRevoked: (key: ApiKey) => void
}) {
  const revoke = async () => {
    await request(`/v1/keys/${encodeURIComponent(row.id)}`, { method: 'DELETE' })
    onRevoked(row)
  }
  return html`<${ConfirmAction}
      action="Revoke" of=${`the key ${row.label}`} work=${revoke}
      question="Programs that use it stop working at once."
    />`
}

const CURRENT = 'current_password'
const NEXT = 'new_password'

/** Changing the password ends all other sessions. */
function ChangePassword() {
  const [isChanged, setChanged] = useState(false)
  const { attributes, isRunning, refusal } = useForm(
    (error) => passwordRefusal(error, CURRENT, NEXT),
    (data) => async () => {
      setChanged(false)
      await changePassword(String(data.get(CURRENT) ?? ''), String(data.get(NEXT) ?? ''))
      setChanged(true)
    },
  )
  const { fields, form } = refusal
  const current = { id: 'current-password', problem: fields.get(CURRENT) ?? null }
  const hint = 'At least 8 characters.'
  const next = { id: 'new-password', hint, problem: fields.get(NEXT) ?? null }
  return html`<section class="card stack" aria-labelledby="password">
    <h2 id="password">Password</h2>
    <p class="muted">Changing it ends all other sessions. API keys are not affected.</p>
    <form class="password-form stack" ...${attributes}>
      <${Field} ...${current} label="Current password">
        <input ...${described(current)} name=${CURRENT} type="password" spellcheck=${false} autocomplete="current-password" required />
      <//>
      <${Field} ...${next} label="New password">
        <input ...${described(next)} name=${NEXT} type="password" spellcheck=${false} autocomplete="new-password" required />
      <//>
      <${FormProblem} text=${form} />
      ${isChanged ? html`<p role="status">The password is changed.</p>` : null}
      <p><button type="submit" aria-disabled=${isRunning}>${isRunning ? 'Changing it…' : 'Change password'}</button></p>
    </form>
  </section>`
}

function DeleteAccount() {
  const question = useQuestion()
  const { isOpen, first, open } = question
  return html`<section class="card stack" aria-labelledby="end">
    <h2 id="end">Delete account</h2>
    <p class="muted">Deletes your keys, webhooks and undelivered events. This cannot be undone.</p>
    ${
      isOpen
        ? html`<${DeleteForm} ...${question} />`
        : html`<p><button type="button" ref=${first} onClick=${open}>Delete account</button></p>`
    }
  </section>`
}

function DeleteForm({ first, close, onKeyDown }: ReturnType<typeof useQuestion>) {
  const { attributes, isRunning, refusal } = useForm(
    (error) => passwordRefusal(error, 'password', 'password'),
    (data) => () => deleteAccount(String(data.get('password') ?? '')),
  )
  const field = { id: 'end-password', problem: refusal.fields.get('password') ?? null }
  return html`<form class="password-form stack" ...${attributes} onKeyDown=${onKeyDown}>
    <${Field} ...${field} label="Your password">
      <input ...${described(field)} ref=${first} name="password" type="password" spellcheck=${false} autocomplete="current-password" required />
    <//>
    <${FormProblem} text=${refusal.form} />
    <p class="row">
      <button type="button" class="quiet" onClick=${close}>Cancel</button>
      <button type="submit" class="danger" aria-disabled=${isRunning}>${isRunning ? 'Deleting…' : 'Delete permanently'}</button>
    </p>
  </form>`
}
