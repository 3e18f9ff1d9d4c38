// Button for an irreversible action, with an inline confirmation. Escape and "Cancel" close it without
// effect.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { html } from '../../html.ts'

interface ConfirmProps {
  /** Text of the button. */
  readonly action: string
  /** Completes the button's accessible name: `${action} ${of}`. */
  readonly of: string
  readonly question: string
  readonly isRunning: boolean
  readonly onYes: () => void
}

export function Confirm({ action, of, question, isRunning, onYes }: ConfirmProps) {
  const [isConfirming, setConfirming] = useState(false)
  const first = useRef<HTMLButtonElement>(null)
  const wasConfirming = useRef(false)
  // A layout effect runs before the browser handles the next key press, so no key is lost.
  useLayoutEffect(() => {
    // Moves the focus to "Cancel", and back to the button afterwards.
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
