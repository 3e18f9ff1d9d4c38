// Runs a user's action and tracks its progress and error. Ignores further calls while an action is running.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api.ts'
import { after, copyText } from '../browser.ts'
import { html, type Shown } from '../html.ts'
import { describeError, problemText, sentence } from './states.ts'

interface Action {
  readonly isRunning: boolean
  /** Error of the last action; null if it succeeded or there was none. */
  readonly error: unknown
  /** Runs `work`, which updates the page itself. Its result is ignored after the component unmounts. */
  readonly run: (work: () => Promise<void>) => void
  readonly clearError: () => void
}

export function useAction(): Action {
  const [state, setState] = useState<{ isRunning: boolean; error: unknown }>(IDLE)
  const isUnmounted = useRef(false)
  const isRunning = useRef(false)
  useEffect(() => {
    isUnmounted.current = false
    return () => {
      isUnmounted.current = true
    }
  }, [])
  const settle = (error: unknown) => {
    isRunning.current = false
    if (!isUnmounted.current) setState({ isRunning: false, error })
  }
  return {
    ...state,
    run(work) {
      if (isRunning.current) return
      isRunning.current = true
      setState({ isRunning: true, error: null })
      work().then(() => settle(null), settle)
    },
    clearError: () => setState((last) => ({ ...last, error: null })),
  }
}

const IDLE = { isRunning: false, error: null }

// Form field with label, hint and error, linked for screen readers.

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

// User-facing messages for rejected forms, by field or for the whole form.

export interface Refusal {
  /** Message for the whole form; null: all messages belong to fields. */
  readonly form: string | null
  /** Messages by field name. */
  readonly fields: ReadonlyMap<string, string>
  /** Seconds until a retry is useful; 0: immediately. */
  readonly waitSeconds: number
}

export type Entry = 'log-in' | 'sign-up'

/** Messages of a rejected login or signup. */
export function entryRefusal(error: unknown, entry: Entry): Refusal {
  if (!(error instanceof ApiError)) return { ...NOTHING, form: String(error) }
  if (error.status === 401) return { ...NOTHING, form: 'The email or the password is wrong.' }
  if (error.status === 429) return waiting(error)
  if (error.status === 400 && entry === 'sign-up') {
    return { ...NOTHING, form: `${sentence(error.message)} Log in, or use another email.` }
  }
  return withLength(refusalOf(error, ['email', 'password']), error, 'password')
}

/** Messages of a form with the current password in field `current` and possibly a new one in `next`. */
export function passwordRefusal(error: unknown, current: string, next: string): Refusal {
  if (!(error instanceof ApiError)) return { ...NOTHING, form: String(error) }
  if (error.status === 401) {
    return { ...NOTHING, fields: new Map([[current, 'The password is wrong.']]) }
  }
  if (error.status === 429) return waiting(error)
  return withLength(refusalOf(error, [current, next]), error, next)
}

function waiting(error: ApiError): Refusal {
  const waitSeconds = error.retryAfterSeconds ?? 1
  return { ...NOTHING, form: `${sentence(error.message)} Wait ${waitSeconds} s.`, waitSeconds }
}

/** Replaces a message about the password's length. */
function withLength(refusal: Refusal, error: ApiError, name: string): Refusal {
  const message = error.fields.get(name)
  if (message === undefined) return refusal
  const text = /at most/.test(message)
    ? 'This password is too long: it may have 1024 bytes.'
    : 'This password is too short: it needs 8 characters or more.'
  return { ...refusal, fields: new Map([...refusal.fields, [name, text]]) }
}

/** Messages of a form with these fields. Errors of other fields are shown for the whole form. */
export function refusalOf(error: unknown, names: readonly string[]): Refusal {
  if (!(error instanceof ApiError) || error.fields.size === 0) {
    const { title, detail } = describeError(error)
    return { ...NOTHING, form: `${title} ${sentence(detail)}` }
  }
  const ofFields = [...error.fields].filter(([name]) => names.includes(name))
  const others = [...error.fields].filter(([name]) => !names.includes(name))
  return {
    ...NOTHING,
    form: others.length === 0 ? null : others.map(([, message]) => problemText(message)).join(' '),
    fields: new Map(ofFields.map(([name, message]) => [name, problemText(message)])),
  }
}

const NOTHING: Refusal = { form: null, fields: new Map(), waitSeconds: 0 }

// Button for an irreversible action, with an inline confirmation. Escape and "Cancel" close it without
// effect.

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

// Shows a secret once, with a copy button and, for a key, an example command. The secret is not stored, so it
// cannot be shown again.

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
