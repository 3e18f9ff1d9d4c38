// What a market of venue a costs, from the fields in which Gamma states it; where Gamma does not, by `new_market` and by
// the CLOB, which is asked for one market at a time (README.md, Fees). A statement that cannot be read, or that contradicts
// itself, is unknown with its source.

import { type Clock, pause } from '../../../clock.ts'
import type { MarketSeenEvent } from '../../../events.ts'
import { FetchError, type HttpClient } from '../../../fetch.ts'
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
import type { VenueCounters } from '../../venue-counters.ts'
import { conditionId } from '../condition-id.ts'
import type { Json } from '../messages.ts'

/** Five decimals; whether up or down is not known. */
const ROUNDING: FeeRounding = { fillStepMicros: 10, direction: 'unknown', orderStepMicros: null }
/** The one type of fees that means none while fees are enabled. */
const FREE_TYPE = 'zero_fees'

/** The highest rate that was documented is 0.25; one above twice that is another quantity (parts of a hundred). */
const RATE_MAX_MICROS = MICROS / 2

/** What a schedule's figures are called where it is stated. */
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
/** The CLOB does not say what makers get back. */
const CLOB: Names = { rate: 'r', exponent: 'e', takerOnly: 'to', rebate: '' }

/** Whether a schedule is stated that cannot be read, whatever else the row says of its fees. */
export function isScheduleUnreadable({ feeSchedule }: Json): boolean {
  return isStated(feeSchedule) && ofSchedule(feeSchedule, GAMMA, undefined).kind === 'unknown'
}

/** The fees that a Gamma row states. */
export function readFees({ feesEnabled, feeType, feeSchedule }: Json): MarketFees {
  if (isStated(feeSchedule)) {
    return feesOf(ofSchedule(feeSchedule, GAMMA, feesEnabled), SCHEDULE_SOURCE)
  }
  if (feeType === FREE_TYPE) return feesOf(NO_FEES, 'gamma.feeType')
  if (feesEnabled === false) return feesOf(NO_FEES, 'gamma.feesEnabled')
  if (feesEnabled === true) return feesOf(MODEL_UNKNOWN, 'gamma.feesEnabled')
  return typeof feeType === 'string' ? feesOf(MODEL_UNKNOWN, 'gamma.feeType') : FEES_UNKNOWN
}

/** The fees that the message `new_market` states. */
export function readNewMarketFees(message: Json): MarketFees {
  const { fees_enabled: isEnabled, fee_schedule: schedule } = message
  const source = 'socket.new_market'
  if (isStated(schedule)) return feesOf(ofSchedule(schedule, NEW_MARKET, isEnabled), source)
  return isEnabled === false ? feesOf(NO_FEES, source) : FEES_UNKNOWN
}

/** The fees that the CLOB states of a market; without a schedule it says nothing of them. */
export function readClobFees({ fd }: Json): MarketFees {
  return isStated(fd) ? feesOf(ofSchedule(fd, CLOB, undefined), 'clob.fd') : FEES_UNKNOWN
}

/** The least contracts of an order: Gamma's `orderMinSize`, the CLOB's `mos`. */
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
    // What makers would pay otherwise is told nowhere.
    maker: schedule[names.takerOnly] === true ? CURVE_ZERO : null,
    rounding: ROUNDING,
    rebateMicros: microsOf(schedule, names.rebate),
  }
}

/** What is known of trading a market. */
interface Terms {
  readonly fees: MarketFees
  readonly orderSizeMin: SizeMicros | null
}

/** What another source than Gamma said of a market, and when by the monotonic clock. */
interface StatedTerms extends Terms {
  readonly atMs: number
}

/** Beyond these the one said longest ago goes, and the market's next reading asks for it again. */
const STATED_MAX = 10_000
/** Markets that wait to be asked for; a further one comes with its next reading. */
const WANTED_MAX = 1_000
const BETWEEN_CALLS_MS = 500
const AFTER_FAILURE_MS = 30_000
const REFETCH_AFTER_MS = 3_600_000

/** Completes the listings whose fees Gamma does not say; between start and stop the CLOB is asked for theirs. */
export class PolymarketFees {
  readonly #clob: Pick<HttpClient, 'getJson'>
  readonly #clock: Clock
  readonly #counters: Pick<VenueCounters, 'trouble' | 'suspectAnswers' | 'drift'>
  readonly #emit: (event: MarketSeenEvent) => void
  readonly #stated = new Map<NativeMarketId, StatedTerms>()
  readonly #wanted = new Set<NativeMarketId>()
  readonly #abort = new AbortController()
  #task: Promise<void> = Promise.resolve()

  constructor(parts: {
    readonly clob: Pick<HttpClient, 'getJson'>
    readonly clock: Clock
    readonly counters: Pick<VenueCounters, 'trouble' | 'suspectAnswers' | 'drift'>
    readonly emit: (event: MarketSeenEvent) => void
  }) {
    this.#clob = parts.clob
    this.#clock = parts.clock
    this.#counters = parts.counters
    this.#emit = parts.emit
  }

  start(): void {
    this.#task = this.#run()
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#task
  }

  /** What `new_market` said; nothing said takes nothing back. */
  note(market: NativeMarketId, fees: MarketFees): void {
    if (fees.now.source === null) return
    this.#noteUnread(market, fees)
    this.#store(market, { fees, orderSizeMin: this.#stated.get(market)?.orderSizeMin ?? null })
  }

  /**
   * The listing with fees, where they are known. An open market's that are not are asked for; but where Gamma states a
   * schedule that cannot be read, another one only contradicts it.
   */
  completed(market: ReadListing): ReadListing {
    const { kind, source } = market.fees.now
    if (kind !== 'unknown' || source === SCHEDULE_SOURCE) return market
    const { nativeId: id, status } = market
    const stated = this.#stated.get(id)
    const isOld =
      stated === undefined || this.#clock.monotonicMs() - stated.atMs >= REFETCH_AFTER_MS
    if (isOld && status === 'open' && this.#wanted.size < WANTED_MAX) this.#wanted.add(id)
    if (stated === undefined) return market
    return {
      ...market,
      fees: stated.fees.now.kind === 'unknown' ? market.fees : stated.fees,
      orderSizeMin: market.orderSizeMin ?? stated.orderSizeMin,
    }
  }

  /** Another source than Gamma states fees that cannot be read. */
  #noteUnread(market: NativeMarketId, { now }: MarketFees): void {
    if (now.kind !== 'unknown' || now.source === null) return
    this.#counters.drift.note('fees.unreadable', now.source, market)
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted) {
      const [market] = this.#wanted
      const isAnswered = market === undefined || (await this.#fetch(market))
      await pause(this.#clock, isAnswered ? BETWEEN_CALLS_MS : AFTER_FAILURE_MS, signal)
    }
  }

  /** False: no answer that is believed. The market's next reading wants it again. */
  async #fetch(market: NativeMarketId): Promise<boolean> {
    const { signal } = this.#abort
    this.#wanted.delete(market)
    try {
      const before = this.#stated.get(market)?.fees ?? FEES_UNKNOWN
      const { fees: answer, orderSizeMin } = await this.#read(market)
      this.#noteUnread(market, answer)
      const fees = answer.now.source === null ? before : answer
      this.#store(market, { fees, orderSizeMin })
      if (isEqualFees(fees, before)) return true
      const nowMs = this.#clock.nowMs()
      const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
      this.#emit({ kind: 'marketSeen', venue: 'a', market, ...times })
      return true
    } catch (error) {
      if (signal.aborted) return true
      if (error instanceof SuspectAnswerError) this.#counters.suspectAnswers.note(error)
      else this.#counters.trouble('fees_not_read', { detail: String(error) })
      return false
    }
  }

  async #read(market: NativeMarketId): Promise<Terms> {
    const { signal } = this.#abort
    try {
      const path = `/clob-markets/${market}`
      const answer = await this.#clob.getJson(path, {}, { signal, expected: [404] })
      const isOfMarket =
        isRecord(answer) && typeof answer.c === 'string' && conditionId(answer.c) === market
      if (isOfMarket)
        return { fees: readClobFees(answer), orderSizeMin: orderSizeMinOf(answer.mos) }
      throw new SuspectAnswerError('market', 'shape', `not of ${market}`)
    } catch (error) {
      if (error instanceof FetchError && error.status === 404)
        return { fees: FEES_UNKNOWN, orderSizeMin: null }
      throw error
    }
  }

  #store(market: NativeMarketId, terms: Terms): void {
    this.#stated.delete(market)
    this.#stated.set(market, { ...terms, atMs: this.#clock.monotonicMs() })
    const [oldest] = this.#stated.keys()
    if (this.#stated.size > STATED_MAX && oldest !== undefined) this.#stated.delete(oldest)
  }
}
