// Form to create or edit a webhook. Shows only filters that apply to the selected event types.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { request } from '../../api.ts'
import { html } from '../../html.ts'
import type { Health } from '../../records.ts'
import { useAction } from '../forms/action.ts'
import { described, Field, FormProblem, focusProblem, typed } from '../forms/field.ts'
import { refusalOf } from '../forms/refusal.ts'
import { fullVenueText } from '../lists/venues.ts'
import { useRequest } from '../request-state.ts'
import {
  bodyOf,
  type Draft,
  type DraftBody,
  EVENTS,
  type EventType,
  type FilterName,
  isOffered,
  neverSent,
} from './draft.ts'

interface WebhookFormProps {
  readonly initial: Draft
  /** Text of the submit button. */
  readonly verb: string
  /** Text of a second submit button that also sends a test event; omitted: no such button. */
  readonly testVerb?: string
  /** Sends the request. The form shows the error of a rejection. */
  readonly send: (body: DraftBody, isTested: boolean) => Promise<void>
}

type Problems = ReadonlyMap<string, string>
const NONE: Problems = new Map()
const NAMES = [
  ...['url', 'description', 'event_types', 'market_ids', 'platform', 'wallets', 'taker_wallets'],
  'min_usd',
  ...['min_change', 'min_profit_usd', 'min_edge', 'min_age_ms', 'side', 'taker_side'],
  ...['event_slugs', 'categories'],
]

export function WebhookForm({ initial, verb, testVerb, send }: WebhookFormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [draft, setDraft] = useState(initial)
  const [own, setOwn] = useState(NONE)
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set())
  const action = useAction()
  const health = useRequest((signal) => request<Health>('/health', { signal }), [])
  const venues = health.kind === 'answered' ? Object.keys(health.answer.exchanges) : []
  const refusal = action.error === null ? null : refusalOf(action.error, NAMES)
  const problems = own.size > 0 ? leftOf(own, bodyOf(draft, venues)) : unchanged(refusal, changed)
  useLayoutEffect(() => focusProblem(form.current), [own, action.error])
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    const made = bodyOf(draft, venues)
    setOwn('body' in made ? NONE : made.problems)
    setChanged(new Set())
    action.clearError()
    const isTested = event.submitter?.hasAttribute('data-test') === true
    if ('body' in made) action.run(() => send(made.body, isTested))
  }
  const set = (change: Partial<Draft>) => {
    setDraft((last) => ({ ...last, ...change }))
    setChanged((names) => new Set([...names, ...Object.keys(change)]))
  }
  const parts = { draft, problems, set }
  const neverSentTypes = neverSent(draft)
  return html`<form class="webhook-form stack" ref=${form} novalidate onSubmit=${onSubmit}>
    <${TextField} ...${parts} name="url" label="Endpoint URL" placeholder="https://example.com/hooks"
      hint="Your server: https, on a public address." type="url" />
    <${TypesField} ...${parts} />
    <${TextField} ...${parts} name="description" label="Description" hint="Optional, for your own reference." />
    <fieldset class="webhook-filters">
      <legend>Filters <span class="muted">(empty matches everything)</span></legend>
      <${FilterFields} ...${parts} venues=${venues} />
    </fieldset>
    ${
      neverSentTypes.length === 0
        ? null
        : html`<p class="notice" role="status">With these filters ${neverSentTypes.join(' and ')} would never be sent, as${' '}
          ${neverSentTypes.length === 1 ? 'it has' : 'they have'} no such amount, side or wallet. Create two webhooks instead.</p>`
    }
    <${FormProblem} text=${own.size === 0 && changed.size === 0 ? (refusal?.form ?? null) : null} />
    <p class="row"><button type="submit" class="primary" aria-disabled=${action.isRunning}>
      ${action.isRunning ? 'Saving…' : verb}
    </button>
    ${testVerb === undefined ? null : html`<button type="submit" data-test aria-disabled=${action.isRunning}>${testVerb}</button>`}</p>
  </form>`
}

/** Validation messages of the last submit that still apply. */
function leftOf(own: Problems, made: ReturnType<typeof bodyOf>): Problems {
  const now = 'problems' in made ? made.problems : NONE
  return new Map([...now].filter(([name]) => own.has(name)))
}

/** Server messages for fields that have not changed since. Only the server can validate a change. */
const unchanged = (
  refusal: { readonly fields: Problems } | null,
  changed: ReadonlySet<string>,
): Problems =>
  new Map(
    [...(refusal?.fields ?? NONE)].filter(
      ([name]) => !changed.has(name === 'event_types' ? 'types' : name),
    ),
  )

interface PartProps {
  readonly draft: Draft
  readonly problems: Problems
  readonly set: (change: Partial<Draft>) => void
}

interface TextFieldProps extends PartProps {
  readonly name: 'url' | 'description' | FilterName
  readonly label: string
  readonly hint?: string
  readonly placeholder?: string
  readonly type?: string
  /** A list with one entry per line. */
  readonly isList?: boolean
  /** Allowed values, the first of which means any; omitted: free text. */
  readonly choices?: readonly (readonly [value: string, words: string])[]
}

function TextField(props: TextFieldProps) {
  const { draft, problems, set, name, label, hint = null, placeholder, type = 'text' } = props
  const field = { id: `webhook-${name}`, hint, problem: problems.get(name) ?? null }
  const input = {
    ...described(field),
    ...{ name, placeholder, value: draft[name], autocomplete: 'off', spellcheck: 'false' },
    onInput: (event: Event) => set({ [name]: typed(event) }),
  }
  const { choices, isList = false } = props
  return html`<${Field} ...${field} label=${label}>
    ${
      choices !== undefined
        ? html`<select ...${input}>
          ${choices.map(([value, label]) => html`<option key=${value} value=${value}>${label}</option>`)}
        </select>`
        : isList
          ? html`<textarea rows="2" ...${input}></textarea>`
          : html`<input type=${type} ...${input} />`
    }
  <//>`
}

function TypesField({ draft, problems, set }: PartProps) {
  const problem = problems.get('event_types') ?? null
  const toggle = (type: EventType) => {
    const { types } = draft
    set({ types: types.includes(type) ? types.filter((one) => one !== type) : [...types, type] })
  }
  return html`<fieldset class="webhook-events field">
    <legend>Events</legend>
    ${EVENTS.map(
      ({ type, label }, index) => html`<label class="webhook-choice" key=${type}>
        <input
          ...${index === 0 ? described({ id: 'webhook-event_types', problem }) : {}}
          type="checkbox" value=${type} checked=${draft.types.includes(type)} onChange=${() => toggle(type)}
        />
        <span><code>${type}</code> <span class="muted">${label}</span></span>
      </label>`,
    )}
    ${problem === null ? null : html`<p class="error" id="webhook-event_types-error">${problem}</p>`}
  </fieldset>`
}

const SIDES = [
  ['', 'Any'],
  ['buy', 'Buy'],
  ['sell', 'Sell'],
] as const

function FilterFields({ venues, ...parts }: PartProps & { readonly venues: readonly string[] }) {
  const { platform, types } = parts.draft
  const options = platform === '' || venues.includes(platform) ? venues : [...venues, platform]
  const platforms = [
    ['', 'All'] as const,
    ...options.map((name) => [name, fullVenueText(name)] as const),
  ]
  const fields: readonly Omit<TextFieldProps, keyof PartProps>[] = [
    { name: 'platform', label: 'Venue', choices: platforms },
    { name: 'min_usd', label: 'Minimum value (USD)', placeholder: '5000' },
    { name: 'side', label: 'Taker’s side of the first outcome', choices: SIDES },
    { name: 'taker_side', label: 'Taker’s side of the outcome traded', choices: SIDES },
    { name: 'min_change', label: 'Minimum price move', placeholder: '0.05' },
    { name: 'min_profit_usd', label: 'Profit in Minimum value (USD)', placeholder: '5' },
    { name: 'min_edge', label: 'Minimum profit per contract', placeholder: '0.01' },
    { name: 'min_age_ms', label: 'Minimum age (ms)', placeholder: '2000' },
    { name: 'market_ids', label: 'Markets', hint: 'Ids, one a line.', isList: true },
    { name: 'wallets', label: 'Wallets', hint: 'Addresses, one a line.', isList: true },
    {
      name: 'taker_wallets',
      label: 'Takers',
      hint: 'Addresses of takers alone, one a line.',
      isList: true,
    },
    {
      name: 'event_slugs',
      label: 'Venue events',
      hint: 'Slugs, one a line.',
      isList: true,
    },
    { name: 'categories', label: 'Categories', hint: 'One a line.', isList: true },
  ]
  return html`<div class="webhook-grid">
    ${fields.map((field) => {
      if (field.name === 'url' || field.name === 'description') return null
      if (!isOffered(field.name, types)) return null
      return html`<${TextField} key=${field.name} ...${field} ...${parts} />`
    })}
  </div>`
}
