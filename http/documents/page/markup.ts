// Markup written on the server: a tagged template whose values are texts, escaped wherever they stand, so that nothing of a
// description or an example becomes markup.

/** Markup that may stand in a page as it is. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What may stand in markup; null is nothing. */
export type Part = Markup | string | number | null | readonly Part[]

/** `markup`<p class="${name}">${text}</p>``. */
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

/** A line of a description: what stands in backticks is code. */
export function line(text: string): Markup {
  const parts = text.split('`').map((part, index) => {
    return index % 2 === 1 ? markup`<code>${part}</code>` : markup`${part}`
  })
  return markup`${parts}`
}

/** A description: paragraphs, with an empty line between them. */
export const prose = (text: string): Markup =>
  markup`${text.split(/\n\s*\n/).map((paragraph) => markup`<p>${line(paragraph)}</p>`)}`

/** JSON to read. */
export const sample = (value: unknown): Markup =>
  markup`<pre>${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>`
