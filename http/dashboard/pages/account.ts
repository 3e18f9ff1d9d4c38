// The account: who it is, what it may ask for, the keys with which programs ask in its name, its password, its end.
// Not for: the forms of who is not logged in (welcome.ts), webhooks (webhooks.ts).

import { html } from '../html.ts'
import { AccountEnd } from '../parts/account/end.ts'
import { KeyList } from '../parts/account/key-list.ts'
import { AccountLimits } from '../parts/account/limits.ts'
import { AccountPassword } from '../parts/account/password.ts'

export function AccountPage() {
  return html`<h1>Account</h1><${AccountLimits} /><${KeyList} />
    <${AccountPassword} /><${AccountEnd} />`
}
