// The `html` template tag creates Preact nodes. It never parses values as markup.

import htm from 'htm'
import { h, type VNode } from 'preact'

export type Shown = VNode | readonly Shown[] | string | number | boolean | null | undefined

export const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode | VNode[] =
  htm.bind(h)
