// A field of a form: its label, what it is for, and, when the server or we do not take what is in it, the reason
// beside it, which a screen reader reads with the field.

import { html, type Shown } from '../../html.ts'

interface FieldProps {
  /** One in the page. */
  readonly id: string
  readonly label: string
  /** What is expected; null: the label says it. */
  readonly hint?: string | null
  /** Null: nothing is wrong with it. */
  readonly problem: string | null
  readonly children?: Shown
}

/** The input within gets `described(…)` of the same field. */
export function Field({ id, label, hint = null, problem, children }: FieldProps) {
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children}
    ${hint === null ? null : html`<small class="muted" id=${`${id}-hint`}>${hint}</small>`}
    ${problem === null ? null : html`<p class="error" id=${`${id}-error`}>${problem}</p>`}
  </div>`
}

/** What is wrong with a form as a whole; null: nothing. */
export const FormProblem = ({ text }: { readonly text: string | null }) =>
  text === null ? null : html`<p class="error" role="alert">${text}</p>`

/** What ties an input to its field. */
export function described({ id, hint = null, problem }: Omit<FieldProps, 'label' | 'children'>) {
  const texts = [hint === null ? '' : `${id}-hint`, problem === null ? '' : `${id}-error`]
  return {
    id,
    'aria-describedby': texts.filter((text) => text !== '').join(' ') || null,
    'aria-invalid': problem === null ? null : 'true',
  }
}

/** What stands in the input that an event is of. */
export function typed({ currentTarget: input }: Event): string {
  const isInput =
    input instanceof HTMLInputElement ||
    input instanceof HTMLTextAreaElement ||
    input instanceof HTMLSelectElement
  return isInput ? input.value : ''
}

/** Moves the focus to the first field that is not accepted. */
export function focusProblem(form: HTMLFormElement | null): void {
  const field = form?.querySelector('[aria-invalid="true"]')
  if (field instanceof HTMLElement) field.focus()
}
