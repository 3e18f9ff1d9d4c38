import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api.ts'
import { after, copyText } from '../browser.ts'
import { html, type Shown } from '../html.ts'
import { describeError, Failure, problemText, sentence } from './states.ts'

interface Action {
  readonly isRunning: boolean
  /** Null before the first action and after a success. */
  readonly error: unknown
  /** Runs `work`, which updates the page itself. Ignores errors after the component unmounts. */
  readonly run: (work: () => Promise<void>) => void
}

/** Runs one action at a time. Ignores calls during an action. */
export function useAction(): Action {
  const idle: Pick<Action, 'isRunning' | 'error'> = { isRunning: false, error: null }
  const [state, setState] = useState(idle)
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
  }
}

export type Problems = ReadonlyMap<string, string>
export const NO_PROBLEMS: Problems = new Map()

/**
 * A form of uncontrolled fields, cleared after a success. `read` returns the action to run, messages by field for
 * invalid input, or null to ignore the submit. `describe` returns the messages for a failed action.
 */
export function useForm(
  describe: (error: unknown) => Refusal,
  read: (data: FormData, submitter: HTMLElement | null) => (() => Promise<void>) | Problems | null,
) {
  const form = useRef<HTMLFormElement>(null)
  const { isRunning, error, run } = useAction()
  const [missing, setMissing] = useState(NO_PROBLEMS)
  const rejected = error === null ? NOTHING : describe(error)
  useLayoutEffect(() => focusProblem(form.current), [missing, error])
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    if (form.current === null) return
    const work = read(new FormData(form.current), event.submitter)
    if (work === null) return
    setMissing(typeof work === 'function' ? NO_PROBLEMS : work)
    if (typeof work !== 'function') return
    run(async () => {
      await work()
      form.current?.reset()
    })
  }
  const isMissing = missing.size > 0
  const refusal = isMissing ? { ...NOTHING, fields: missing } : rejected
  return {
    attributes: { ref: form, novalidate: true, onSubmit },
    isRunning,
    error,
    isMissing,
    refusal,
  }
}

interface FieldProps {
  readonly id: string
  readonly label: string
  /** Describes the expected input; null if the label suffices. */
  readonly hint?: string | null
  readonly problem: string | null
  readonly children?: Shown
}

/** The input in `children` must spread `described(…)` of the same field. */
export function Field({ id, label, hint = null, problem, children }: FieldProps) {
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children}
    ${hint === null ? null : html`<small class="muted" id=${`${id}-hint`}>${hint}</small>`}
    ${problem === null ? null : html`<p class="error" id=${`${id}-error`}>${problem}</p>`}
  </div>`
}

export const FormProblem = ({ text }: { readonly text: string | null }) =>
  text === null ? null : html`<p class="error" role="alert">${text}</p>`

export function described({ id, hint = null, problem }: Omit<FieldProps, 'label' | 'children'>) {
  const texts = [hint === null ? '' : `${id}-hint`, problem === null ? '' : `${id}-error`]
  return {
    id,
    'aria-describedby': texts.filter((text) => text !== '').join(' ') || null,
    'aria-invalid': problem === null ? null : 'true',
  }
}

export function typed({ currentTarget: input }: Event): string {
  const isInput =
    input instanceof HTMLInputElement ||
    input instanceof HTMLTextAreaElement ||
    input instanceof HTMLSelectElement
  return isInput ? input.value : ''
}

export function focusProblem(form: HTMLFormElement | null): void {
  const field = form?.querySelector('[aria-invalid="true"]')
  if (field instanceof HTMLElement) field.focus()
}

export interface Refusal {
  readonly form: string | null
  readonly fields: Problems
  /** Seconds until the server accepts the next attempt; 0: immediately. */
  readonly waitSeconds: number
}

const NOTHING: Refusal = { form: null, fields: NO_PROBLEMS, waitSeconds: 0 }

export type Entry = 'log-in' | 'sign-up'

export function entryRefusal(error: unknown, entry: Entry): Refusal {
  if (error instanceof ApiError && error.status === 400 && entry === 'sign-up') {
    return { ...NOTHING, form: `${sentence(error.message)} Log in, or use another email.` }
  }
  const wrong = { form: 'The email or the password is wrong.' }
  return secretRefusal(error, ['email', 'password'], wrong)
}

/** `current` and `next` are the names of the password fields. */
export const passwordRefusal = (error: unknown, current: string, next: string): Refusal =>
  secretRefusal(error, [current, next], { fields: new Map([[current, 'The password is wrong.']]) })

/** `names[1]` is the field of a new password. `wrong` is the message for a wrong current password. */
function secretRefusal(
  error: unknown,
  names: readonly [string, string],
  wrong: Partial<Refusal>,
): Refusal {
  if (!(error instanceof ApiError)) return { ...NOTHING, form: String(error) }
  if (error.status === 401) return { ...NOTHING, ...wrong }
  if (error.status === 429) {
    const waitSeconds = error.retryAfterSeconds ?? 1
    return { ...NOTHING, form: `${sentence(error.message)} Wait ${waitSeconds} s.`, waitSeconds }
  }
  const refusal = refusalOf(error, names)
  const message = error.fields.get(names[1])
  if (message === undefined) return refusal
  const text = /at most/.test(message)
    ? 'This password is too long: it may have 1024 bytes.'
    : 'This password is too short: it needs 8 characters or more.'
  return { ...refusal, fields: new Map([...refusal.fields, [names[1], text]]) }
}

/** Errors of fields outside `names` become messages of the whole form. */
export function refusalOf(error: unknown, names: readonly string[]): Refusal {
  if (!(error instanceof ApiError) || error.fields.size === 0) {
    const { title, detail } = describeError(error)
    return { ...NOTHING, form: `${title} ${sentence(detail)}` }
  }
  const texts = [...error.fields].map(([name, message]) => [name, problemText(message)] as const)
  const others = texts.filter(([name]) => !names.includes(name)).map(([, text]) => text)
  return {
    ...NOTHING,
    form: others.length === 0 ? null : others.join(' '),
    fields: new Map(texts.filter(([name]) => names.includes(name))),
  }
}

/**
 * State of a question that replaces its button. Opening and closing moves the focus to the element of `first`. Escape
 * closes the question.
 */
export function useQuestion() {
  const [isOpen, setOpen] = useState(false)
  const first = useRef<HTMLElement>(null)
  const wasOpen = useRef(false)
  // A layout effect moves the focus before the browser handles the next key press.
  useLayoutEffect(() => {
    if (isOpen || wasOpen.current) first.current?.focus()
    wasOpen.current = isOpen
  }, [isOpen])
  const close = () => setOpen(false)
  const onKeyDown = (event: KeyboardEvent) => event.key === 'Escape' && close()
  return { isOpen, first, open: () => setOpen(true), close, onKeyDown }
}

interface ConfirmProps {
  readonly action: string
  /** Object of the action. The button's accessible name is `${action} ${of}`. */
  readonly of: string
  readonly question: string
  readonly isRunning: boolean
  readonly onYes: () => void
}

/** Button for an irreversible action. Cancel and Escape close the inline confirmation. */
export function Confirm({ action, of, question, isRunning, onYes }: ConfirmProps) {
  const { isOpen, first, open, close, onKeyDown } = useQuestion()
  if (!isOpen) {
    return html`<button key="ask" ref=${first} type="button" aria-label=${`${action} ${of}`} onClick=${open}>${action}</button>`
  }
  return html`<span class="confirm row" role="group" aria-label=${question} onKeyDown=${onKeyDown}>
    <span>${question}</span>
    <button key="keep" ref=${first} type="button" class="quiet" onClick=${close}>Cancel</button>
    <button type="button" class="danger" aria-disabled=${isRunning} onClick=${onYes}>${action}</button>
  </span>`
}

/** Like `Confirm`. Runs `work` on confirmation and shows its error. */
export function ConfirmAction({ work, ...props }: ConfirmActionProps) {
  const { isRunning, error, run } = useAction()
  return html`<div><${Confirm} ...${props} isRunning=${isRunning} onYes=${() => run(work)} /></div>
    <${Failure} error=${error} />`
}

interface ConfirmActionProps extends Omit<ConfirmProps, 'isRunning' | 'onYes'> {
  readonly work: () => Promise<void>
}

interface SecretOnceProps {
  readonly title: string
  readonly what: string
  readonly secret: string
  readonly command?: string
  readonly onDone: () => void
  readonly children?: Shown
}

/** The dashboard does not store the secret, so it cannot be shown again. */
export function SecretOnce({ title, what, secret, command, onDone, children }: SecretOnceProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  // The section appears above the form, so the focus moves to its heading.
  useLayoutEffect(() => heading.current?.focus(), [secret])
  return html`<section class="card once stack" aria-labelledby="once">
    <h2 id="once" ref=${heading} tabindex="-1">${title}</h2>
    <p>Copy it now: it is shown only once.</p>
    <${Copyable} text=${secret} what=${what} />
    ${command === undefined ? null : html`<p>Try it:</p><${Copyable} text=${command} what="command" />`}
    ${children}
    <p><button type="button" class="quiet" onClick=${onDone}>Done</button></p>
  </section>`
}

const COPIED_MS = 3_000
const COPY_TEXTS = {
  'not yet': '',
  copied: 'It is in your clipboard.',
  denied: 'The browser denied access to the clipboard. The text is selected: copy it yourself.',
} as const

function Copyable({ text, what }: { readonly text: string; readonly what: string }) {
  const shown = useRef<HTMLElement>(null)
  const [copying, setCopying] = useState<keyof typeof COPY_TEXTS>('not yet')
  useEffect(() => {
    if (copying !== 'copied') return undefined
    return after(COPIED_MS, () => setCopying('not yet'))
  }, [copying])
  const copy = async () => {
    if (await copyText(text)) return setCopying('copied')
    // Browsers deny clipboard access outside secure contexts. The user can then copy the selected secret.
    if (shown.current !== null) getSelection()?.selectAllChildren(shown.current)
    setCopying('denied')
  }
  return html`<div class="copyable row">
    <code ref=${shown} tabindex="0" role="textbox" aria-readonly="true" aria-label=${`The ${what}`} data-once=${what}
    >${text}</code>
    <button type="button" class="primary" onClick=${copy}>
      ${copying === 'copied' ? 'Copied' : `Copy the ${what}`}
    </button>
    <span class="muted" role="status">${COPY_TEXTS[copying]}</span>
  </div>`
}
