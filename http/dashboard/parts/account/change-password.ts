// The form that changes the password: it ends every other session, and keys go on. Not for: a forgotten password.
// Upholds DASH20, DASH21, DASH24, DASH72.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { html } from '../../html.ts'
import { changePassword } from '../../session.ts'
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
    const said = new FormData(form.current)
    const [current, next] = [String(said.get(CURRENT) ?? ''), String(said.get(NEXT) ?? '')]
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
