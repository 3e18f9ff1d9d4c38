// Webhook form data: conversion to and from the API, applicable filters, and validation before the request.
// Pure functions.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { html } from '../html.ts'
import type { CreatedWebhook, Health, Webhook } from '../records.ts'
import {
  described,
  Field,
  FormProblem,
  focusProblem,
  refusalOf,
  typed,
  useAction,
} from './forms.ts'
import { useRequest } from './requests.ts'
import { fullVenueText } from './venues.ts'

export type EventType = Webhook['event_types'][number]

/** Selectable event types. `webhook.test` is not selectable, since every webhook can receive a test. */
export const EVENTS: readonly {
  readonly type: Exclude<EventType, 'webhook.test'>
  readonly label: string
}[] = [
  { type: 'trade.created', label: 'Every trade' },
  { type: 'whale.alert', label: 'Large transactions: $5,000 or more by default' },
  { type: 'price.changed', label: 'Price moves: 5¢ or more by default' },
  { type: 'market.resolved', label: 'A market settles' },
  { type: 'match.created', label: 'The same question is found on the other venue' },
  {
    type: 'arbitrage.opened',
    label: 'An opportunity opens: profit after depth and fees',
  },
  { type: 'arbitrage.closed', label: 'An opportunity ends' },
]

/** Texts of the form. Lists have one entry per line. */
export interface Draft {
  readonly url: string
  readonly description: string
  readonly types: readonly EventType[]
  readonly market_ids: string
  readonly platform: string
  readonly wallets: string
  readonly taker_wallets: string
  readonly min_usd: string
  readonly min_change: string
  readonly min_profit_usd: string
  readonly min_edge: string
  readonly min_age_ms: string
  readonly side: string
  readonly taker_side: string
  readonly event_slugs: string
  readonly categories: string
}
export type FilterName = Exclude<keyof Draft, 'url' | 'description' | 'types'>

export const EMPTY_DRAFT: Draft = {
  ...{ url: '', description: '', types: [] },
  ...{
    market_ids: '',
    platform: '',
    wallets: '',
    taker_wallets: '',
    min_usd: '',
    min_change: '',
    side: '',
    taker_side: '',
  },
  ...{ min_profit_usd: '', min_edge: '', min_age_ms: '' },
  ...{ event_slugs: '', categories: '' },
}

/** Default of a new webhook. */
export const NEW_DRAFT: Draft = { ...EMPTY_DRAFT, types: ['whale.alert'] }

const OPPORTUNITIES: readonly EventType[] = ['arbitrage.opened', 'arbitrage.closed']

/** Event types that have the filtered field. Filters not listed apply to all event types. */
const FILTERS_OF: Readonly<Partial<Record<FilterName, readonly EventType[]>>> = {
  wallets: ['trade.created', 'whale.alert'],
  taker_wallets: ['trade.created', 'whale.alert'],
  min_usd: ['trade.created', 'whale.alert'],
  side: ['trade.created', 'whale.alert'],
  taker_side: ['trade.created', 'whale.alert'],
  min_change: ['price.changed'],
  min_profit_usd: OPPORTUNITIES,
  min_edge: OPPORTUNITIES,
  min_age_ms: OPPORTUNITIES,
}

/** Whether a filter applies to one of the selected event types. */
export function isOffered(filter: FilterName, types: readonly EventType[]): boolean {
  const fitting = FILTERS_OF[filter]
  return fitting === undefined || types.some((type) => fitting.includes(type))
}

/**
 * Filters that reject events without the field. `min_change` is not listed, since it applies to one event
 * type only.
 */
const FACTS = [
  'wallets',
  'taker_wallets',
  'min_usd',
  'side',
  'taker_side',
  'min_profit_usd',
  'min_edge',
  'min_age_ms',
] as const

/** Selected event types that the filters always reject, since they lack the filtered field. */
export function neverSent(draft: Draft): readonly EventType[] {
  const active = FACTS.filter((name) => {
    return isOffered(name, draft.types) && draft[name].trim() !== ''
  })
  // Tests pass every filter.
  const others = draft.types.filter((type) => type !== 'webhook.test')
  return others.filter((type) => active.some((name) => FILTERS_OF[name]?.includes(type) === false))
}

/** Form data of an existing webhook. */
export function draftOf({ url, description, event_types: types, filters }: Webhook): Draft {
  const lines = (list: readonly string[] | null) => (list ?? []).join('\n')
  return {
    ...{ url, description: description ?? '', types },
    market_ids: lines(filters.market_ids),
    platform: filters.platform ?? '',
    wallets: lines(filters.wallets),
    taker_wallets: lines(filters.taker_wallets),
    min_usd: filters.min_usd?.toString() ?? '',
    min_change: filters.min_change?.toString() ?? '',
    min_profit_usd: filters.min_profit_usd?.toString() ?? '',
    min_edge: filters.min_edge?.toString() ?? '',
    min_age_ms: filters.min_age_ms?.toString() ?? '',
    side: filters.side ?? '',
    taker_side: filters.taker_side ?? '',
    event_slugs: lines(filters.event_slugs),
    categories: lines(filters.categories),
  }
}

/** Request body to create or update a webhook. An update replaces all filters. */
export interface DraftBody extends Pick<CreatedWebhook, 'url' | 'event_types' | 'description'> {
  readonly filters: Readonly<Record<string, string | number | readonly string[]>>
}

/**
 * Builds the request body, or validation messages by field. `venues`: configured names; empty: unknown,
 * market ids are then not validated.
 */
export function bodyOf(
  draft: Draft,
  venues: readonly string[],
): { readonly body: DraftBody } | { readonly problems: ReadonlyMap<string, string> } {
  const problems = new Map<string, string>()
  if (draft.url.trim() === '') problems.set('url', 'Enter the address that events are posted to.')
  if (draft.types.length === 0) problems.set('event_types', 'Choose one event or more.')
  const filters: Record<string, string | number | readonly string[]> = {}
  for (const name of FILTERS) {
    const text = draft[name].trim()
    if (text === '' || !isOffered(name, draft.types)) continue
    filters[name] = filterOf(name, text)
    const problem = problemOf(name, text, venues)
    if (problem !== null) problems.set(name, problem)
  }
  if (problems.size > 0) return { problems }
  const description = draft.description.trim()
  return {
    body: {
      url: draft.url.trim(),
      event_types: [...draft.types],
      description: description === '' ? null : description,
      filters,
    },
  }
}

const FILTERS = [
  ...(['market_ids', 'platform', 'wallets', 'taker_wallets', 'min_usd'] as const),
  ...(['min_profit_usd', 'min_edge', 'min_age_ms'] as const),
  ...(['min_change', 'side', 'taker_side', 'event_slugs', 'categories'] as const),
]

/** Entries of a list, one per line. Market ids and addresses can also be separated by commas or spaces. */
export function entriesOf(name: FilterName, text: string): readonly string[] {
  const parts = name === 'market_ids' || name.endsWith('wallets') ? /[\s,]+/ : /\n/
  const entries = text.split(parts).map((entry) => entry.trim())
  return entries.filter((entry) => entry !== '')
}

function filterOf(name: FilterName, text: string): string | number | readonly string[] {
  if (name === 'platform' || name === 'side' || name === 'taker_side') return text
  return isNumber(name) ? Number(text) : entriesOf(name, text)
}

const isNumber = (name: FilterName): boolean => name.startsWith('min_')

const numberHint = (name: FilterName): string =>
  name === 'min_age_ms'
    ? 'Enter whole milliseconds, such as 2000.'
    : 'Enter a number, such as 0.05 or 10000.'

function problemOf(name: FilterName, text: string, venues: readonly string[]): string | null {
  if (isNumber(name)) {
    const isWhole = name !== 'min_age_ms' || Number.isInteger(Number(text))
    return Number.isFinite(Number(text)) && isWhole ? null : numberHint(name)
  }
  if (name === 'wallets' || name === 'taker_wallets') {
    const wrong = entriesOf(name, text).find((entry) => !/^0x[0-9a-f]{40}$/i.test(entry))
    return wrong === undefined ? null : `${wrong} is no address: 0x and 40 hexadecimal digits.`
  }
  if (name !== 'market_ids' || venues.length === 0) return null
  const wrong = entriesOf(name, text).find((entry) => !isMarketId(entry, venues))
  const begins = venues.map((venue) => `${venue}_`).join(' or ')
  return wrong === undefined ? null : `${wrong} is no market’s id: they begin with ${begins}.`
}

function isMarketId(text: string, venues: readonly string[]): boolean {
  const id = text.toLowerCase()
  return venues.some((venue) => id.startsWith(`${venue.toLowerCase()}_`))
}

// Form to create or edit a webhook. Shows only filters that apply to the selected event types.

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
