// Form that creates or edits a webhook. Shows only filters that apply to the selected event types.

import { useMemo, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { shortId } from '../format.ts'
import { html } from '../html.ts'
import type { CreatedWebhook, Health, Webhook, WebhookPreview } from '../records.ts'
import {
  described,
  Field,
  FormProblem,
  NO_PROBLEMS,
  type Problems,
  refusalOf,
  typed,
  useForm,
} from './forms.ts'
import { type Choice, MarketName, Picker, searchMarkets, searchWallets } from './picker.ts'
import { useRequest } from './requests.ts'
import { fullVenueText } from './venues.ts'

type EventType = Webhook['event_types'][number]

/** Every webhook can receive a test, so `webhook.test` cannot be selected. */
export const EVENTS: readonly {
  readonly type: Exclude<EventType, 'webhook.test'>
  readonly label: string
}[] = [
  { type: 'trade.created', label: 'Every trade' },
  { type: 'whale.alert', label: 'Large transactions: $5,000 or more by default' },
  { type: 'price.changed', label: 'Price moves: 5¢ or more by default' },
  { type: 'market.resolved', label: 'A market settles' },
  { type: 'match.created', label: 'The same question is found on the other venue' },
  { type: 'arbitrage.opened', label: 'An opportunity opens: profit after depth and fees' },
  { type: 'arbitrage.closed', label: 'An opportunity ends' },
]
const TRADES: readonly EventType[] = ['trade.created', 'whale.alert']
const PRICES: readonly EventType[] = ['price.changed']
const GAPS: readonly EventType[] = ['arbitrage.opened', 'arbitrage.closed']

interface Filter {
  readonly name: keyof Webhook['filters']
  readonly label: string
  /** Entries of a list are on separate lines. Ids and addresses may also be separated by commas or spaces. */
  readonly kind: 'venue' | 'side' | 'number' | 'whole' | 'ids' | 'addresses' | 'lines'
  /** For a number: an example. For a list: a description of its entries. */
  readonly hint?: string
  /** Event types that the filter applies to; undefined: all. */
  readonly types?: readonly EventType[]
}

const FILTERS: readonly Filter[] = [
  { name: 'platform', label: 'Venue', kind: 'venue' },
  { name: 'min_usd', label: 'Minimum value (USD)', kind: 'number', hint: '5000', types: TRADES },
  { name: 'side', label: 'Taker’s side of the first outcome', kind: 'side', types: TRADES },
  { name: 'taker_side', label: 'Taker’s side of the outcome traded', kind: 'side', types: TRADES },
  { name: 'min_change', label: 'Minimum price move', kind: 'number', hint: '0.05', types: PRICES },
  {
    ...{ name: 'min_profit_usd', label: 'Minimum profit (USD)', kind: 'number' },
    ...{ hint: '5', types: GAPS },
  },
  {
    ...{ name: 'min_edge', label: 'Minimum profit per contract', kind: 'number' },
    ...{ hint: '0.01', types: GAPS },
  },
  { name: 'min_age_ms', label: 'Minimum age (ms)', kind: 'whole', hint: '2000', types: GAPS },
  { name: 'market_ids', label: 'Markets', kind: 'ids', hint: 'Ids, one a line.' },
  {
    ...{ name: 'wallets', label: 'Wallets', kind: 'addresses' },
    ...{ hint: 'Addresses, one a line.', types: TRADES },
  },
  {
    ...{ name: 'taker_wallets', label: 'Takers', kind: 'addresses' },
    ...{ hint: 'Addresses of takers alone, one a line.', types: TRADES },
  },
  { name: 'event_slugs', label: 'Venue events', kind: 'lines', hint: 'Slugs, one a line.' },
  { name: 'categories', label: 'Categories', kind: 'lines', hint: 'One a line.' },
]

export interface Draft extends Partial<Readonly<Record<Filter['name'], string>>> {
  readonly format: Webhook['format']
  /** '' for the stored URL of a chat, which is never shown. */
  readonly url: string
  readonly isStored: boolean
  readonly description: string
  readonly types: readonly EventType[]
}

export const EMPTY_DRAFT: Draft = {
  ...{ format: 'standard', url: '', isStored: false, description: '', types: [] },
}
export const NEW_DRAFT: Draft = { ...EMPTY_DRAFT, types: ['whale.alert'] }

export function draftOf(webhook: Webhook): Draft {
  const { format, description, event_types: types, filters } = webhook
  const url = format === 'standard' ? webhook.url : ''
  const texts = FILTERS.map(({ name }) => {
    const value = filters[name]
    return [name, Array.isArray(value) ? value.join('\n') : String(value ?? '')] as const
  })
  const facts = { format, url, isStored: true, description: description ?? '', types }
  return { ...facts, ...Object.fromEntries(texts) }
}

/** A draft from the URL, such as `?events=price.changed&market_ids=venue_a_0x1`. Null if the URL names no event. */
export function draftIn(query: URLSearchParams): Draft | null {
  const names = (query.get('events') ?? '').split(',')
  const types = EVENTS.flatMap(({ type }) => (names.includes(type) ? [type] : []))
  if (types.length === 0) return null
  const texts = FILTERS.map(({ name, kind }) => {
    const text = query.get(name) ?? ''
    return [name, entriesOf(kind, text).join('\n')] as const
  })
  return { ...EMPTY_DRAFT, types, ...Object.fromEntries(texts) }
}

export const offered = (types: readonly EventType[]): readonly Filter[] =>
  FILTERS.filter(({ types: fitting }) => fitting?.some((type) => types.includes(type)) ?? true)

/** Selected event types whose events can never pass, because they lack a field that a filter requires. */
export function neverSent(draft: Draft): readonly EventType[] {
  const isFilled = ({ name }: Filter) => (draft[name] ?? '').trim() !== ''
  // The price filter concerns one event type and rejects no further type.
  const active = offered(draft.types).filter(
    (filter) => filter.types !== PRICES && isFilled(filter),
  )
  // The server applies no filters to tests.
  const others = draft.types.filter((type) => type !== 'webhook.test')
  return others.filter((type) => active.some(({ types }) => types?.includes(type) === false))
}

/** An update replaces all filters. */
export interface DraftBody
  extends Pick<CreatedWebhook, 'event_types' | 'description'>,
    Partial<Pick<CreatedWebhook, 'url' | 'format'>> {
  readonly filters: Readonly<Record<string, string | number | readonly string[]>>
}

/**
 * Returns the request body, or validation messages by field. `venues` has the configured names; empty: unknown, so
 * market ids are not validated.
 */
export function bodyOf(
  draft: Draft,
  venues: readonly string[],
): { readonly body: DraftBody } | { readonly problems: Problems } {
  const problems = new Map<string, string>()
  const [url, description] = [draft.url.trim(), draft.description.trim()]
  const keepsUrl = draft.isStored && draft.format !== 'standard'
  if (url === '' && !keepsUrl) problems.set('url', 'Enter the address that events are posted to.')
  if (draft.types.length === 0) problems.set('event_types', 'Choose one event or more.')
  const filters: Record<string, string | number | readonly string[]> = {}
  for (const { name, kind } of offered(draft.types)) {
    const text = (draft[name] ?? '').trim()
    if (text === '') continue
    const problem = problemOf(kind, text, venues)
    if (problem !== null) problems.set(name, problem)
    if (kind === 'number' || kind === 'whole') filters[name] = Number(text)
    else filters[name] = kind === 'venue' || kind === 'side' ? text : entriesOf(kind, text)
  }
  if (problems.size > 0) return { problems }
  const event_types = [...draft.types]
  const target = url === '' ? {} : { url }
  const format = draft.isStored ? {} : { format: draft.format }
  const facts = { event_types, description: description || null, filters }
  return { body: { ...target, ...format, ...facts } }
}

export function entriesOf(kind: Filter['kind'], text: string): readonly string[] {
  const entries = text.split(kind === 'lines' ? /\n/ : /[\s,]+/).map((entry) => entry.trim())
  return entries.filter((entry) => entry !== '')
}

function problemOf(kind: Filter['kind'], text: string, venues: readonly string[]): string | null {
  const wrongOf = (isRight: (entry: string) => boolean) =>
    entriesOf(kind, text).find((entry) => !isRight(entry))
  switch (kind) {
    case 'number':
      if (Number.isFinite(Number(text))) return null
      return 'Enter a number, such as 0.05 or 10000.'
    case 'whole':
      if (Number.isInteger(Number(text))) return null
      return 'Enter whole milliseconds, such as 2000.'
    case 'addresses': {
      const wrong = wrongOf((entry) => /^0x[0-9a-f]{40}$/i.test(entry))
      return wrong === undefined ? null : `${wrong} is no address: 0x and 40 hexadecimal digits.`
    }
    case 'ids': {
      const prefixes = venues.map((venue) => `${venue}_`)
      const isId = (entry: string) =>
        prefixes.some((prefix) => entry.toLowerCase().startsWith(prefix.toLowerCase()))
      const wrong = venues.length === 0 ? undefined : wrongOf(isId)
      if (wrong === undefined) return null
      return `${wrong} is no market’s id: they begin with ${prefixes.join(' or ')}.`
    }
    default:
      return null
  }
}

const FORMATS: readonly (readonly [Webhook['format'], string])[] = [
  ['standard', 'Your server (signed JSON)'],
  ['slack', 'Slack'],
  ['discord', 'Discord'],
  ['telegram', 'Telegram'],
]

const URLS: Readonly<Record<Webhook['format'], readonly [placeholder: string, hint: string]>> = {
  standard: ['https://example.com/hooks', 'Your server: https, on a public address.'],
  slack: ['https://hooks.slack.com/services/…', 'The address of an incoming webhook of Slack.'],
  discord: ['https://discord.com/api/webhooks/…', 'The address of a webhook of a Discord channel.'],
  telegram: [
    'https://api.telegram.org/bot<token>/sendMessage?chat_id=…',
    'The bot’s sendMessage address with the chat: a number, or @name of a channel.',
  ],
}

function urlTexts({ format, isStored }: Draft) {
  const [placeholder, hint] = URLS[format]
  if (format === 'standard') return { label: 'Endpoint URL', placeholder, hint }
  const stored = isStored ? ' Leave the field empty to retain the stored address.' : ''
  return { label: 'Address of the chat', placeholder, hint: `${hint} It is a secret.${stored}` }
}

/** The message that an example event of this type causes. */
function ChatPreview({ format, type }: { readonly format: string; readonly type: string }) {
  const path = `/v1/webhooks/preview?${new URLSearchParams({ format, event_type: type })}`
  const { answer } = useRequest((signal) => request<WebhookPreview>(path, { signal }), [path])
  return html`<figure class="chat-preview"><figcaption class="muted">Example of a message</figcaption>
    <blockquote>${textsOf(answer?.body).join('\n')}</blockquote></figure>`
}

const SHOWN = ['text', 'content', 'title', 'description']

/** Texts of a chat message, without markup. Slack repeats the title as `text` beside its blocks. */
function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (typeof value !== 'object' || value === null) return []
  if ('blocks' in value) return textsOf(value.blocks)
  return Object.entries(value).flatMap(([name, part]) => {
    if (typeof part !== 'string') return textsOf(part)
    if (!SHOWN.includes(name)) return []
    const linked = part.replace(/<[^<>|]*\|([^<>]*)>/g, '$1')
    return [unescaped(linked.replace(/<[^<>]*>/g, '').replace(/\\(.)/g, '$1'))]
  })
}

const ENTITIES = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&amp;', '&'],
] as const
const unescaped = (text: string): string =>
  ENTITIES.reduce((result, [entity, character]) => result.replaceAll(entity, character), text)

interface WebhookFormProps {
  readonly initial: Draft
  readonly verb: string
  /** Label of a second submit button, which also sends a test event; undefined: no such button. */
  readonly testVerb?: string
  readonly send: (body: DraftBody, isTested: boolean) => Promise<void>
}

const NAMES = ['url', 'format', 'description', 'event_types', ...FILTERS.map(({ name }) => name)]

export function WebhookForm({ initial, verb, testVerb, send }: WebhookFormProps) {
  const [draft, setDraft] = useState(initial)
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set())
  const { answer: health } = useRequest((signal) => request<Health>('/health', { signal }), [])
  const venues = Object.keys(health?.exchanges ?? {})
  const made = bodyOf(draft, venues)
  const form = useForm(
    (error) => refusalOf(error, NAMES),
    (_, submitter) => {
      setChanged(new Set())
      if ('problems' in made) return made.problems
      return () => send(made.body, submitter?.hasAttribute('data-test') === true)
    },
  )
  const { attributes, isRunning, isMissing, refusal } = form
  const now = 'problems' in made ? made.problems : NO_PROBLEMS
  // Messages of the server stay until their field changes.
  const problems = new Map(
    isMissing
      ? [...now].filter(([name]) => refusal.fields.has(name))
      : [...refusal.fields].filter(
          ([name]) => !changed.has(name === 'event_types' ? 'types' : name),
        ),
  )
  const set = (change: Partial<Draft>) => {
    setDraft((last) => ({ ...last, ...change }))
    setChanged((names) => new Set([...names, ...Object.keys(change)]))
  }
  const parts = { draft, problems, set }
  const neverSentTypes = neverSent(draft)
  return html`<form class="webhook-form stack" ...${attributes}>
    ${draft.isStored ? null : html`<${TextField} ...${parts} name="format" label="Send to" choices=${FORMATS} />`}
    <${TextField} ...${parts} name="url" type="url" ...${urlTexts(draft)} />
    ${typesField(parts)}
    ${draft.format === 'standard' ? null : html`<${ChatPreview} format=${draft.format} type=${draft.types[0] ?? 'whale.alert'} />`}
    <${TextField} ...${parts} name="description" label="Description" hint="Optional, for your own reference." />
    <fieldset class="webhook-filters">
      <legend>Filters <span class="muted">(empty matches everything)</span></legend>
      <div class="webhook-grid">${offered(draft.types).map((filter) => filterField(filter, parts, venues))}</div>
    </fieldset>
    ${
      neverSentTypes.length === 0
        ? null
        : html`<p class="notice" role="status">With these filters ${neverSentTypes.join(' and ')} would never be sent, as${' '}
          ${neverSentTypes.length === 1 ? 'it has' : 'they have'} no such amount, side or wallet. Create two webhooks instead.</p>`
    }
    <${FormProblem} text=${changed.size === 0 ? refusal.form : null} />
    <p class="row"><button type="submit" class="primary" aria-disabled=${isRunning}>${isRunning ? 'Saving…' : verb}</button>
    ${testVerb === undefined ? null : html`<button type="submit" data-test aria-disabled=${isRunning}>${testVerb}</button>`}</p>
  </form>`
}

interface PartProps {
  readonly draft: Draft
  readonly problems: Problems
  readonly set: (change: Partial<Draft>) => void
}

interface TextFieldProps extends PartProps {
  readonly name: 'url' | 'format' | 'description' | Filter['name']
  readonly label: string
  readonly hint?: string | null
  readonly placeholder?: string | null
  readonly type?: string
  /** True for a list with one entry per line. */
  readonly isList?: boolean
  /** Allowed values; the first value means any. Undefined: free text. */
  readonly choices?: readonly (readonly [value: string, text: string])[]
}

function TextField(props: TextFieldProps) {
  const { draft, problems, set, name, label, hint = null, placeholder, type = 'text' } = props
  const field = { id: `webhook-${name}`, hint, problem: problems.get(name) ?? null }
  const input = {
    ...described(field),
    ...{ name, placeholder, value: draft[name] ?? '', autocomplete: 'off', spellcheck: false },
    onInput: (event: Event) => set({ [name]: typed(event) }),
  }
  const { choices, isList = false } = props
  return html`<${Field} ...${field} label=${label}>
    ${
      choices !== undefined
        ? html`<select ...${input}>
          ${choices.map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
        </select>`
        : isList
          ? html`<textarea rows="2" ...${input}></textarea>`
          : html`<input type=${type} ...${input} />`
    }
  <//>`
}

function typesField({ draft: { types }, problems, set }: PartProps) {
  const problem = problems.get('event_types') ?? null
  const toggle = (type: EventType) =>
    set({ types: types.includes(type) ? types.filter((one) => one !== type) : [...types, type] })
  return html`<fieldset class="webhook-events field">
    <legend>Events</legend>
    ${EVENTS.map(
      ({ type, label }, index) => html`<label class="webhook-choice" key=${type}>
        <input
          ...${index === 0 ? described({ id: 'webhook-event_types', problem }) : {}}
          type="checkbox" value=${type} checked=${types.includes(type)} onChange=${() => toggle(type)}
        />
        <span><code>${type}</code> <span class="muted">${label}</span></span>
      </label>`,
    )}
    ${problem === null ? null : html`<p class="error" id="webhook-event_types-error">${problem}</p>`}
  </fieldset>`
}

interface SearchedFieldProps extends PartProps {
  readonly name: Filter['name']
  readonly label: string
  readonly hint: string
  readonly kind: 'ids' | 'addresses'
}

/** A list of markets or wallets, which a search field adds. Ids can be pasted into a text field. */
function SearchedField({ name, label, hint, kind, ...parts }: SearchedFieldProps) {
  const { draft, problems, set } = parts
  const entries = entriesOf(kind, draft[name] ?? '')
  const put = (list: readonly string[]) => set({ [name]: list.join('\n') })
  const isMarket = kind === 'ids'
  const venue = draft.platform || null
  const search = useMemo(() => (isMarket ? searchMarkets(venue) : searchWallets), [isMarket, venue])
  return html`<div class="field searched" data-filter=${name}>
    <${Picker} label=${isMarket ? 'Find a market' : name === 'wallets' ? 'Find a wallet' : 'Find a taker'}
      placeholder=${isMarket ? 'A question' : 'A name or address'} search=${search}
      choose=${({ value }: Choice) => put([...new Set([...entries, value])])} />
    <ul class="row chosen" aria-label="Chosen">
      ${entries.map(
        (entry) => html`<li key=${entry}>
          ${isMarket ? html`<${MarketName} id=${entry} />` : html`<code title=${entry}>${shortId(entry)}</code>`}
          <button type="button" class="quiet" aria-label=${`Remove ${entry}`} onClick=${() => put(entries.filter((one) => one !== entry))}>×</button>
        </li>`,
      )}
    </ul>
    <details open=${problems.has(name)}>
      <summary>${isMarket ? 'Enter ids' : 'Enter addresses'}</summary>
      <${TextField} ...${parts} name=${name} label=${label} hint=${hint} isList=${true} />
    </details>
  </div>`
}

const SIDES = [['', 'Any'] as const, ['buy', 'Buy'] as const, ['sell', 'Sell'] as const]

function filterField(
  { name, label, kind, hint }: Filter,
  parts: PartProps,
  venues: readonly string[],
) {
  const { platform = '' } = parts.draft
  const names = platform === '' || venues.includes(platform) ? venues : [...venues, platform]
  const choices = {
    venue: [['', 'All'], ...names.map((venue) => [venue, fullVenueText(venue)])],
    side: SIDES,
  }
  const isNumber = kind === 'number' || kind === 'whole'
  const isChoice = kind === 'venue' || kind === 'side'
  if (kind === 'ids' || kind === 'addresses') {
    return html`<${SearchedField} key=${name} name=${name} label=${label} hint=${hint} kind=${kind} ...${parts} />`
  }
  return html`<${TextField} key=${name} name=${name} label=${label} ...${parts}
    placeholder=${isNumber ? hint : undefined} hint=${isNumber ? null : hint}
    choices=${isChoice ? choices[kind] : undefined} isList=${!isNumber && !isChoice} />`
}
