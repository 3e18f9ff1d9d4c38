// The account: its e-mail, what it may ask for, the keys with which programs ask in its name, its password, its end.
// Not for: the forms that log in and sign up (log-in-or-sign-up.ts), webhooks (webhooks.ts).

import { html } from '../html.ts'
import { KeyList } from '../parts/account/api-keys.ts'
import { ChangePassword } from '../parts/account/change-password.ts'
import { DeleteAccount } from '../parts/account/delete-account.ts'
import { AccountLimits } from '../parts/account/limits.ts'
import { Sessions } from '../parts/account/sessions.ts'
import { session } from '../session.ts'
import { useSignal } from '../signal.ts'

export function AccountPage() {
  const who = useSignal(session)
  // To the local account leads no password that could be changed, or asked for before its end.
  const hasPassword = who.kind === 'in' && who.user.has_password
  return html`<h1>Account</h1><${AccountLimits} /><${KeyList} /><${Sessions} />
    ${hasPassword ? html`<${ChangePassword} /><${DeleteAccount} />` : null}`
}
