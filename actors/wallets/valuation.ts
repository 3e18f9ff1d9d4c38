// Values one wallet's PnlState at current prices in time slices, and caches the values briefly.

import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { NativeMarketId } from '../../engine/ids.ts'
import {
  complement,
  DAY_MS,
  notionalMicros,
  type PriceMicros,
  type TimeMs,
  timeMs,
  usdMicros,
} from '../../engine/units.ts'
import type { WalletEvent, WalletMarket } from '../../engine/wallet.ts'
import type { PnlState } from '../../engine/wallets/pnl-state.ts'
import type { PositionFigures, RangeFigures } from '../../engine/wallets/wallet-figures.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import type { MarketView } from '../views.ts'
import { LedgerDamage } from './ledger.ts'
import type {
  PositionView,
  WalletEventView,
  WalletIssue,
  WalletView,
  WalletWindow,
} from './views.ts'
import type { Wallet } from './wallet.ts'
import type { WalletMarkets } from './wallet-markets.ts'

interface ValuationParts {
  readonly clock: Clock
  readonly markets: WalletMarkets
}

interface ValuationFacts {
  /** Issues found by the wallet store, to which the wallet's own issues are added. */
  readonly issues: readonly WalletIssue[]
  readonly isWhale: boolean
}

/** Values are valid for this time, or for VALUED_COSTS times the duration of the valuation if that is longer. */
const VALUED_MS = 1_000
const VALUED_COSTS = 20
const LARGE_MS = 10
/**
 * A wallet that changed during its valuation is valued again, up to this many times. The last values are then used
 * although the wallet changed.
 */
const TRIES_MAX = 3

const WINDOW_MS: Readonly<Record<Exclude<WalletWindow, 'all_time'>, number>> = {
  one_day: DAY_MS,
  seven_day: 7 * DAY_MS,
  thirty_day: 30 * DAY_MS,
}

interface Values {
  readonly pnlState: PnlState
  readonly version: number
  /**
   * Until this time the values are valid even if the wallet changed. Otherwise a large, active wallet would be valued
   * continuously.
   */
  readonly changedToMs: number
  readonly sameToMs: number
  readonly asOfMs: TimeMs
  readonly issues: readonly WalletIssue[]
  readonly lacking: number
  /** First-outcome prices of markets with open positions, shared by all sums. Null: the price is unknown. */
  readonly prices: ReadonlyMap<NativeMarketId, PriceMicros | null>
  readonly unrealized: number
  /** Null until the first request for positions. */
  positions: Promise<readonly PositionView[]> | null
}

export class WalletValuation {
  readonly #parts: ValuationParts
  readonly #wallet: Wallet
  #values: Values | null = null

  constructor(parts: ValuationParts, wallet: Wallet) {
    this.#parts = parts
    this.#wallet = wallet
  }

  get bytes(): number {
    const values = this.#values
    if (values === null) return 0
    const count = values.positions === null ? 0 : values.pnlState.positionCount
    return 400 * count + 100 * values.prices.size
  }

  /** Rejects with LedgerDamage if the ledger's last block cannot be read. */
  async view(facts: ValuationFacts): Promise<WalletView> {
    const values = await this.#valued()
    const { pnlState, lacking, asOfMs } = values
    const nowMs = this.#parts.clock.nowMs()
    const issues = [...facts.issues, ...values.issues]
    const { proxy, eoa, handle, pseudonym, image } = this.#wallet.record
    return {
      profile: { proxy, eoa, handle, pseudonym, image },
      ...{ isWhale: facts.isWhale, issues, isComplete: issues.length === 0 },
      ...{ lacking, asOfMs, totals: pnlState.totals() },
      unrealized: usdMicros(values.unrealized),
      window: (window) => figuresOf(pnlState, window, nowMs),
      positions: () => this.#positions(values),
      pnl: (range) => ({
        figures: pnlState.between(range.fromMs, range.toMs),
        series: pnlState.series(range),
      }),
      events: (query) => this.#events(query),
    }
  }

  async #valued(): Promise<Values> {
    const { clock } = this.#parts
    for (let tries = 1; ; tries += 1) {
      const cached = this.#values
      const { version } = this.#wallet
      const nowMs = clock.monotonicMs()
      if (cached !== null && nowMs < cached.changedToMs) return cached
      if (cached?.version === version && nowMs < cached.sameToMs) return cached
      const { shown: pnlState, asOfMs, issues, lacking } = this.#wallet
      const valued = await this.#value(pnlState)
      const costMs = clock.monotonicMs() - nowMs
      const changedToMs = costMs < LARGE_MS ? 0 : nowMs + VALUED_COSTS * costMs
      const sameToMs = Math.max(nowMs + VALUED_MS, changedToMs)
      this.#values = {
        ...{ pnlState, version, changedToMs, sameToMs, asOfMs, issues, lacking },
        ...valued,
        positions: null,
      }
      if (version === this.#wallet.version || tries === TRIES_MAX) return this.#values
    }
  }

  async #value(pnlState: PnlState): Promise<Pick<Values, 'prices' | 'unrealized'>> {
    const { clock, markets } = this.#parts
    const yielder = new EventLoopYielder(clock)
    const prices = new Map<NativeMarketId, PriceMicros | null>()
    let unrealized = 0
    for (const { market, outcomeIndex, amount, cost } of pnlState.openPositions()) {
      let first = prices.get(market)
      if (first === undefined) {
        first = firstPrice(markets.view(market), markets.find(market))
        prices.set(market, first)
      }
      unrealized += worthOf({ amount, cost }, priceOf(outcomeIndex, first)) - cost
      if (yielder.isDue) await yielder.yieldIfDue()
    }
    return { prices, unrealized }
  }

  #positions(values: Values): Promise<readonly PositionView[]> {
    values.positions ??= this.#views(values)
    return values.positions
  }

  async #views({ pnlState, prices }: Values): Promise<readonly PositionView[]> {
    const { clock, markets } = this.#parts
    const yielder = new EventLoopYielder(clock)
    const positions: PositionView[] = []
    for (const figures of pnlState.positions()) {
      const view = markets.view(figures.market)
      const facts = markets.find(figures.market)
      const first = prices.get(figures.market)
      const firstOutcomePrice = first === undefined ? firstPrice(view, facts) : first
      const price = priceOf(figures.outcomeIndex, firstOutcomePrice)
      const unrealized = usdMicros(worthOf(figures, price) - figures.cost)
      positions.push(Object.assign(figures, { view, facts, price, unrealized }))
      if (yielder.isDue) await yielder.yieldIfDue()
    }
    return positions
  }

  #events(query: Parameters<WalletView['events']>[0]): readonly WalletEventView[] {
    const { ledger, record } = this.#wallet
    const { markets } = this.#parts
    // Events of one time share an array, so that their ids are computed once.
    const ids = new Map<readonly WalletEvent[], readonly string[]>()
    try {
      return ledger.slice(query).map(({ event, ordinal, sameTime }) => {
        const idsAt = ids.get(sameTime) ?? eventIds(record.proxy, sameTime)
        ids.set(sameTime, idsAt)
        const view = event.market === '' ? null : markets.view(event.market)
        return {
          ...{ event, timeMs: event.timeMs, ordinal, id: idsAt[ordinal] ?? '', view },
          // Looked up at access, because callers drop most events of a slice.
          get facts() {
            return view === null && event.market !== '' ? markets.find(event.market) : null
          },
        }
      })
    } catch (error) {
      if (!(error instanceof LedgerDamage)) throw error
      this.#wallet.noteDamage(error)
      const detail = 'the history of that wallet is damaged and read anew'
      throw new EngineError('UNAVAILABLE', detail, { cause: error, retryAfterSeconds: 1 })
    }
  }
}

function figuresOf(pnlState: PnlState, window: WalletWindow, nowMs: TimeMs): RangeFigures {
  if (window === 'all_time') return pnlState.totals()
  // A window excludes its start.
  return pnlState.between(timeMs(Math.max(0, nowMs - WINDOW_MS[window]) + 1), nowMs)
}

function priceOf(outcomeIndex: number, first: PriceMicros | null): PriceMicros | null {
  if (outcomeIndex < 0 || first === null) return null
  return outcomeIndex === 0 ? first : complement(first)
}

function firstPrice(view: MarketView | null, facts: WalletMarket | null): PriceMicros | null {
  if (facts !== null && facts.payout !== null) return facts.payout
  const present = view?.price() ?? null
  return present === null || present.source === 'none' ? null : present.price
}

function worthOf(
  { amount, cost }: Pick<PositionFigures, 'amount' | 'cost'>,
  price: PriceMicros | null,
): number {
  return price === null ? cost : notionalMicros({ price, size: amount })
}

/**
 * A fill has the id `<tx hash>-<token>-<wallet>-<side>-<size>-<price>-<n>`, any other event `<tx
 * hash>-<market>-<wallet>-<kind>-<size>-<n>`. `n` counts equal events. Events without a transaction have the second
 * instead of the hash.
 */
function eventIds(wallet: string, events: readonly WalletEvent[]): readonly string[] {
  const counts = new Map<string, number>()
  return events.map(({ txHash, token, market, kind, size, price, timeMs: atMs }) => {
    const what = token === null ? market : token
    const how = token === null ? `${kind}-${size}` : `${kind}-${size}-${price}`
    const key = `${txHash === '' ? Math.floor(atMs / 1_000) : txHash}-${what}-${wallet}-${how}`
    const n = counts.get(key) ?? 0
    counts.set(key, n + 1)
    return `${key}-${n}`
  })
}
