// Validates webhook requests beyond their schemas. Normalizes event types and ids to their canonical form, addresses to
// lower case, and money to integers.

import type { Static } from '@sinclair/typebox'
import type { WebhookChange, WebhookRequest } from '../../actors/webhooks/views.ts'
import { roundPrice, roundUsd } from '../../engine/units.ts'
import type { CallPolicy } from '../../engine/webhooks/post.ts'
import { isSecret } from '../../engine/webhooks/signature.ts'
import { readTargetUrl } from '../../engine/webhooks/target-url.ts'
import type { WebhookEventType, WebhookFilters } from '../../engine/webhooks/webhook.ts'
import type { Refinement } from '../validation/body.ts'
import { echo } from '../validation/problems.ts'
import { canonicalId, type MarketIds } from './records.ts'
import { changeBody, createBody, rotateBody } from './schemas.ts'
import type { EventDescriptor } from './types/event-type.ts'

type CreateBody = Static<ReturnType<typeof createBody>>
type ChangeBody = Static<ReturnType<typeof changeBody>>
type FiltersBody = NonNullable<CreateBody['filters']>

interface RequestFactors {
  readonly catalog: MarketIds
  /** Restricts the hosts that events may be posted to. */
  readonly policy: CallPolicy
  readonly types: readonly EventDescriptor[]
}

export function webhookBodies(factors: RequestFactors) {
  const { catalog, types } = factors
  const refinements = refinementsOf(factors)
  return {
    create: { schema: createBody(catalog.names, types), className: 'Webhook', refinements },
    change: { schema: changeBody(catalog.names, types), className: 'WebhookChange', refinements },
    rotate: { schema: rotateBody(), className: 'SecretRotation', refinements, isOptional: true },
  }
}

/** The body must be valid. */
export function requestOf(body: CreateBody, factors: RequestFactors): WebhookRequest {
  return {
    url: targetOf(body.url, factors),
    format: body.format ?? 'standard',
    eventTypes: body.event_types.map((name) => canonical(name, factors)),
    filters: filtersOf(body.filters ?? {}, factors.catalog),
    description: body.description ?? null,
    secret: body.secret ?? null,
  }
}

/** The body must be valid. */
export function changeOf(body: ChangeBody, factors: RequestFactors): WebhookChange {
  const { url, event_types: types, filters, description, active } = body
  return {
    ...(url === undefined ? {} : { url: targetOf(url, factors) }),
    ...(types === undefined ? {} : { eventTypes: types.map((name) => canonical(name, factors)) }),
    ...(filters === undefined ? {} : { filters: filtersOf(filters ?? {}, factors.catalog) }),
    ...(description === undefined ? {} : { description }),
    ...(active === undefined ? {} : { isActive: active }),
  }
}

function targetOf(text: string, { policy }: RequestFactors): string {
  const target = readTargetUrl(text, policy)
  if ('problem' in target) throw new Error('validation accepted an invalid URL')
  return target.url
}

/** `given` is a full name or an alias. */
function canonical(given: string, { types }: Pick<RequestFactors, 'types'>): WebhookEventType {
  const found = types.find(({ name, shortNames }) => name === given || shortNames.includes(given))
  return found?.name ?? given
}

function filtersOf(body: FiltersBody, catalog: MarketIds): WebhookFilters {
  const { names } = catalog
  const { platform, min_usd: usd, min_change: change, side } = body
  const { min_profit_usd: profit, min_edge: edge } = body
  return {
    marketIds: setOf(body.market_ids, (id) => canonicalId(id, catalog)),
    venue: platform === undefined || platform === null ? null : names.venue(platform),
    wallets: setOf(body.wallets, (address) => address.toLowerCase()),
    takerWallets: setOf(body.taker_wallets, (address) => address.toLowerCase()),
    minUsd: usd === undefined || usd === null ? null : roundUsd(usd),
    minChange: change === undefined || change === null ? null : roundPrice(change),
    minProfit: profit === undefined || profit === null ? null : roundUsd(profit),
    minEdge: edge === undefined || edge === null ? null : roundPrice(edge),
    minAgeMs: body.min_age_ms ?? null,
    side: side ?? null,
    takerSide: body.taker_side ?? null,
    eventSlugs: setOf(body.event_slugs, (slug) => slug),
    categories: setOf(body.categories, (category) => category),
  }
}

/** Removes texts whose `form` equals that of an earlier text. */
function setOf(
  texts: readonly string[] | null | undefined,
  form: (text: string) => string,
): readonly string[] | null {
  return texts === undefined || texts === null ? null : [...new Set(texts.map(form))]
}

function refinementsOf({ catalog, policy, types }: RequestFactors): Record<string, Refinement> {
  const { names } = catalog
  const prefixes = names.platforms.map((name) => `${name}_`).join(' or ')
  return {
    url: (url) => {
      const target = readTargetUrl(String(url), policy)
      return 'problem' in target ? [valueError(target.problem, repeatedUrl(String(url)))] : []
    },
    event_types: (value) => {
      const given = textsOf(value)
      const full = given.map((name) => canonical(name, { types }))
      return full.flatMap((type, index) => {
        if (full.indexOf(type) === index) return []
        return [valueError(`${type} is named twice`, given[index], [index])]
      })
    },
    'filters.market_ids': (value) => [
      ...textsOf(value).flatMap((id, index) => {
        if ((names.split(id)?.native ?? '') !== '') return []
        return [valueError(`a market id begins with ${prefixes}`, echo(id), [index])]
      }),
      ...brokenTexts(value),
    ],
    'filters.event_slugs': brokenTexts,
    'filters.categories': brokenTexts,
    secret: (secret) => {
      const reason = 'a secret is whsec_ and the base64 of 24 to 64 bytes'
      return isSecret(String(secret)) ? [] : [valueError(reason, '[redacted]')]
    },
    description: (text) => brokenTexts([text]).map((problem) => ({ ...problem, at: [] })),
  }
}

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [])

/** Rejects texts with a lone surrogate, which UTF-8 storage would change. */
function brokenTexts(value: unknown) {
  const msg = 'Input should be a valid string, unable to parse raw data as a unicode string'
  return textsOf(value).flatMap((text, index) => {
    if (!/\p{Cs}/u.test(text)) return []
    return [{ at: [index], refusal: { type: 'string_unicode', msg }, input: echo(text) }]
  })
}

/**
 * The rejected URL for the error message. A URL with `@` is not repeated, because the text before `@` may be a
 * password.
 */
function repeatedUrl(url: string): unknown {
  return url.includes('@') ? '[redacted]' : echo(url)
}

function valueError(reason: string, input: unknown, at: readonly number[] = []) {
  const msg = `Value error, ${reason}`
  return { at, refusal: { type: 'value_error', msg, ctx: { reason } }, input }
}
