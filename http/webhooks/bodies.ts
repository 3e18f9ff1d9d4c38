// Writes the bodies of webhook events from the same records as REST and the stream. A body has at most 20 KB:
// descriptions are dropped first, then long texts are truncated.

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { CatalogView, MarketView, MatchesView } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { assert } from '../../engine/errors.ts'
import { formatTime, type PriceMicros, type TimeMs, timeMs } from '../../engine/units.ts'
import { type ChatEvent, type ChatFormat, chatMessage } from '../../engine/webhooks/chat-message.ts'
import type { EventCause, WebhookBodies } from '../../engine/webhooks/event-type.ts'
import type { WebhookEventType } from '../../engine/webhooks/webhook.ts'
import { marketRecord } from '../records/markets.ts'
import { type MarketTexts, marketTexts } from '../records/render.ts'
import type { EventDescriptor, PayloadParts } from './types/event-type.ts'
import { EVENTS } from './types/event-types.ts'

/** Standard Webhooks recommends less than 20 KB. */
const BODY_BYTES_MAX = 20_000
/** Maximum length of a text in the first attempt to shorten a body. Each further attempt halves it. */
const TEXT_CHARACTERS_FIRST = 1_024

export class EventBodies implements WebhookBodies {
  readonly types: readonly EventDescriptor[]
  readonly #byName: ReadonlyMap<WebhookEventType, EventDescriptor>
  readonly #parts: PayloadParts
  readonly #publicUrl: string
  readonly #clock: Clock

  /** Default of `types`: all event types. */
  constructor(parts: {
    catalog: CatalogView
    matches: Pick<MatchesView, 'matchedMarketOf'>
    clock: Clock
    types?: readonly EventDescriptor[]
    /** Origin of the dashboard, to which chat messages link. */
    publicUrl: string
  }) {
    this.types = parts.types ?? EVENTS
    this.#publicUrl = parts.publicUrl
    this.#byName = new Map(this.types.map((type) => [type.name, type]))
    const { catalog, clock, matches } = parts
    this.#clock = clock
    this.#parts = {
      catalog,
      textsOf(ref) {
        const view = catalog.byNumber(ref.number)
        return view === null ? textsWithout(ref) : marketTexts(view)
      },
      recordOf({ number }) {
        const view = catalog.byNumber(number)
        if (view === null) return 'null'
        return JSON.stringify(marketRecord(view, matches.matchedMarketOf(view.ref), clock.nowMs()))
      },
    }
  }

  write(type: WebhookEventType, cause: EventCause, base: PriceMicros | null = null): Uint8Array {
    const payload = this.#byName.get(type)?.write(cause, this.#parts, base) ?? null
    assert(payload !== null, `${cause.kind} causes ${type}`)
    return bytesOf(type, payload.timeMs, payload.data)
  }

  chat(format: ChatFormat, bodies: readonly Uint8Array[], url: string): Uint8Array {
    const events = bodies.map((body) => this.#chatEvent(body))
    return Buffer.from(JSON.stringify(chatMessage(format, events, url)))
  }

  #chatEvent(body: Uint8Array): ChatEvent {
    const value = jsonOf(body)
    if (!Value.Check(BodySchema, value)) return damagedEvent(this.#clock.nowMs())
    const type = this.#byName.get(value.type)
    const texts = type?.chat(value.data) ?? null
    const { marketId = null, title, lines = [] } = texts ?? { title: type?.summary ?? value.type }
    const market = marketId === null ? null : this.#parts.catalog.find(marketId)
    const named = market === null ? [] : [market.summary.question, market.ref.platform]
    return {
      kind: type?.noun ?? 'event',
      title,
      lines: [...named, ...lines],
      link:
        marketId === null ? null : `${this.#publicUrl}/#/market/${encodeURIComponent(marketId)}`,
      usd: texts?.usd ?? 0,
      timeMs: Date.parse(value.timestamp),
    }
  }
}

/** Null if the stored body is damaged. */
function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return null
  }
}

const damagedEvent = (timeMs: TimeMs): ChatEvent => ({
  ...{ kind: 'event', title: 'An event that cannot be shown', lines: [], link: null, usd: 0 },
  timeMs,
})

const BodySchema = Type.Object({
  type: Type.String(),
  timestamp: Type.String(),
  data: Type.Unknown(),
})

/** Texts of a market that is no longer in the catalogue. */
function textsWithout({ id, platform }: Pick<MarketView['ref'], 'id' | 'platform'>): MarketTexts {
  return { id: JSON.stringify(id), platform: JSON.stringify(platform), labels: [] }
}

/** Clamps times to the range of Date. */
function isoTime(time: TimeMs): string {
  return formatTime(timeMs(Math.max(-DATE_MS_MAX, Math.min(DATE_MS_MAX, time))))
}

/** Maximum time of Date: a hundred million days (ECMA-262, section 21.4.1.1). */
const DATE_MS_MAX = 8_640_000_000_000_000

function bytesOf(type: WebhookEventType, time: TimeMs, data: string): Uint8Array {
  const head = `{"type":"${type}","timestamp":"${isoTime(time)}","data":`
  const bytes = Buffer.from(`${head}${data}}`)
  if (bytes.length <= BODY_BYTES_MAX) return bytes
  const value: unknown = JSON.parse(data)
  for (let most = TEXT_CHARACTERS_FIRST; ; most = Math.floor(most / 2)) {
    const text = JSON.stringify(value, (name, part) => shortened(name, part, most))
    const cut = Buffer.from(`${head}${text}}`)
    if (cut.length <= BODY_BYTES_MAX || most <= OUTCOMES_MIN) return cut
  }
}

/** Fields that are never truncated. A truncated identifier would be wrong. */
const NEVER_CUT = /^(?:id|\w+_id|platform|maker|taker|wallet|tx_hash|slug|event_slug)$/
/** Fields that are null instead of truncated. */
const NEVER_CUT_OR_NULL = /^(?:url|image)$/
/** Minimum length of a truncated list, since a market has at least two outcomes. */
const OUTCOMES_MIN = 2

function shortened(name: string, part: unknown, most: number): unknown {
  if (name === 'description') return null
  if (Array.isArray(part)) return part.slice(0, most)
  if (typeof part !== 'string' || part.length <= most || NEVER_CUT.test(name)) return part
  if (NEVER_CUT_OR_NULL.test(name)) return null
  // Drops the first half of a surrogate pair that the cut has split.
  return `${part.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`
}
