// Placeholder until the page is written.

import { html } from '../html.ts'
import type { Ending } from '../session.ts'

export function WelcomePage({ ending }: { readonly ending: Ending }) {
  return html`<h1>${ending}</h1>`
}
