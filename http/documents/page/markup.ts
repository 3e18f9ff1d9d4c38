// HTML templates for the server. The tag escapes all values.

/** HTML that templates insert without escaping. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Null renders nothing. */
export type Part = Markup | string | number | null | readonly Part[]

/** Tag of a template, as in `markup`<p class="${name}">${text}</p>``. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = strings[0] ?? ''
  parts.forEach((part, index) => {
    text += written(part) + (strings[index + 1] ?? '')
  })
  return new Markup(text)
}

function written(part: Part): string {
  if (part === null) return ''
  if (part instanceof Markup) return part.text
  if (typeof part === 'object') return part.map(written).join('')
  return escaped(String(part))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign)

/** Renders one line of a description. Text in backticks becomes code. */
export function line(text: string): Markup {
  const parts = text.split('`').map((part, index) => {
    return index % 2 === 1 ? markup`<code>${part}</code>` : markup`${part}`
  })
  return markup`${parts}`
}

/** Renders a description. Empty lines separate paragraphs. */
export const prose = (text: string): Markup =>
  markup`${text.split(/\n\s*\n/).map((paragraph) => markup`<p>${line(paragraph)}</p>`)}`

export const sample = (value: unknown): Markup =>
  markup`<pre>${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>`
