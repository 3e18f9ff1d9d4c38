// Webhooks with tables that can crash, a manual clock and no network.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { WebhookRequest, WebhookView } from '../../../actors/webhooks/views.ts'
import { Webhooks } from '../../../actors/webhooks/webhooks.ts'
import type { Tier } from '../../../engine/accounts/account.ts'
import { EngineError } from '../../../engine/errors.ts'
import type { TradeUpdate } from '../../../engine/events.ts'
import { type AccountId, accountId } from '../../../engine/ids.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { ChatFormat } from '../../../engine/webhooks/chat-message.ts'
import type { EventCause, WebhookBodies } from '../../../engine/webhooks/event-type.ts'
import { SecretBox } from '../../../engine/webhooks/secret-box.ts'
import type { Delivery, WebhookNumber } from '../../../engine/webhooks/webhook.ts'
import { type WebhookShare, webhookShareOf } from '../../../engine/webhooks/webhook-share.ts'
import { EVENTS } from '../../../http/webhooks/types/event-types.ts'
import type { MarketSummary } from '../../../storage/contract/storage.ts'
import { FakeCaller } from '../fakes/caller.ts'
import { CrashingOutbox } from '../fakes/crashing-outbox.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { MemoryWebhooks } from '../reference/memory.ts'
import { marketRef } from './builders.ts'
import { NO_FILTERS } from './stored-webhooks.ts'

export const ALICE = accountId('acc_alice')
export const BOB = accountId('acc_bob')
export const request = (set: Partial<WebhookRequest> = {}): WebhookRequest => ({
  url: 'https://example.com/hook',
  format: 'standard',
  eventTypes: ['trade.created'],
  filters: NO_FILTERS,
  description: null,
  secret: null,
  ...set,
})

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))

/** Counts how often a body was written. */
export class CountingBodies implements WebhookBodies {
  readonly types: WebhookBodies['types'] = EVENTS
  count = 0

  write(type: string, cause: EventCause, base: number | null): Uint8Array {
    this.count += 1
    return bytes({ type, data: dataOf(cause, base), count: this.count })
  }

  /** Lists the counts of the bodies. */
  chat(format: ChatFormat, bodies: readonly Uint8Array[]): Uint8Array {
    return bytes({ format, counts: bodies.map(idOf) })
  }
}

function idOf(body: Uint8Array): unknown {
  return JSON.parse(Buffer.from(body).toString()).count
}

function dataOf(cause: EventCause, base: number | null): unknown {
  if (cause.kind === 'test') return { webhook: cause.webhook }
  const market = cause.market.id
  if (cause.kind === 'trade') return { market, id: cause.trade.nativeId }
  if (cause.kind === 'whale') return { market, id: cause.whale.nativeId }
  if (cause.kind === 'price') return { market, price: cause.price.price, base }
  const isMatch = cause.kind === 'lifecycle' && cause.event === 'matched'
  return isMatch ? { one: market, other: cause.matchedMarket?.id } : { market }
}

export class WebhookWorld {
  readonly clock: ManualClock
  readonly caller: FakeCaller
  readonly box = new SecretBox('a key for tests')
  readonly table: MemoryWebhooks
  outbox: CrashingOutbox
  bodies = new CountingBodies()
  metrics = new Metrics()
  webhooks: Webhooks
  /** True: writes are committed at once. False: a test calls `commit`. */
  isCommitting = true
  /** True: commits fail as they do on a full disk. */
  isDiskFull = false
  readonly summaries = new Map<number, Pick<MarketSummary, 'eventSlug' | 'category'>>()
  /** Accounts that are disabled or deleted. */
  readonly inactiveAccounts = new Set<AccountId>()
  /** Default: enterprise. */
  readonly tiers = new Map<AccountId, Tier>()
  /** Overrides the share of an account's tier. */
  readonly shares = new Map<AccountId, WebhookShare>()
  readonly #waiting: { resolve: () => void }[] = []
  readonly #seed: string | number
  readonly #bounds: { pendingMax?: number; pendingTotalMax?: number; mustVerify?: boolean }
  #tradeCount = 0

  constructor(
    set: {
      seed?: string | number
      pendingMax?: number
      pendingTotalMax?: number
      clock?: ManualClock
      mustVerify?: boolean
      outbox?: CrashingOutbox
    } = {},
  ) {
    this.clock = set.clock ?? new ManualClock()
    this.caller = new FakeCaller(this.clock)
    this.table = new MemoryWebhooks()
    this.outbox = set.outbox ?? new CrashingOutbox()
    this.#seed = set.seed ?? 'webhooks'
    const { pendingMax, pendingTotalMax, mustVerify = false } = set
    this.#bounds = {
      mustVerify,
      ...(pendingMax === undefined ? {} : { pendingMax }),
      ...(pendingTotalMax === undefined ? {} : { pendingTotalMax }),
    }
    this.webhooks = this.#open()
  }

  #open(): Webhooks {
    const { clock, caller, box, table, outbox, bodies } = this
    this.metrics = new Metrics()
    const opened = new Webhooks({
      storage: { webhooks: table, outbox, committed: () => this.#committed(outbox) },
      ...{ clock, caller, box, bodies, log: silentLog, metrics: this.metrics },
      random: seededRandom(this.#seed, clock.monotonicMs()),
      market: (number) => this.summaries.get(number) ?? null,
      isAccountActive: (account) => !this.inactiveAccounts.has(account),
      shareOf: (account) =>
        this.shares.get(account) ??
        webhookShareOf({ tier: this.tiers.get(account) ?? 'enterprise' }),
      ...this.#bounds,
    })
    opened.start()
    return opened
  }

  #committed(outbox: CrashingOutbox): Promise<void> {
    if (this.isDiskFull) return Promise.reject(new EngineError('INTERNAL', 'the disk is full'))
    return new Promise((resolve) => {
      const settled = () => {
        outbox.commit()
        resolve()
      }
      if (this.isCommitting) settled()
      else this.#waiting.push({ resolve: settled })
    })
  }

  commit(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve()
  }

  /** Simulates a crash: a new process opens the stored data. With `isLossy` the last writes are lost. */
  async crash(isLossy = !this.isCommitting): Promise<void> {
    if (!isLossy) this.outbox.commit()
    // The pending calls are dropped, as a killed process drops its sockets.
    const outbox = this.outbox.crash()
    this.webhooks.stop()
    this.#waiting.splice(0)
    await settle()
    this.outbox = outbox
    this.webhooks = this.#open()
    await settle()
  }

  /** Advances the clock from one due delivery to the next. */
  async pass(ms: number): Promise<void> {
    const endMs = this.clock.monotonicMs() + ms
    await settle()
    for (let leftMs = ms; leftMs > 0; leftMs = endMs - this.clock.monotonicMs()) {
      this.clock.advance(Math.max(1, Math.min(leftMs, this.#nextDueInMs())))
      await settle()
    }
  }

  #nextDueInMs(): number {
    const nowMs = this.clock.nowMs()
    let dueMs = Number.POSITIVE_INFINITY
    for (const { number } of this.table.all()) {
      for (const variant of ['first', 'retry'] as const) {
        for (const entry of this.outbox.due({
          webhook: number,
          attemptKind: variant,
          after: null,
          limit: 64,
        })) {
          if (entry.dueAtMs > nowMs) dueMs = Math.min(dueMs, entry.dueAtMs)
        }
      }
    }
    // While calls are open, time advances at most a second, because slow calls end in between.
    return this.caller.openCount > 0 ? Math.min(dueMs - nowMs, 1_000) : dueMs - nowMs
  }

  /** Creates a webhook of Alice, or of another account. */
  async create(
    set: Partial<WebhookRequest> = {},
    account: AccountId = ALICE,
  ): Promise<WebhookView> {
    return (await this.webhooks.create(account, request(set))).webhook
  }

  /** Publishes a trade as the publisher does. */
  trade(set: Partial<TradeUpdate['trade']> & { ageMs?: number; market?: string } = {}): string {
    this.#tradeCount += 1
    const { ageMs = 0, market = 'm', ...trade } = set
    const update = tradeUpdate({
      market: marketRef(market, 1),
      nativeId: `t${this.#tradeCount}`,
      atMs: this.clock.nowMs() - ageMs,
      ...trade,
    })
    this.webhooks.watcher.onUpdate(update)
    return update.trade.nativeId
  }

  numberOf(id: string): WebhookNumber {
    for (const webhook of this.table.all()) if (webhook.id === id) return webhook.number
    throw new Error(`no webhook ${id}`)
  }

  /** All existing deliveries of a webhook, oldest first. */
  deliveries(id: string): readonly Delivery[] {
    const query = { status: null, before: null, limit: 1_000_000 }
    return this.outbox.list({ webhook: this.numberOf(id), ...query }).toReversed()
  }

  counts(id: string) {
    const { counts } = this.outbox.state(this.numberOf(id))
    return counts
  }
}

/** Alice has one webhook, whose receiver gives this answer. */
export async function oneWebhook(
  answer?: FakeCaller['answer'],
  set: ConstructorParameters<typeof WebhookWorld>[0] = {},
): Promise<{ readonly world: WebhookWorld; readonly view: WebhookView }> {
  const world = new WebhookWorld(set)
  const view = await world.create()
  if (answer !== undefined) world.caller.answer = answer
  return { world, view }
}

/** Runs event-loop ticks until all promises that are ready have resolved. */
export async function settle(): Promise<void> {
  for (let tick = 0; tick < 2; tick += 1) await nextTurn()
}

/** A purchase, by default of 20 dollars. */
export function tradeUpdate({
  market,
  atMs,
  ...set
}: { market: TradeUpdate['market']; atMs: number } & Partial<TradeUpdate['trade']>): TradeUpdate {
  const time = timeMs(atMs)
  return {
    kind: 'trade',
    market,
    ...{ offset: 1, seq: 1, venueTimeMs: time, receivedAtMs: time },
    trade: {
      ...{ nativeId: 't', timeMs: time, ordinal: 0, side: 'buy', outcomeIndex: 0 },
      price: priceMicros(400_000),
      size: sizeMicros(50_000_000),
      usd: usdMicros(20_000_000),
      ...{ maker: null, taker: '0xTaker', txHash: null, isBlock: false },
      ...set,
    },
  }
}
