// The page's markup as tagged templates: `html` makes the nodes of Preact, so that every text in them, a venue's too, is
// a text and never markup.

import htm from 'htm'
import { h, type VNode } from 'preact'

/** What a part shows: nodes, a text, or nothing. */
export type Shown = VNode | readonly Shown[] | string | number | boolean | null | undefined

/** Markup with values in it: `html`<p class="note">${text}</p>``. */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode | VNode[] =
  htm.bind(h)
