// Forms that require the password: change it (ends all other sessions, keys stay valid) and delete the
// account.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { html } from '../../html.ts'
import { changePassword, deleteAccount } from '../../session.ts'
import { useAction } from '../forms/action.ts'
import { described, Field, FormProblem, focusProblem } from '../forms/field.ts'
import { passwordRefusal } from '../forms/refusal.ts'

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
