// Each read computes every figure from arrays. Generated positions are independent of generated events.

import type { MarketView } from '../../../actors/views.ts'
import type {
  PositionView,
  RankedWallet,
  WalletEventView,
  WalletIssue,
  WalletsView,
  WalletView,
  WalletWindow,
} from '../../../actors/wallets/views.ts'
import {
  nativeMarketId,
  outcomeId,
  type WalletAddress,
  walletAddress,
} from '../../../engine/ids.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import {
  DAY_MS,
  priceMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import {
  WALLET_EVENT_KINDS,
  type WalletEventKind,
  type WalletMarket,
  type WalletProfile,
} from '../../../engine/wallet.ts'
import type {
  PnlGranularity,
  PnlPoint,
  RangeFigures,
} from '../../../engine/wallets/wallet-figures.ts'
import { slice } from './market.ts'

/** `pair` is two letters, such as `a1`. */
export function fakeAddress(pair: string): WalletAddress {
  const address = walletAddress(`0x${pair.repeat(20)}`)
  if (address === null) throw new Error(`${pair} is no pair of hex digits`)
  return address
}

const WINDOW_DAYS: Readonly<Record<WalletWindow, number>> = {
  one_day: 1,
  seven_day: 7,
  thirty_day: 30,
  all_time: 1_000_000,
}

export class FakeWallet implements WalletView {
  readonly profile: WalletProfile
  asOfMs: TimeMs
  isComplete = true
  lacking = 0
  isWhale = false
  /** Events in order of time and ordinal. */
  readonly ledger: WalletEventView[] = []
  held: PositionView[] = []
  /** Realized profits in order of time. */
  readonly realised: { readonly timeMs: TimeMs; readonly usd: number }[] = []
  wins = 0
  losses = 0

  constructor(proxy: WalletAddress, asOfMs: TimeMs, set: Partial<WalletProfile> = {}) {
    this.profile = { proxy, eoa: null, handle: null, pseudonym: null, image: null, ...set }
    this.asOfMs = asOfMs
  }

  get issues(): readonly WalletIssue[] {
    return this.isComplete ? [] : ['venue_lacks_kept', 'venue_late']
  }

  get unrealized() {
    return usdMicros(this.held.reduce((sum, { unrealized }) => sum + unrealized, 0))
  }

  get totals(): WalletView['totals'] {
    const of = (kind: WalletEventKind) => this.ledger.filter(({ event }) => event.kind === kind)
    const fills = [...of('buy'), ...of('sell')].map((row) => row.timeMs).sort((a, b) => a - b)
    return {
      ...this.between(timeMs(0), this.asOfMs),
      markets: new Set(this.ledger.map(({ event }) => event.market)).size,
      wins: this.wins,
      losses: this.losses,
      splits: of('split').length,
      merges: of('merge').length,
      redemptions: of('redeem').length,
      conversions: of('conversion').length,
      comboEvents: 0,
      comboRealized: usdMicros(0),
      firstTradeMs: fills[0] ?? null,
      lastTradeMs: fills.at(-1) ?? null,
    }
  }

  between(fromMs: TimeMs, toMs: TimeMs): RangeFigures {
    const isWithin = (row: { readonly timeMs: TimeMs }) =>
      row.timeMs >= fromMs && row.timeMs <= toMs
    const within = this.ledger.filter(isWithin)
    const fills = within.filter(({ event }) => event.kind === 'buy' || event.kind === 'sell')
    const realized = this.realised.filter(isWithin).reduce((sum, { usd }) => sum + usd, 0)
    const volume = fills.reduce((sum, { event }) => sum + event.usd, 0)
    const fees = fills.reduce((sum, { event }) => sum + event.fee, 0)
    const incomes = within.filter(({ event }) => event.kind === 'income')
    const income = incomes.reduce((sum, { event }) => sum + event.usd, 0)
    return {
      ...{ realized: usdMicros(realized), volume: usdMicros(volume), trades: fills.length },
      ...{ fees: usdMicros(fees), income: usdMicros(income) },
    }
  }

  window(window: WalletWindow): RangeFigures {
    const fromMs = timeMs(Math.max(0, this.asOfMs - WINDOW_DAYS[window] * DAY_MS))
    return this.between(fromMs, this.asOfMs)
  }

  positions(): readonly PositionView[] {
    return [...this.held]
  }

  pnl(range: Parameters<WalletView['pnl']>[0]) {
    const { fromMs, toMs, granularity } = range
    const steps = new Map<TimeMs, PnlPoint>()
    let toDate = 0
    for (const { timeMs: atMs, usd } of this.realised) {
      toDate += usd
      if (atMs < fromMs || atMs > toMs) continue
      const start = stepOf(atMs, granularity)
      const realized = usdMicros((steps.get(start)?.realized ?? 0) + usd)
      steps.set(start, { timeMs: start, realized, toDate: usdMicros(toDate) })
    }
    return { figures: this.between(fromMs, toMs), series: [...steps.values()] }
  }

  events(query: Parameters<WalletView['events']>[0]): readonly WalletEventView[] {
    return slice(this.ledger, query, ({ ordinal }) => ordinal)
  }
}

function stepOf(atMs: TimeMs, granularity: PnlGranularity): TimeMs {
  if (granularity === 'all') return atMs
  const day = new Date(atMs - (atMs % DAY_MS))
  if (granularity === 'month') day.setUTCDate(1)
  if (granularity === 'week') day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
  return timeMs(day.getTime())
}

export class FakeWallets implements WalletsView {
  readonly known: FakeWallet[] = []
  /** Addresses of the requested wallets, in order. */
  readonly opened: WalletAddress[] = []

  async open(address: WalletAddress): Promise<WalletView | null> {
    this.opened.push(address)
    const isAsked = ({ profile }: FakeWallet) =>
      profile.proxy === address || profile.eoa === address
    return this.known.find(isAsked) ?? null
  }

  ranking({ window, sortBy, offset, limit }: Parameters<WalletsView['ranking']>[0]) {
    const figure = ({ figures }: RankedWallet) =>
      sortBy === 'volume' ? figures.volume : figures.realized
    const rows = this.known.map((wallet): RankedWallet => {
      const { profile, totals, isComplete, asOfMs } = wallet
      const figures = wallet.window(window)
      return { rank: 0, profile, figures, totals, isComplete, asOfMs }
    })
    const ranked = rows
      .sort((one, other) => figure(other) - figure(one))
      .map((row, index) => ({ ...row, rank: index + 1 }))
    const end = offset + limit
    const next = end < rows.length ? { pin: 1, offset: end } : null
    return { wallets: ranked.slice(offset, end), total: rows.length, next }
  }

  get count(): number {
    return this.known.length
  }
}

/** The wallet also has events and positions in two unknown markets. */
export function randomWallet(
  requested: { readonly proxy: WalletAddress; readonly eventCount: number; readonly nowMs: TimeMs },
  views: readonly MarketView[],
  profile: Partial<WalletProfile> = {},
): FakeWallet {
  const { proxy, eventCount, nowMs } = requested
  const random = seededRandom('wallet', proxy)
  const wallet = new FakeWallet(proxy, nowMs, profile)
  wallet.wins = random.below(9)
  wallet.losses = random.below(9)
  const markets = [
    ...views.map((view) => ({ id: view.ref.nativeId, view })),
    ...['0xgone1', '0xgone2'].map((id) => ({ id: nativeMarketId(id), view: null })),
  ]
  const ordinals = new Map<number, number>()
  for (let index = 0; index < eventCount; index += 1) {
    // Several events share a second, as at the venue.
    const atMs = timeMs(nowMs - 1_000 * Math.floor((eventCount - index) / 3))
    const ordinal = ordinals.get(atMs) ?? 0
    ordinals.set(atMs, ordinal + 1)
    const { id: market, view } = random.pick(markets)
    wallet.ledger.push({
      ...{ timeMs: atMs, ordinal, id: `${proxy}-e${index}`, view },
      facts: market === '0xgone1' ? keptMarket(market) : null,
      event: randomEvent(random, { market, view, atMs, index }),
    })
    if (random.below(3) === 0) {
      wallet.realised.push({ timeMs: atMs, usd: random.below(2_000_001) - 1_000_000 })
    }
  }
  wallet.held = markets.flatMap(({ id, view }) =>
    [0, 1].map((outcomeIndex) => randomPosition(random, { id, view, outcomeIndex, nowMs })),
  )
  return wallet
}

function keptMarket(id: ReturnType<typeof nativeMarketId>): WalletMarket {
  return {
    ...{ nativeId: id, question: `Was ${id}?`, slug: `old-${id}`, eventSlug: `olds-${id}` },
    tokens: [0, 1].map((location) => outcomeId(`${id}-${location}`)),
    ...{ labels: ['Up', 'Down'], payout: null, resolvedAtMs: null, group: null },
    takerFee: null,
  }
}

const FILL_KINDS: readonly WalletEventKind[] = ['buy', 'sell']

function randomEvent(
  random: Random,
  of: {
    readonly market: ReturnType<typeof nativeMarketId>
    readonly view: MarketView | null
    readonly atMs: TimeMs
    readonly index: number
  },
): WalletEventView['event'] {
  const { market, view, atMs, index } = of
  const kind = random.pick(random.below(3) > 0 ? FILL_KINDS : WALLET_EVENT_KINDS)
  const isFill = kind === 'buy' || kind === 'sell'
  const location = random.below(2)
  const token = view?.summary.outcomes[location]?.id ?? outcomeId(`${market}-${location}`)
  return {
    ...{ kind, timeMs: atMs, market, token: isFill ? token : null, converted: [] },
    txHash: random.below(9) === 0 ? '' : `0x${index.toString(16)}`,
    size: sizeMicros(1 + random.below(900_000_000)),
    price: priceMicros(isFill ? random.below(1_000_001) : 0),
    usd: usdMicros(random.below(900_000_000)),
    fee: usdMicros(random.below(1_000)),
    role: isFill ? random.pick(['taker', 'maker', null]) : null,
  }
}

/** The position may be open, closed or worthless. Its market may be resolved, and it may have a price. */
export function randomPosition(
  random: Random,
  of: {
    readonly id: ReturnType<typeof nativeMarketId>
    readonly view: MarketView | null
    readonly outcomeIndex: number
    readonly nowMs: TimeMs
  },
): PositionView {
  const { id, view, outcomeIndex, nowMs } = of
  const isOpen = random.below(3) > 0
  const amount = sizeMicros(isOpen ? 1 + random.below(20) ** 5 : 0)
  const cost = usdMicros(isOpen ? random.below(3_000_000) - 200_000 : 0)
  const bought = sizeMicros(amount + random.below(2) * 7_000_000)
  const isResolved = random.below(3) === 0
  const payout = isResolved ? priceMicros(random.below(2) * 1_000_000) : null
  return {
    token: view?.summary.outcomes[outcomeIndex]?.id ?? outcomeId(`${id}-${outcomeIndex}`),
    ...{ market: id, outcomeIndex, view, amount, cost, bought },
    balance: isOpen ? amount : sizeMicros(isResolved ? random.below(2) * 5_000_000 : 0),
    realized: usdMicros(random.below(2_000_001) - 1_000_000),
    boughtUsd: usdMicros(Math.floor(bought * random.next())),
    ...{ sold: sizeMicros(0), soldUsd: usdMicros(0), fees: usdMicros(0) },
    openedAtMs: timeMs(nowMs - 1_000 * (100 + random.below(1_000))),
    updatedAtMs: timeMs(nowMs - 1_000 * random.below(100)),
    isCostKnown: random.below(5) > 0,
    facts:
      random.below(4) === 0
        ? null
        : {
            ...{ ...keptMarket(id), payout, resolvedAtMs: isResolved ? nowMs : null },
            group: random.below(2) === 0 ? null : [id],
          },
    price: random.below(5) === 0 ? null : random.below(1_000_001),
    unrealized: usdMicros(isOpen ? random.below(2_000_001) - 1_000_000 : 0),
  }
}
