// Trading fees from Gamma's rows, else from `new_market` messages or the CLOB (README.md, Fees). Unreadable fees are
// `unknown`.

import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../clock.ts'
import type { MarketSeenEvent } from '../../../events.ts'
import { getIfFound, type JsonReader } from '../../../fetch.ts'
import type { NativeMarketId } from '../../../ids.ts'
import { microsOf } from '../../../json-fields.ts'
import { isRecord } from '../../../json-record.ts'
import {
  CURVE_ZERO,
  FEES_UNKNOWN,
  type FeeModel,
  type FeeRounding,
  feeCurve,
  isEqualFees,
  type MarketFees,
  MODEL_UNKNOWN,
  sharedFees,
} from '../../../market/fees.ts'
import type { ReadListing } from '../../../market/market.ts'
import { MICROS, parseSize, type SizeMicros } from '../../../units.ts'
import { SuspectAnswerError } from '../../answer-checks.ts'
import { Poller } from '../../poller.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { conditionId } from '../condition-id.ts'
import type { Json } from '../messages.ts'

/** Fees have five decimals. The venue does not document whether they are rounded up or down. */
const ROUNDING: FeeRounding = { fillStepMicros: 10, direction: 'unknown', orderStepMicros: null }
/** The only fee type that means no fees although the row enables fees. */
const FREE_TYPE = 'zero_fees'

/** The highest documented rate is 0.25. A rate above 0.5 must be in another unit, such as percent. */
const RATE_MAX_MICROS = MICROS / 2

interface Names {
  readonly rate: string
  readonly exponent: string
  readonly takerOnly: string
  readonly rebate: string
}

const GAMMA: Names = {
  rate: 'rate',
  exponent: 'exponent',
  takerOnly: 'takerOnly',
  rebate: 'rebateRate',
}
const NEW_MARKET: Names = { ...GAMMA, takerOnly: 'taker_only', rebate: 'rebate_rate' }
/** The CLOB does not return the maker rebate. */
const CLOB: Names = { rate: 'r', exponent: 'e', takerOnly: 'to', rebate: '' }

export function isScheduleUnreadable({ feeSchedule }: Json): boolean {
  return isStated(feeSchedule) && ofSchedule(feeSchedule, GAMMA, undefined).kind === 'unknown'
}

export function readFees({ feesEnabled, feeType, feeSchedule }: Json): MarketFees {
  if (isStated(feeSchedule)) {
    return feesOf(ofSchedule(feeSchedule, GAMMA, feesEnabled), SCHEDULE_SOURCE)
  }
  if (feeType === FREE_TYPE) return feesOf(NO_FEES, 'gamma.feeType')
  if (feesEnabled === false) return feesOf(NO_FEES, 'gamma.feesEnabled')
  if (feesEnabled === true) return feesOf(MODEL_UNKNOWN, 'gamma.feesEnabled')
  return typeof feeType === 'string' ? feesOf(MODEL_UNKNOWN, 'gamma.feeType') : FEES_UNKNOWN
}

export function readNewMarketFees(message: Json): MarketFees {
  const { fees_enabled: isEnabled, fee_schedule: schedule } = message
  const source = 'socket.new_market'
  if (isStated(schedule)) return feesOf(ofSchedule(schedule, NEW_MARKET, isEnabled), source)
  return isEnabled === false ? feesOf(NO_FEES, source) : FEES_UNKNOWN
}

/** Reads the fees of a CLOB market. A market without a schedule has unknown fees. */
export function readClobFees({ fd }: Json): MarketFees {
  return isStated(fd) ? feesOf(ofSchedule(fd, CLOB, undefined), 'clob.fd') : FEES_UNKNOWN
}

/** Minimum order size in contracts: Gamma's `orderMinSize` or the CLOB's `mos`. */
export function orderSizeMinOf(value: unknown): SizeMicros | null {
  const size = typeof value === 'number' ? parseSize(String(value)) : null
  return size === 0 ? null : size
}

const SCHEDULE_SOURCE = 'gamma.feeSchedule'
const isStated = (value: unknown): boolean => value !== null && value !== undefined

const NO_FEES: FeeModel = {
  ...MODEL_UNKNOWN,
  kind: 'none',
  taker: CURVE_ZERO,
  maker: CURVE_ZERO,
  rounding: ROUNDING,
}

function feesOf(model: FeeModel, source: string): MarketFees {
  return sharedFees({ now: { ...model, source }, next: null, waivedUntilMs: null })
}

function ofSchedule(schedule: unknown, names: Names, feesEnabled: unknown): FeeModel {
  if (!isRecord(schedule)) return MODEL_UNKNOWN
  const exponentMicros = microsOf(schedule, names.exponent)
  const taker = feeCurve(
    microsOf(schedule, names.rate) ?? Number.NaN,
    (exponentMicros ?? Number.NaN) / MICROS,
  )
  if (taker === null || taker.rateMicros > RATE_MAX_MICROS) return MODEL_UNKNOWN
  if (taker.rateMicros === 0) return NO_FEES
  if (feesEnabled === false) return MODEL_UNKNOWN
  return {
    ...MODEL_UNKNOWN,
    kind: 'quadratic',
    taker,
    // No source states the rate of makers.
    maker: schedule[names.takerOnly] === true ? CURVE_ZERO : null,
    rounding: ROUNDING,
    rebateMicros: microsOf(schedule, names.rebate),
  }
}

interface Terms {
  readonly fees: MarketFees
  readonly orderSizeMin: SizeMicros | null
}

interface StatedTerms extends Terms {
  readonly atMs: number
}

/** Maximum cached terms. Evicted terms are requested again when the market's listing is read. */
const STATED_MAX = 10_000
/** Maximum queued markets. A market that does not fit is queued when its listing is read again. */
const WANTED_MAX = 1_000
const BETWEEN_CALLS_MS = 500
const AFTER_FAILURE_MS = 30_000
const REFETCH_AFTER_MS = 3_600_000

interface FeesParts {
  readonly clob: JsonReader
  readonly clock: Clock
  readonly counters: Pick<VenueCounters, 'trouble' | 'suspectAnswers' | 'drift'>
  readonly emit: (event: MarketSeenEvent) => void
}

/** Adds fees to listings whose rows have none. Polls the CLOB between `start` and `stop`. */
export class PolymarketFees {
  readonly #parts: FeesParts
  readonly #poller: Poller
  readonly #stated = new LRUCache<NativeMarketId, StatedTerms>({ max: STATED_MAX })
  readonly #wanted = new Set<NativeMarketId>()

  constructor(parts: FeesParts) {
    this.#parts = parts
    const times = { everyMs: () => BETWEEN_CALLS_MS, afterFailureMs: AFTER_FAILURE_MS }
    this.#poller = new Poller({ ...parts, ...times, trouble: 'fees_not_read' }, (signal) =>
      this.#fetch(signal),
    )
  }

  start(): void {
    this.#poller.start()
  }

  stop(): Promise<void> {
    return this.#poller.stop()
  }

  /** Stores the fees of a `new_market` message. A message without fees does not overwrite stored fees. */
  note(market: NativeMarketId, fees: MarketFees): void {
    if (fees.now.source === null) return
    this.#noteUnread(market, fees)
    this.#store(market, { fees, orderSizeMin: this.#stated.get(market)?.orderSizeMin ?? null })
  }

  /**
   * Adds fees from other sources. Queues a request for an open market without fees. If Gamma has an unreadable
   * schedule, the fees stay unknown, because another source could contradict it.
   */
  completed(market: ReadListing): ReadListing {
    const { kind, source } = market.fees.now
    if (kind !== 'unknown' || source === SCHEDULE_SOURCE) return market
    const { nativeId: id, status } = market
    const stated = this.#stated.get(id)
    const isOld =
      stated === undefined || this.#parts.clock.monotonicMs() - stated.atMs >= REFETCH_AFTER_MS
    if (isOld && status === 'open' && this.#wanted.size < WANTED_MAX) this.#wanted.add(id)
    if (stated === undefined) return market
    return {
      ...market,
      fees: stated.fees.now.kind === 'unknown' ? market.fees : stated.fees,
      orderSizeMin: market.orderSizeMin ?? stated.orderSizeMin,
    }
  }

  #noteUnread(market: NativeMarketId, { now }: MarketFees): void {
    if (now.kind !== 'unknown' || now.source === null) return
    this.#parts.counters.drift.note('fees.unreadable', now.source, market)
  }

  /** Requests the fees of one market. After a failure the market is queued again when its listing is read. */
  async #fetch(signal: AbortSignal): Promise<void> {
    const [market] = this.#wanted
    if (market === undefined) return
    this.#wanted.delete(market)
    const { clob, clock, emit } = this.#parts
    const before = this.#stated.get(market)?.fees ?? FEES_UNKNOWN
    const answer = await getIfFound(clob, `/clob-markets/${market}`, {}, signal)
    const { fees: read, orderSizeMin } = termsOf(answer, market)
    this.#noteUnread(market, read)
    const fees = read.now.source === null ? before : read
    this.#store(market, { fees, orderSizeMin })
    if (isEqualFees(fees, before)) return
    const nowMs = clock.nowMs()
    emit({ kind: 'marketSeen', venue: 'a', market, venueTimeMs: nowMs, receivedAtMs: nowMs })
  }

  #store(market: NativeMarketId, terms: Terms): void {
    this.#stated.set(market, { ...terms, atMs: this.#parts.clock.monotonicMs() })
  }
}

/** Terms in a response of the CLOB. `undefined` means that the CLOB responded with 404. */
function termsOf(answer: unknown, market: NativeMarketId): Terms {
  if (answer === undefined) return { fees: FEES_UNKNOWN, orderSizeMin: null }
  if (isRecord(answer) && typeof answer.c === 'string' && conditionId(answer.c) === market) {
    return { fees: readClobFees(answer), orderSizeMin: orderSizeMinOf(answer.mos) }
  }
  throw new SuspectAnswerError('market', 'shape', `not of ${market}`)
}
