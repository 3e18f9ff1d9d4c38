// For who is not logged in: what this is, why they are out if they were in, and the form of the account. Whoever logs
// in sees the page that the address names. Upholds DASH24, DASH25.

import { html } from '../html.ts'
import { AccountEntry } from '../parts/account/entry.ts'
import type { Ending } from '../session.ts'

const WORDS: Readonly<Record<Ending, string | null>> = {
  never: null,
  left: 'You have logged out. This tab no longer holds anything of your account.',
  deleted: 'Your account is deleted, with its keys and its webhooks.',
  expired: 'Your session is over: log in again, and the page you were on comes back.',
}

export function WelcomePage({ ending }: { readonly ending: Ending }) {
  const words = WORDS[ending]
  return html`<div class="welcome">
    <div class="stack">
      <h1>Twinbook</h1>
      <p>
        One live interface over two prediction-market venues: every market’s order book, price and trades, in one form.
        It finds the questions that both venues ask, and shows how far their prices are apart.
      </p>
      <p class="muted">
        An account is free and needs an e-mail and a password. It gives you this dashboard and keys for${' '}
        the <a href="docs">API</a>.
      </p>
    </div>
    <div class="stack">
      ${words === null ? null : html`<p class="notice" role="status">${words}</p>`}
      <${AccountEntry} />
    </div>
  </div>`
}
