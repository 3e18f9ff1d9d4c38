// Validates bodies that create, change or rotate a webhook beyond their schema. Normalizes valid ones for the actor:
// canonical event types and ids, lower-case addresses, integers for money.

import type { Static } from '@sinclair/typebox'
import type { WebhookChange, WebhookRequest } from '../../actors/webhooks/views.ts'
import { roundPrice, roundUsd } from '../../engine/units.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { CallPolicy } from '../../engine/webhooks/post.ts'
import { isSecret } from '../../engine/webhooks/signature.ts'
import { readTargetUrl } from '../../engine/webhooks/target-url.ts'
import type { WebhookEventType, WebhookFilters } from '../../engine/webhooks/webhook.ts'
import type { BodyRule } from '../request/route.ts'
import { echo } from '../validation/echo.ts'
import type { Problem } from '../validation/parameter.ts'
import { canonicalId, type MarketIds } from './records.ts'
import { changeBody, createBody, rotateBody } from './schemas.ts'
import type { EventDescriptor } from './types/event-type.ts'

type CreateBody = Static<ReturnType<typeof createBody>>
type ChangeBody = Static<ReturnType<typeof changeBody>>
type FiltersBody = NonNullable<CreateBody['filters']>

/** The creation body, with every field that any of the bodies has. */
type AnyBody = Partial<CreateBody>

/** Dependencies of the rules. */
interface RequestFactors {
  readonly catalog: MarketIds
  /** Restricts the addresses that events may be posted to. */
  readonly policy: CallPolicy
  readonly types: readonly EventDescriptor[]
}

/** The rules of the three bodies, for the routes. */
export function webhookBodies(factors: RequestFactors) {
  const refine = (body: AnyBody) => problemsOf(body, factors)
  const rules = { refine, refineParts: refine }
  const create = createBody(factors.catalog.names, factors.types)
  const change = changeBody(factors.catalog.names, factors.types)
  const rotate = rotateBody()
  return {
    create: { schema: create, className: 'Webhook', ...rules } satisfies BodyRule<
      typeof create.properties
    >,
    change: { schema: change, className: 'WebhookChange', ...rules } satisfies BodyRule<
      typeof change.properties
    >,
    rotate: {
      schema: rotate,
      className: 'SecretRotation',
      ...rules,
      isOptional: true,
    } satisfies BodyRule<typeof rotate.properties>,
  }
}

/** Requires a body that has passed its rules. */
export function requestOf(body: CreateBody, factors: RequestFactors): WebhookRequest {
  return {
    url: targetOf(body.url, factors),
    eventTypes: body.event_types.map((name) => canonical(name, factors)),
    filters: filtersOf(body.filters ?? {}, factors.catalog),
    description: body.description ?? null,
    secret: body.secret ?? null,
  }
}

/** Requires a body that has passed its rules. */
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
  if ('problem' in target) throw new Error('the rules let a bad URL through')
  return target.url
}

/** The full name of an event type. The schema admits only known names. */
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

/** Removes duplicates, case-insensitively. */
function setOf(
  texts: readonly string[] | null | undefined,
  form: (text: string) => string,
): readonly string[] | null {
  return texts === undefined || texts === null ? null : [...new Set(texts.map(form))]
}

/** Problems in field order. */
function problemsOf(body: AnyBody, { catalog, policy, types }: RequestFactors): readonly Problem[] {
  const { names } = catalog
  const problems: Problem[] = []
  const target = body.url === undefined ? null : readTargetUrl(body.url, policy)
  if (target !== null && 'problem' in target) {
    problems.push(valueProblem(['url'], target.problem, repeatedUrl(body.url ?? '')))
  }
  problems.push(...repeatedTypes(body.event_types ?? [], { types }))
  const filters = body.filters ?? {}
  for (const [index, id] of (filters.market_ids ?? []).entries()) {
    if (isMarketId(id, names)) continue
    const prefixes = names.platforms.map((name) => `${name}_`)
    const reason = `a market id begins with ${prefixes.join(' or ')}`
    problems.push(valueProblem(['filters', 'market_ids', index], reason, echo(id)))
  }
  for (const name of ['market_ids', 'event_slugs', 'categories'] as const) {
    problems.push(...brokenTexts(['filters', name], filters[name] ?? []))
  }
  if (typeof body.secret === 'string' && !isSecret(body.secret)) {
    const reason = 'a secret is whsec_ and the base64 of 24 to 64 bytes'
    problems.push(valueProblem(['secret'], reason, '[redacted]'))
  }
  if (typeof body.description === 'string' && isBroken(body.description)) {
    problems.push(brokenText(['description'], body.description))
  }
  return problems
}

function isMarketId(id: string, names: VenueTable): boolean {
  const parts = names.split(id)
  return parts !== null && parts.native !== ''
}

/** Types that are named twice, including by short names. */
function repeatedTypes(
  given: readonly string[],
  factors: Pick<RequestFactors, 'types'>,
): readonly Problem[] {
  const types = given.map((name) => canonical(name, factors))
  return types.flatMap((type, index) => {
    if (types.indexOf(type) === index) return []
    return [valueProblem(['event_types', index], `${type} is named twice`, given[index])]
  })
}

function brokenTexts(at: Problem['loc'], texts: readonly string[]): readonly Problem[] {
  return texts.flatMap((text, index) => (isBroken(text) ? [brokenText([...at, index], text)] : []))
}

/** A lone surrogate would not survive storage as UTF-8. */
function isBroken(text: string): boolean {
  return /\p{Cs}/u.test(text)
}

function brokenText(at: Problem['loc'], text: string): Problem {
  const msg = 'Input should be a valid string, unable to parse raw data as a unicode string'
  return { type: 'string_unicode', loc: ['body', ...at], msg, input: echo(text) }
}

/** Text before an @ may be a password. */
function repeatedUrl(url: string): unknown {
  return url.includes('@') ? '[redacted]' : echo(url)
}

function valueProblem(at: Problem['loc'], reason: string, input: unknown): Problem {
  const msg = `Value error, ${reason}`
  return { type: 'value_error', loc: ['body', ...at], msg, input, ctx: { reason } }
}
