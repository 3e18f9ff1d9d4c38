// A secret that is shown this once: a key or a webhook's secret, with a button that copies it and, for a key, a line
// to try it with. It is kept nowhere: once the viewer leaves the page it cannot be shown again.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { after, copyText } from '../../browser.ts'
import { html, type Shown } from '../../html.ts'

interface SecretOnceProps {
  readonly title: string
  /** What it is, for the names of buttons: "key". */
  readonly what: string
  readonly secret: string
  /** A shell line that uses it; null: none. */
  readonly command: string | null
  readonly onDone: () => void
  readonly children?: Shown
}

export function SecretOnce({ title, what, secret, command, onDone, children }: SecretOnceProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  // It appears above the form, where the viewer does not look yet.
  useLayoutEffect(() => heading.current?.focus(), [secret])
  return html`<section class="card once stack" aria-labelledby="once">
    <h2 id="once" ref=${heading} tabindex="-1">${title}</h2>
    <p>Copy it now: it is shown only once.</p>
    <${Copyable} text=${secret} what=${what} />
    ${command === null ? null : html`<p>Try it:</p><${Copyable} text=${command} what="command" />`}
    ${children}
    <p><button type="button" class="quiet" onClick=${onDone}>Done</button></p>
  </section>`
}

type Copying = 'not yet' | 'copied' | 'by hand'

const COPIED_MS = 3_000

function Copyable({ text, what }: { readonly text: string; readonly what: string }) {
  const shown = useRef<HTMLElement>(null)
  const [copying, setCopying] = useState<Copying>('not yet')
  useEffect(() => {
    if (copying !== 'copied') return undefined
    return after(COPIED_MS, () => setCopying('not yet'))
  }, [copying])
  const copy = async () => {
    if (await copyText(text)) return setCopying('copied')
    // A browser gives its clipboard to secure pages alone.
    if (shown.current !== null) getSelection()?.selectAllChildren(shown.current)
    setCopying('by hand')
  }
  return html`<div class="copyable row">
    <code ref=${shown} tabindex="0" role="textbox" aria-readonly="true" aria-label=${`The ${what}`} data-once=${what}
    >${text}</code>
    <button type="button" class="primary" onClick=${copy}>
      ${copying === 'copied' ? 'Copied' : `Copy the ${what}`}
    </button>
    <span class="muted" role="status">${STATUS_TEXTS[copying]}</span>
  </div>`
}

const STATUS_TEXTS: Readonly<Record<Copying, string>> = {
  'not yet': '',
  copied: 'It is in your clipboard.',
  'by hand': 'This browser lets no page copy: it is selected, copy it by hand.',
}
