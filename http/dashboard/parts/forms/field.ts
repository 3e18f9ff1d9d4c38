// Form field with label, hint and error, linked for screen readers.

import { html, type Shown } from '../../html.ts'

interface FieldProps {
  /** Unique in the page. */
  readonly id: string
  readonly label: string
  /** Expected input; null: the label suffices. */
  readonly hint?: string | null
  /** Error message; null: none. */
  readonly problem: string | null
  readonly children?: Shown
}

/** The input inside must spread `described(…)` of the same field. */
export function Field({ id, label, hint = null, problem, children }: FieldProps) {
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children}
    ${hint === null ? null : html`<small class="muted" id=${`${id}-hint`}>${hint}</small>`}
    ${problem === null ? null : html`<p class="error" id=${`${id}-error`}>${problem}</p>`}
  </div>`
}

/** Error of the whole form; null: none. */
export const FormProblem = ({ text }: { readonly text: string | null }) =>
  text === null ? null : html`<p class="error" role="alert">${text}</p>`

/** Attributes that link an input to its hint and error. */
export function described({ id, hint = null, problem }: Omit<FieldProps, 'label' | 'children'>) {
  const texts = [hint === null ? '' : `${id}-hint`, problem === null ? '' : `${id}-error`]
  return {
    id,
    'aria-describedby': texts.filter((text) => text !== '').join(' ') || null,
    'aria-invalid': problem === null ? null : 'true',
  }
}

/** Current value of an event's input. */
export function typed({ currentTarget: input }: Event): string {
  const isInput =
    input instanceof HTMLInputElement ||
    input instanceof HTMLTextAreaElement ||
    input instanceof HTMLSelectElement
  return isInput ? input.value : ''
}

/** Moves the focus to the first invalid field. */
export function focusProblem(form: HTMLFormElement | null): void {
  const field = form?.querySelector('[aria-invalid="true"]')
  if (field instanceof HTMLElement) field.focus()
}
