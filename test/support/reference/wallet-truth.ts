// A simulated world with known ledgers. The expected REST figures of a wallet follow from its ledger by
// naive/wallet.ts.

import { pause, systemClock } from '../../../engine/clock.ts'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { hash32 } from '../../../engine/random.ts'
import {
  MICROS,
  PRICE_HALF,
  priceMicros,
  sizeMicros,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import { Calendar, type PlannedEvent } from '../../../engine/venues/simulator/calendar.ts'
import type { SimListing } from '../../../engine/venues/simulator/model.ts'
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../../engine/venues/simulator/simulator.ts'
import type { WalletAccount } from '../../../engine/venues/simulator/world/wallet-account.ts'
import type { Plan } from '../../../engine/venues/simulator/world/world.ts'
import type { FindWalletMarket, WalletEvent, WalletEventKind } from '../../../engine/wallet.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { waitOneTick } from '../fakes/real-time-step.ts'
import { read } from '../rigs/full-service.ts'
import { NaiveWallet } from './naive/wallet.ts'

const OWN_NOW_MS = Date.UTC(2026, 10, 20, 12)

interface TruthWorldOptions {
  readonly seed?: number
  readonly markets: number
  readonly messagesPerSecond: number
  readonly pastMinutes: number
  /** Markets close during this time. */
  readonly closingSeconds: number
  /**
   * `machine`: the world follows the system time, as an engine in another process needs. `own`: the world starts at a
   * fixed time and advances between event-loop ticks, so every run is equal.
   */
  readonly time: 'machine' | 'own'
  readonly faults?: SimulatorOptions['faults']
  /** Venue a's activity stream ends after this many seconds. Absent: never. */
  readonly activityEndsS?: number
}

export interface TruthWorld {
  readonly simulator: Simulator
  readonly find: FindWalletMarket
  /** An engine in this process may share this clock. */
  readonly clock: ManualClock
  /** `ms` is in the world's time. */
  readonly pause: (ms: number) => Promise<void>
  /** Number of venue a markets that resolved since the end of the history. */
  readonly resolvedCount: () => number
  stop(): Promise<void>
}

export async function startTruthWorld(options: TruthWorldOptions): Promise<TruthWorld> {
  const {
    seed = 11,
    pastMinutes,
    markets,
    messagesPerSecond,
    closingSeconds,
    faults = [],
  } = options
  const { activityEndsS } = options
  const nowMs = options.time === 'own' ? OWN_NOW_MS : systemClock.nowMs()
  const clock = new ManualClock(nowMs - pastMinutes * 60_000)
  const calendar = new Calendar({ seed, marketsPerVenue: markets })
  const span = { fromMs: clock.nowMs(), nowMs, toMs: nowMs + closingSeconds * 1_000 }
  const simulator = await startSimulator({
    ...{ seed, marketsPerVenue: markets, messagesPerSecond, faults, clock, log: silentLog },
    activityEndsS: activityEndsS === undefined ? null : pastMinutes * 60 + activityEndsS,
    ...{ plan: hastened(calendar, span), basePort: 0, kalshiPublicKeyPem: null },
  })
  clock.advance(pastMinutes * 60_000)
  let resolvedCount = 0
  simulator.world.onChange(({ kind, market }) => {
    if (kind === 'resolved' && market.listing.venue === 'a') resolvedCount += 1
  })
  const follow = () => clock.advance(Math.max(0, systemClock.nowMs() - clock.nowMs()))
  const stopSteps = options.time === 'own' ? waitOneTick(clock) : systemClock.every(10, follow)
  return {
    simulator,
    clock,
    pause: (ms) => pause(clock, ms),
    find: marketsOf(simulator),
    resolvedCount: () => resolvedCount,
    async stop() {
      stopSteps()
      await simulator.stop()
    },
  }
}

/**
 * Closes two thirds of venue a's events at other times, half of them in the past. By default a small world resolves a
 * market an hour, and voids are rare.
 */
function hastened(
  calendar: Calendar,
  { fromMs, nowMs, toMs }: { fromMs: number; nowMs: number; toMs: number },
): Plan {
  const hasten = (planned: PlannedEvent): PlannedEvent => {
    const { event, markets } = planned
    const chance = (term: string) => hash32('hastened', event.nativeId, term) / 2 ** 32
    const when = chance('when')
    const share = chance('close')
    const isPast = when < 1 / 3
    // The close must be long ago, so that many redemptions have happened.
    const closeMs = isPast
      ? fromMs + (0.2 + 0.5 * share) * (nowMs - fromMs)
      : nowMs + (0.1 + 0.9 * share) * (toMs - nowMs)
    const isLeft = markets.some(
      ({ listing }) => listing.openMs > fromMs || listing.closeMs < closeMs,
    )
    if (event.venue === 'b' || when > 2 / 3 || isLeft) return planned
    const times = {
      closeMs: timeMs(Math.floor(closeMs)),
      determineMs: timeMs(Math.floor(closeMs) + 3_000),
      resolveMs: timeMs(Math.floor(closeMs) + 6_000),
    }
    const isVoid = chance('void') < 0.15
    const listingOf = (listing: SimListing): SimListing => ({
      ...listing,
      ...times,
      ...(isVoid ? { payout: PRICE_HALF } : {}),
    })
    return {
      event: { ...event, endMs: times.closeMs },
      markets: markets.map((market) => ({ ...market, listing: listingOf(market.listing) })),
    }
  }
  return {
    eventsAt: (atMs) => calendar.eventsAt(atMs).map(hasten),
    createdBetween: (from, to) => calendar.createdBetween(from, to),
    eventNumbered: (venue, number) => calendar.eventNumbered(venue, number),
    teams: () => calendar.teams(),
  }
}

function marketsOf({ world }: Simulator): FindWalletMarket {
  return (id) => {
    const market = world.market('a', id)
    if (market === null) return null
    const { listing, event, status } = market
    const isResolved = status === 'resolved'
    const group = event.markets.map((one) => nativeMarketId(one.listing.nativeId))
    return {
      nativeId: nativeMarketId(listing.nativeId),
      ...{ question: listing.question, slug: listing.slug, eventSlug: event.nativeId },
      labels: listing.outcomes,
      tokens: listing.tokens.map((token) => outcomeId(token)),
      payout: isResolved ? listing.payout : null,
      // The venue reports the close, in whole seconds, as the time of the result.
      resolvedAtMs: isResolved ? timeMs(listing.closeMs - (listing.closeMs % 1_000)) : null,
      // Only fills before May 2026 have withheld fees, and the world is younger.
      takerFee: null,
      group: event.isMutuallyExclusive ? group : null,
    }
  }
}

interface TruthRow {
  readonly kind: string
  readonly at_ms: number
  readonly tx_hash: string
  readonly native_id: string | null
  readonly token?: string
  readonly side?: 'buy' | 'sell'
  readonly role?: 'taker' | 'maker'
  readonly price_shown?: number
  readonly size_micros: number
  readonly usd_micros: number
  readonly fee_micros: number
}

interface TruthPage {
  readonly address: string
  readonly eoa: string
  readonly name: string
  readonly events: number
  readonly forgotten_events: number
  readonly cash_micros: number
  readonly balances: readonly { readonly token: string; readonly amount_micros: number }[]
  readonly next_index: number
  readonly rows: readonly TruthRow[]
}

interface WalletTruth extends Omit<TruthPage, 'rows' | 'next_index'> {
  /** In the order of the rules. */
  readonly events_in_order: readonly WalletEvent[]
}

const KINDS: Readonly<Record<string, WalletEventKind>> = {
  SPLIT: 'split',
  MERGE: 'merge',
  REDEEM: 'redeem',
  CONVERSION: 'conversion',
  REWARD: 'income',
  MAKER_REBATE: 'income',
  MIGRATION: 'migration',
}

/** Without one of these kinds a comparison proves little. */
export const ACTIVITY_KINDS = [
  'taker fills',
  'maker fills',
  'splits',
  'merges',
  'conversions',
  'winners redeemed',
  'winners redeemed in part',
  'losers redeemed',
  'voids redeemed',
  'losers kept',
  'incomes',
  'migrations',
] as const
export type ActivityKind = (typeof ACTIVITY_KINDS)[number]

export function activitiesOf({ events, holdings }: WalletAccount): Map<ActivityKind, number> {
  const deeds = new Map<ActivityKind, number>()
  const note = (deed: ActivityKind) => deeds.set(deed, (deeds.get(deed) ?? 0) + 1)
  for (const event of events) {
    const { kind, fill, usd, market } = event
    if (fill !== null) note(fill.participant === 0 ? 'taker fills' : 'maker fills')
    else if (kind === 'SPLIT') note('splits')
    else if (kind === 'MERGE') note('merges')
    else if (kind === 'CONVERSION') note('conversions')
    else if (kind === 'MIGRATION') note('migrations')
    else if (kind !== 'REDEEM') note('incomes')
    else if (market?.listing.payout === PRICE_HALF) note('voids redeemed')
    else note(usd > 0 ? 'winners redeemed' : 'losers redeemed')
    const isAgain = events.some(
      (one) =>
        one !== event &&
        one.kind === 'REDEEM' &&
        one.usd > 0 &&
        one.market === market &&
        one.outcomeIndex === event.outcomeIndex,
    )
    if (kind === 'REDEEM' && usd > 0 && isAgain) note('winners redeemed in part')
  }
  for (const { market, positions } of holdings.values()) {
    const { payout } = market.listing
    if (market.status !== 'resolved' || payout === PRICE_HALF) continue
    if (positions[payout === 0 ? 0 : 1].amount > 0) note('losers kept')
  }
  return deeds
}

/** Selects wallets with each kind of activity first, then evenly from the busiest to the least active. */
export function chosen(all: readonly WalletAccount[], count: number): WalletAccount[] {
  const byEvents = all.toSorted((one, other) => other.events.length - one.events.length)
  const found = new Set<WalletAccount>()
  for (const deed of ACTIVITY_KINDS) {
    const doing = byEvents.filter((ledger) => activitiesOf(ledger).has(deed))
    const share = Math.max(1, Math.floor(count / 2 / ACTIVITY_KINDS.length))
    // The busiest wallets have every kind of activity, so the selection includes other wallets too.
    for (let position = 0; position < share; position += 1) {
      const ledger = doing[Math.floor(((position + 0.5) * doing.length) / share)]
      if (ledger !== undefined) found.add(ledger)
    }
  }
  const rest = byEvents.filter((ledger) => !found.has(ledger))
  const missing = Math.min(count - found.size, rest.length)
  for (let position = 0; position < missing; position += 1) {
    const ledger = rest[Math.floor((position * rest.length) / missing)]
    if (ledger !== undefined) found.add(ledger)
  }
  return [...found].slice(0, count)
}

export async function truthOfWallet(gamma: string, address: string): Promise<WalletTruth> {
  const rows: TruthRow[] = []
  for (;;) {
    const url = `${gamma}/sim/state?view=wallet&address=${address}&from_index=${rows.length}`
    const page = await read<TruthPage>(url)
    rows.push(...page.rows)
    if (page.next_index >= page.events) return { ...page, events_in_order: eventsOf(rows) }
  }
}

/** Rows of one conversion become one event. Events are sorted by second and transaction. */
function eventsOf(rows: readonly TruthRow[]): readonly WalletEvent[] {
  const events: WalletEvent[] = []
  for (const row of rows) {
    const event = eventOf(row)
    const before = events.at(-1)
    if (
      event.kind === 'conversion' &&
      before?.kind === 'conversion' &&
      before.txHash === event.txHash
    ) {
      const converted = [...before.converted, ...event.converted]
      events[events.length - 1] = { ...before, converted, usd: usdMicros(before.usd + event.usd) }
    } else events.push(event)
  }
  return events.sort(
    (one, other) =>
      one.timeMs - other.timeMs ||
      Number(one.txHash > other.txHash) - Number(one.txHash < other.txHash),
  )
}

function eventOf(row: TruthRow): WalletEvent {
  const kind = row.side ?? KINDS[row.kind]
  if (kind === undefined) throw new Error(`the ledger has a row of kind ${row.kind}`)
  const market = nativeMarketId(row.native_id ?? '')
  return {
    ...{ kind, market, txHash: row.tx_hash.toLowerCase(), role: row.role ?? null },
    timeMs: timeMs(row.at_ms - (row.at_ms % 1_000)),
    token: row.token === undefined ? null : outcomeId(row.token),
    size: sizeMicros(row.size_micros),
    price: priceMicros(Math.round((row.price_shown ?? 0) * MICROS)),
    usd: usdMicros(row.usd_micros),
    fee: usdMicros(row.fee_micros),
    converted: kind === 'conversion' ? [market] : [],
  }
}

/** Named figures. Money and sizes are in micros. */
export type Sheet = Map<string, string | number | boolean | null>

/** All expected REST figures of a wallet. */
export function expectedSheet(truth: WalletTruth, find: FindWalletMarket): Sheet {
  const { events_in_order: events } = truth
  const naive = new NaiveWallet(events, find)
  const sheet: Sheet = new Map()
  const markets = [...naive.markets().values()]
  const closed = markets.filter(({ isOpen }) => !isOpen)
  const positions = [...naive.positions.values()]
  const total = (values: readonly bigint[]) => Number(values.reduce((sum, one) => sum + one, 0n))
  const realized = total(positions.map((one) => one.realized))
  const cost = total(positions.map((one) => one.cost))
  const figures = {
    ...{ proxy: truth.address, eoa: truth.eoa, realized, cost },
    ...{ volume: Number(naive.volume), ...naive.counts, markets: markets.length },
    ...{ fees: Number(naive.fees), income: Number(naive.income) },
    net: realized - Number(naive.fees) + Number(naive.income),
    wins: closed.filter((one) => one.realized > one.fees).length,
    losses: closed.filter((one) => one.realized < one.fees).length,
    first: naive.firstTradeMs === null ? null : naive.firstTradeMs / 1_000,
    last: naive.lastTradeMs === null ? null : naive.lastTradeMs / 1_000,
    // From the world's ledger: income less payments, and current holdings.
    ...{ cash: truth.cash_micros, closure: truth.cash_micros + cost - realized },
    balances: balancesText(truth.balances.map((one) => [one.token, one.amount_micros])),
  }
  for (const [name, value] of Object.entries(figures)) sheet.set(name, value)
  for (const one of positions) {
    const facts = find(nativeMarketId(one.market))
    const others = positions.filter(({ market, balance }) => market === one.market && balance > 0n)
    const row = {
      ...{ market: one.market, outcome: one.outcomeIndex, balance: Number(one.balance) },
      ...{ cost: Number(one.cost), realized: Number(one.realized), isCostKnown: one.isCostKnown },
      average:
        one.amount > 0n ? quotient(one.cost, one.amount) : quotient(one.boughtUsd, one.bought),
      status: one.amount > 0n ? 'open' : 'closed',
      ...{ opened: one.openedAtMs / 1_000, updated: Math.max(one.updatedAtMs, one.lostAtMs) / 1e3 },
      ...{ question: facts?.question ?? null, slug: facts?.slug ?? null },
      label: facts?.labels[one.outcomeIndex] ?? null,
      isRedeemable: facts?.payout != null && one.balance > 0n,
      ...{ isMergeable: one.balance > 0n && others.length > 1, isNegRisk: facts?.group != null },
    }
    for (const [name, value] of Object.entries(row)) sheet.set(`${one.token} ${name}`, value)
  }
  let toDate = 0n
  const steps = naive.seconds().filter((one) => one.realized !== 0n)
  for (const one of steps) {
    toDate += one.realized
    if (steps.length <= 1_000) sheet.set(`at ${one.atMs / 1e3}`, `${one.realized} to ${toDate}`)
  }
  for (const event of events) countRow(sheet, rowText(event, find))
  return sheet
}

/** The rows of its fills as the stream reports them, which does not name the maker. */
export function expectedFills(truth: WalletTruth, find: FindWalletMarket): Sheet {
  const sheet: Sheet = new Map()
  for (const event of truth.events_in_order) {
    if (isFill(event)) countRow(sheet, rowText(event, find, 'untold'))
  }
  return sheet
}

/** Counts equal rows. */
export function countRow(sheet: Sheet, text: string | null): void {
  if (text !== null) sheet.set(text, Number(sheet.get(text) ?? 0) + 1)
}

const isFill = ({ kind }: WalletEvent): boolean => kind === 'buy' || kind === 'sell'

/** Returns null for income, which has no row. */
function rowText(
  event: WalletEvent,
  find: FindWalletMarket,
  role: WalletEvent['role'] | 'untold' = event.role,
): string | null {
  const { kind, market, token, size, usd, txHash, price } = event
  const end = `${size} ${usd} ${txHash} ${event.timeMs / 1_000}`
  if (kind === 'income') return null
  if (token === null || !isFill(event)) return `${kind} ${market} ${end}`
  const isFirst = find(market)?.tokens[0] === token
  const side = (kind === 'buy') === isFirst ? 'buy' : 'sell'
  return `fill ${token} ${side} ${isFirst ? price : MICROS - price} ${role} ${end}`
}

export function balancesText(balances: readonly (readonly [string, number])[]): string {
  return balances
    .filter(([, amount]) => amount > 0)
    .map(([token, amount]) => `${token} ${amount}`)
    .sort()
    .join()
}

/** In millionths, halves up; null if the divisor is zero. */
function quotient(dividend: bigint, divisor: bigint): number | null {
  if (divisor === 0n) return null
  const twice = 2_000_000n * dividend + divisor
  const by = 2n * divisor
  const rest = ((twice % by) + by) % by
  return Number((twice - rest) / by)
}
