// Placeholder until the page is written.

import { html } from '../html.ts'
import type { PageProps } from './page-props.ts'

export function WebhooksPage({ place }: PageProps) {
  return html`<h1>${place.page}</h1>`
}
