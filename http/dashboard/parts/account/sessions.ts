// The way out everywhere at once: every log-in of the account ends, in this browser too; keys go on. Upholds DASH94.

import { html } from '../../html.ts'
import { logOut } from '../../session.ts'
import { useAction } from '../forms/action.ts'
import { Confirm } from '../forms/confirm.ts'
import { Failure } from '../states.ts'

export function Sessions() {
  const action = useAction()
  return html`<section class="card stack" aria-labelledby="sessions">
    <h2 id="sessions">Sessions</h2>
    <p class="muted">You stay logged in for a day, in all tabs of a browser. Keys are not sessions: they go on.</p>
    <p><${Confirm}
      action="End all sessions" of="of this account" isRunning=${action.isRunning}
      onYes=${() => action.run(() => logOut(true))} question="Every log-in of this account ends, this one too."
    /></p>
    ${action.error === null ? null : html`<${Failure} error=${action.error} />`}
  </section>`
}
