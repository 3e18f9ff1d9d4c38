// Shows a secret once, with a copy button and, for a key, an example command. The secret is not stored, so it
// cannot be shown again.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { after, copyText } from '../../browser.ts'
import { html, type Shown } from '../../html.ts'

interface SecretOnceProps {
  readonly title: string
  /** Noun for button names, such as "key". */
  readonly what: string
  readonly secret: string
  /** Shell command that uses the secret; null: none. */
  readonly command: string | null
  readonly onDone: () => void
  readonly children?: Shown
}

export function SecretOnce({ title, what, secret, command, onDone, children }: SecretOnceProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  // The section appears above the form, outside of the viewer's current focus.
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
    // Browsers allow clipboard access only in secure contexts.
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
