// A button for what cannot be undone: it asks back in its own place, and does nothing until that is answered. Escape
// and "Cancel" leave everything as it is.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { html } from '../../html.ts'

interface ConfirmProps {
  /** On the button. */
  readonly action: string
  /** The button's name for a screen reader, where the action alone does not say of what. */
  readonly of: string
  readonly question: string
  readonly isRunning: boolean
  readonly onYes: () => void
}

export function Confirm({ action, of, question, isRunning, onYes }: ConfirmProps) {
  const [isConfirming, setConfirming] = useState(false)
  const first = useRef<HTMLButtonElement>(null)
  const wasConfirming = useRef(false)
  // In the same step as the drawing: a key pressed in between would go to the page and answer nothing.
  useLayoutEffect(() => {
    // The keyboard's focus goes on where the button was.
    if (isConfirming || wasConfirming.current) first.current?.focus()
    wasConfirming.current = isConfirming
  }, [isConfirming])
  if (!isConfirming) {
    return html`<button
      key="ask" ref=${first} type="button" aria-label=${`${action} ${of}`}
      onClick=${() => setConfirming(true)}
    >${action}</button>`
  }
  const close = () => setConfirming(false)
  const onKeyDown = (event: KeyboardEvent) => event.key === 'Escape' && close()
  return html`<span class="confirm row" role="group" aria-label=${question} onKeyDown=${onKeyDown}>
    <span>${question}</span>
    <button key="keep" ref=${first} type="button" class="quiet" onClick=${close}>Cancel</button>
    <button type="button" class="danger" aria-disabled=${isRunning} onClick=${onYes}>${action}</button>
  </span>`
}
