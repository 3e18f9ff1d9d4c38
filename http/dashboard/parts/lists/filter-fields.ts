// The fields of a list's filters: each with its label, and a call of `choose` when the viewer has chosen. What is chosen
// is kept in the address, so that a link or the back button leads to the same list. Upholds DASH57, DASH80.

import { useId, useState } from 'preact/hooks'
import { setAddressHash } from '../../browser.ts'
import { html } from '../../html.ts'
import { hrefOf, type Place } from '../../route.ts'

/** Puts some of the page's own parameters into the address; an empty one is taken out. */
export function changeQuery(place: Place, changes: Readonly<Record<string, string>>): void {
  if (place.page === 'unknown') return
  const query = { ...Object.fromEntries(place.query), ...changes }
  setAddressHash(hrefOf(place.page, place.subject, query), true)
}

/** The address's word when it is one of the choices, else the first of them. */
export function chosen<Value extends string>(
  place: Place,
  name: string,
  [first, ...others]: readonly [Value, ...Value[]],
): Value {
  const word = place.query.get(name)
  return others.find((value) => value === word) ?? first
}

/** The address's number when it is within the bounds, else the one that stands for none. */
export function chosenNumber(
  place: Place,
  name: string,
  bounds: { readonly min: number; readonly max: number; readonly otherwise: number },
): number {
  const word = place.query.get(name) ?? ''
  const value = Number(word)
  const isWithin = word.trim() !== '' && value >= bounds.min && value <= bounds.max
  return isWithin ? value : bounds.otherwise
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
          html`<option key=${value} value=${value} selected=${value === set.value}>${text}</option>`,
      )}
    </select>
  </div>`
}

/**
 * A number, a day, a text: chosen when the viewer leaves the field or presses Enter, and only when it is valid. What is
 * typed meanwhile stays, however often the list around it is drawn.
 */
export function InputField(set: {
  readonly label: string
  readonly type: 'number' | 'date' | 'search' | 'text'
  readonly value: string
  readonly choose: (value: string) => void
  /** Further attributes of the input, such as `min` or `placeholder`. */
  readonly bounds?: Readonly<Record<string, string | number>>
}) {
  const id = useId()
  const [typed, setTyped] = useState<{ readonly over: string; readonly text: string } | null>(null)
  // At once, not in an effect: that would come after what is typed as soon as the field is there, and take it away.
  if (typed !== null && typed.over !== set.value) setTyped(null)
  const shown = typed?.over === set.value ? typed.text : set.value
  const onInput = ({ currentTarget: input }: Event) => {
    if (input instanceof HTMLInputElement) setTyped({ over: set.value, text: input.value })
  }
  const onChange = ({ currentTarget: input }: Event) => {
    if (input instanceof HTMLInputElement && input.reportValidity()) set.choose(input.value)
  }
  return html`<div class="field">
    <label for=${id}>${set.label}</label>
    <input id=${id} type=${set.type} value=${shown} onInput=${onInput} onChange=${onChange} ...${set.bounds ?? {}} />
  </div>`
}
