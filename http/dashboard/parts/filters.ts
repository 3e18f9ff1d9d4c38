// Filter fields of lists. The URL holds their values, so that links and the back button restore a list.

import { useId, useState } from 'preact/hooks'
import { setAddressHash } from '../browser.ts'
import { capital } from '../format.ts'
import { html } from '../html.ts'
import { hrefOf, type PageRoute } from '../route.ts'
import { described, Field, typed } from './forms.ts'

/** An empty value removes its parameter. */
export function changeQuery(route: PageRoute, changes: Readonly<Record<string, string>>): void {
  if (route.page === 'unknown') return
  const query = { ...Object.fromEntries(route.query), ...changes }
  setAddressHash(hrefOf(route.page, route.subject, query), true)
}

/** The parameter's value if it is allowed, otherwise the first choice. */
export function chosen<Value extends string>(
  route: PageRoute,
  name: string,
  [first, ...others]: readonly [Value, ...Value[]],
): Value {
  const param = route.query.get(name)
  return others.find((value) => value === param) ?? first
}

interface NumberBounds {
  readonly min: number
  readonly max: number
  readonly otherwise: number
}

/** The parameter's value if it is within the bounds, otherwise the default. */
export function chosenNumber(route: PageRoute, name: string, bounds: NumberBounds): number {
  return Number(paramWithin(route, name, bounds) ?? bounds.otherwise)
}

function paramWithin(route: PageRoute, name: string, { min, max }: NumberBounds): string | null {
  const param = route.query.get(name) ?? ''
  return param.trim() !== '' && Number(param) >= min && Number(param) <= max ? param : null
}

/** The value comes from the URL. `problem` is set if the value is out of bounds. */
export function numberField(route: PageRoute, name: string, bounds: NumberBounds) {
  const { min, max, otherwise } = bounds
  const param = route.query.get(name) ?? ''
  const isUsed = param === '' || paramWithin(route, name, bounds) !== null
  return {
    type: 'number',
    value: param === '' ? String(otherwise) : param,
    bounds: { min, max, step: 'any', required: 'required' },
    problem: isUsed ? null : `${acceptedText({ min, max })} The list is shown with ${otherwise}.`,
  } as const
}

function acceptedText({ min, max }: InputFieldProps['bounds'] & object): string {
  if (min === undefined) return 'Enter a day of the calendar.'
  return Number(max) < Number.MAX_SAFE_INTEGER
    ? `Enter a number from ${min} to ${max}.`
    : `Enter a number, ${min} or more.`
}

export const stay = (event: Event): void => event.preventDefault()

export function ChoiceField(set: {
  readonly label: string
  readonly value: string
  readonly choices: readonly (readonly [value: string, text: string])[]
  readonly choose: (value: string) => void
}) {
  const id = useId()
  return html`<div class="field">
    <label for=${id}>${set.label}</label>
    <select id=${id} value=${set.value} onChange=${(event: Event) => set.choose(typed(event))}>
      ${set.choices.map(
        ([value, text]) =>
          html`<option key=${value} value=${value} selected=${value === set.value}>${capital(text)}</option>`,
      )}
    </select>
  </div>`
}

interface InputFieldProps {
  readonly label: string
  readonly type: 'number' | 'date' | 'search' | 'text'
  readonly value: string
  readonly choose: (value: string) => void
  /** Attributes of the input, such as `min` or `placeholder`. */
  readonly bounds?: Readonly<Record<string, string | number>>
  readonly problem?: string | null
}

/**
 * Calls `choose` on blur or Enter with a valid value. Shows an error for an invalid value. Typed text survives
 * rerenders.
 */
export function InputField(set: InputFieldProps) {
  const id = useId()
  const [draft, setDraft] = useState<{
    readonly over: string
    readonly text: string
    readonly problem: string | null
  } | null>(null)
  // Resets the draft during the render. An effect would run after the first input event and discard its text.
  if (draft !== null && draft.over !== set.value) setDraft(null)
  const own = draft?.over === set.value ? draft : { text: set.value, problem: set.problem ?? null }
  const put = (text: string, problem: string | null) => setDraft({ over: set.value, text, problem })
  const onChange = ({ currentTarget: input }: Event) => {
    if (!(input instanceof HTMLInputElement)) return
    if (input.validity.valid) set.choose(input.value)
    else put(input.value, acceptedText(set.bounds ?? {}))
  }
  const field = { id, problem: own.problem }
  return html`<${Field} ...${field} label=${set.label}>
    <input ...${described(field)} type=${set.type} value=${own.text} onInput=${(event: Event) => put(typed(event), null)}
      onChange=${onChange} ...${set.bounds ?? {}} />
  <//>`
}
