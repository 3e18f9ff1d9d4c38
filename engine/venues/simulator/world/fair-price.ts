// The fair price of a listing at any time. It depends only on the seed, the listing and the time, so a restart
// continues the same world. A question has one fair price at both venues. The prices of an exclusive event sum to a
// dollar.
//
//   log-odds = opening odds + noise of the mover key
//   then pulled towards the payout over the last part of the market's life, exact once determined
//   in an exclusive event: divided by the sum over its markets

import { hash32 } from '../../../random.ts'
import {
  DAY_MS,
  HOUR_MS,
  MICROS,
  MINUTE_MS,
  type PriceMicros,
  priceMicros,
  type TimeMs,
} from '../../../units.ts'
import type { PlannedEvent, PlannedMarket } from '../calendar.ts'
import type { SimListing } from '../model.ts'
import { mix32, mixUnit } from './mix.ts'

/**
 * Each octave of noise has a cell width, and an amplitude in log-odds that grows about with the width's square root.
 */
const OCTAVES: readonly { readonly cellMs: number; readonly swing: number }[] = [
  { cellMs: 7 * DAY_MS, swing: 0.8 },
  { cellMs: 2 * DAY_MS, swing: 0.5 },
  { cellMs: 12 * HOUR_MS, swing: 0.3 },
  { cellMs: 3 * HOUR_MS, swing: 0.18 },
  { cellMs: 45 * MINUTE_MS, swing: 0.1 },
  { cellMs: 12 * MINUTE_MS, swing: 0.055 },
  { cellMs: 3 * MINUTE_MS, swing: 0.03 },
  { cellMs: MINUTE_MS, swing: 0.018 },
]

/** Each kind of news jump occurs at most once per cell. It fades over `cellCount` cells. */
const JUMPS: readonly {
  readonly cellMs: number
  readonly cellCount: number
  readonly chance: number
  readonly swing: number
}[] = [
  { cellMs: 6 * HOUR_MS, cellCount: 8, chance: 0.08, swing: 1.1 },
  { cellMs: 20 * MINUTE_MS, cellCount: 9, chance: 0.06, swing: 0.35 },
]

/** Magnitude of the log-odds at the close, which means a price of 0.9975 or 0.0025. */
const CERTAIN = 6
const PRICE_MIN = 1_000

type EndTimes = Pick<SimListing, 'closeMs' | 'determineMs'>

/**
 * The fair prices of an event's markets, in the order of the markets. `times` default to the times of the planned
 * listings.
 */
export function fairPricesOf(
  seed: number,
  { event, markets }: PlannedEvent,
  times?: EndTimes,
): readonly FairPrice[] {
  const group = event.isMutuallyExclusive && markets.length > 1 ? new ExclusiveGroup() : null
  const prices = markets.map((planned) => new FairPrice({ seed, planned, group, times }))
  group?.fill(prices)
  return prices
}

export class FairPrice {
  readonly #openingOdds: number
  readonly #sign: 1 | -1
  readonly #moverKey: number
  readonly #times: EndTimes
  readonly #lifeMs: number
  readonly #payout: PriceMicros
  readonly #group: ExclusiveGroup | null

  constructor(options: {
    seed: number
    planned: PlannedMarket
    group?: ExclusiveGroup | null
    times?: EndTimes | undefined
  }) {
    const { planned, seed } = options
    const prior = Math.min(Math.max(planned.prior, 0.002), 0.998)
    this.#openingOdds = Math.log(prior / (1 - prior))
    this.#sign = planned.isInverted ? -1 : 1
    this.#moverKey = hash32('mover', seed, planned.moverKey)
    this.#times = options.times ?? planned.listing
    this.#lifeMs = planned.lifeMs
    this.#payout = planned.listing.payout
    this.#group = options.group ?? null
  }

  /** Between 0.001 and 0.999 until the result is known. Then the payout. */
  at(atMs: TimeMs): PriceMicros {
    if (atMs >= this.#times.determineMs) return this.#payout
    return priceMicros(this.#group?.priceOf(this, atMs) ?? this.alone(atMs))
  }

  /** The price before it is normalized with the other outcomes of its event. */
  alone(atMs: number): number {
    const free = this.#openingOdds + this.#sign * moverOdds(this.#moverKey, atMs)
    const pull = closingPull(this.#times.closeMs - atMs, this.#lifeMs)
    const odds = pull === 0 ? free : (1 - pull) * free + pull * payoutOdds(this.#payout)
    return clamp(MICROS / (1 + Math.exp(-odds)))
  }
}

/** Normalizes the prices of an exclusive event's outcomes to a sum of one dollar. */
class ExclusiveGroup {
  #members: readonly FairPrice[] = []
  /** Cached, because callers usually request all markets for the same time. */
  #atMs = Number.NaN
  #shares: ReadonlyMap<FairPrice, number> = new Map()

  fill(members: readonly FairPrice[]): void {
    this.#members = members
  }

  priceOf(member: FairPrice, atMs: number): number {
    if (atMs !== this.#atMs) {
      this.#shares = this.#sharesAt(atMs)
      this.#atMs = atMs
    }
    return this.#shares.get(member) ?? 0
  }

  /** The largest share absorbs the errors of rounding and of the minimum price. */
  #sharesAt(atMs: number): ReadonlyMap<FairPrice, number> {
    const alone = this.#members.map((member) => member.alone(atMs))
    const sum = alone.reduce((total, price) => total + price, 0)
    const shares = alone.map((price) => clamp((price * MICROS) / sum))
    const largest = shares.indexOf(Math.max(...shares))
    const others = shares.reduce((total, share, at) => (at === largest ? total : total + share), 0)
    return new Map(
      this.#members.map((member, at) => [
        member,
        at === largest ? MICROS - others : (shares[at] ?? 0),
      ]),
    )
  }
}

const clamp = (price: number): number =>
  Math.min(Math.max(Math.round(price), PRICE_MIN), MICROS - PRICE_MIN)

/** Noise in log-odds, the same for all listings with one mover key. */
function moverOdds(key: number, atMs: number): number {
  let odds = 0
  for (let octave = 0; octave < OCTAVES.length; octave += 1) {
    const layer = OCTAVES[octave]
    if (layer === undefined) continue
    odds += layer.swing * valueNoise(mix32(key, octave), atMs / layer.cellMs)
  }
  for (let kind = 0; kind < JUMPS.length; kind += 1)
    odds += jumpOdds(mix32(key, 64 + kind), kind, atMs)
  return odds
}

/** Sum of the jumps of recent cells. Each jump fades linearly to zero. */
function jumpOdds(key: number, kind: number, atMs: number): number {
  const jump = JUMPS[kind]
  if (jump === undefined) return 0
  const last = Math.floor(atMs / jump.cellMs)
  let odds = 0
  for (let cell = last - jump.cellCount; cell <= last; cell += 1) {
    if (mixUnit(key, 4 * cell) >= jump.chance) continue
    const ageCells = atMs / jump.cellMs - (cell + mixUnit(key, 4 * cell + 1))
    if (ageCells < 0 || ageCells >= jump.cellCount) continue
    const swing = jump.swing * (0.4 + 0.6 * mixUnit(key, 4 * cell + 2))
    const sign = mixUnit(key, 4 * cell + 3) < 0.5 ? -1 : 1
    odds += sign * swing * (1 - ageCells / jump.cellCount)
  }
  return odds
}

/** Smooth noise in [-1, 1]: hashed values at integer positions, with interpolation in between. */
function valueNoise(key: number, position: number): number {
  const cell = Math.floor(position)
  const part = position - cell
  const eased = part * part * (3 - 2 * part)
  const left = 2 * mixUnit(key, cell) - 1
  const right = 2 * mixUnit(key, cell + 1) - 1
  return left + (right - left) * eased
}

/** 0 until the last part of the market's life. Then it rises to 1 at the close. */
function closingPull(leftMs: number, lifeMs: number): number {
  const windowMs = Math.min(Math.max(lifeMs * 0.15, 2 * MINUTE_MS), 12 * HOUR_MS)
  const part = 1 - leftMs / windowMs
  if (part <= 0) return 0
  return part >= 1 ? 1 : part * part
}

function payoutOdds(payout: PriceMicros): number {
  return payout === MICROS ? CERTAIN : payout === 0 ? -CERTAIN : 0
}
