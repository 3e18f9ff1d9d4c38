// The fields of a list's filters: each with its label, and a call of `choose` when the viewer has chosen. What is chosen
// is kept in the address, so that a link or the back button leads to the same list.

import { useId, useState } from 'preact/hooks'
import { setAddressHash } from '../../browser.ts'
import { capital } from '../../format.ts'
import { html } from '../../html.ts'
import { hrefOf, type PageRoute } from '../../route.ts'
import { described, Field } from '../forms/field.ts'

/** Puts some of the page's own parameters into the address; an empty one is taken out. */
export function changeQuery(route: PageRoute, changes: Readonly<Record<string, string>>): void {
  if (route.page === 'unknown') return
  const query = { ...Object.fromEntries(route.query), ...changes }
  setAddressHash(hrefOf(route.page, route.subject, query), true)
}

/** The address's word when it is one of the choices, else the first of them. */
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
  /** Stands for none. */
  readonly otherwise: number
}

/** The address's number when it is within the bounds, else the one that stands for none. */
export function chosenNumber(route: PageRoute, name: string, bounds: NumberBounds): number {
  return Number(paramWithin(route, name, bounds) ?? bounds.otherwise)
}

function paramWithin(route: PageRoute, name: string, { min, max }: NumberBounds): string | null {
  const param = route.query.get(name) ?? ''
  return param.trim() !== '' && Number(param) >= min && Number(param) <= max ? param : null
}

/** A number of the address for its field: as it stands there, and where it is not accepted, what is. */
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

/** What a field takes, for a person. */
function acceptedText({ min, max }: InputFieldProps['bounds'] & object): string {
  if (min === undefined) return 'Enter a day of the calendar.'
  return Number(max) < Number.MAX_SAFE_INTEGER
    ? `Enter a number from ${min} to ${max}.`
    : `Enter a number, ${min} or more.`
}

/** One of a few. */
export function ChoiceField(set: {
  readonly label: string
  readonly value: string
  readonly choices: readonly (readonly [value: string, text: string])[]
  readonly choose: (value: string) => void
}) {
  const id = useId()
  const onChange = (event: Event) => {
    if (event.currentTarget instanceof HTMLSelectElement) set.choose(event.currentTarget.value)
  }
  return html`<div class="field">
    <label for=${id}>${set.label}</label>
    <select id=${id} value=${set.value} onChange=${onChange}>
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
  /** Further attributes of the input, such as `min` or `placeholder`. */
  readonly bounds?: Readonly<Record<string, string | number>>
  /** What is wrong with the value; null: nothing. */
  readonly problem?: string | null
}

/**
 * A number, a day, a text: chosen when the viewer leaves the field or presses Enter, and only when it is valid; else what
 * is accepted stands beside it. What is typed meanwhile stays, however often the list around it is drawn.
 */
export function InputField(set: InputFieldProps) {
  const id = useId()
  const [typed, setTyped] = useState<{
    readonly over: string
    readonly text: string
    readonly problem: string | null
  } | null>(null)
  // At once, not in an effect: that would come after what is typed as soon as the field is there, and take it away.
  if (typed !== null && typed.over !== set.value) setTyped(null)
  const own = typed?.over === set.value ? typed : { text: set.value, problem: set.problem ?? null }
  const put = (text: string, problem: string | null) => setTyped({ over: set.value, text, problem })
  const onInput = ({ currentTarget: input }: Event) => {
    if (input instanceof HTMLInputElement) put(input.value, null)
  }
  const onChange = ({ currentTarget: input }: Event) => {
    if (!(input instanceof HTMLInputElement)) return
    if (input.validity.valid) set.choose(input.value)
    else put(input.value, acceptedText(set.bounds ?? {}))
  }
  const field = { id, problem: own.problem }
  return html`<${Field} ...${field} label=${set.label}>
    <input ...${described(field)} type=${set.type} value=${own.text} onInput=${onInput} onChange=${onChange} ...${set.bounds ?? {}} />
  <//>`
}
