// Webhook form data: conversion to and from the API, applicable filters, and validation before the request.
// Pure functions.

import type { CreatedWebhook, Webhook } from '../../records.ts'

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
