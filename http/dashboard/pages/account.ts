import { html } from '../html.ts'
import { KeyList } from '../parts/account/api-keys.ts'
import { AccountLimits } from '../parts/account/limits.ts'
import { ChangePassword, DeleteAccount } from '../parts/account/password.ts'
import { useAction } from '../parts/forms/action.ts'
import { Confirm } from '../parts/forms/confirm.ts'
import { Failure } from '../parts/states.ts'
import { logOut, session } from '../session.ts'
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
