import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import {
  MICROS,
  priceMicros,
  roundPrice,
  roundSize,
  roundUsd,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import type {
  VenuePosition,
  WalletEvent,
  WalletEventKind,
  WalletMarket,
} from '../../../engine/wallet.ts'
import { PnlState } from '../../../engine/wallets/pnl-state.ts'
import {
  accountFigures,
  differencesOf,
  naiveFigures,
  positionOf,
} from '../../support/reference/wallet-figures.ts'

const WALLETS = join(process.env.SHARED_DATA ?? '../shared/data', 'wallets')
const ALL = [[0, Number.MAX_SAFE_INTEGER]] as const
const KINDS: Record<string, WalletEventKind> = { MERGE: 'merge', SPLIT: 'split', REDEEM: 'redeem' }

type Row = Record<string, unknown>

function rows(t: TestContext, name: string): readonly Row[] {
  const path = join(WALLETS, name)
  if (!existsSync(path)) {
    t.skip('no recorded wallets in SHARED_DATA, so nothing was compared with the venue’s figures')
    return []
  }
  const text = readFileSync(path, 'utf8')
  if (!name.endsWith('.jsonl')) return JSON.parse(text)
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

const number = (row: Row, name: string): number => Number(row[name] ?? 0)
const usdOf = (value: number) => roundUsd(value) ?? usdMicros(0)
const sizeOf = (value: number) => roundSize(value) ?? fail()

function eventOf(row: Row, set: Partial<WalletEvent> = {}): WalletEvent {
  const isFill = String(row.asset ?? '') !== ''
  const side = String(row.side) === 'BUY' ? 'buy' : 'sell'
  const published =
    typeof row.timestamp === 'number' ? row.timestamp * 1_000 : Date.parse(`${row.timestamp}Z`)
  const atMs = Number.isNaN(published) ? Number(row.timestamp) * 1_000 : published
  return {
    kind: isFill ? side : (KINDS[String(row.type)] ?? 'income'),
    timeMs: timeMs(atMs),
    txHash: String(row.transactionHash ?? ''),
    market: nativeMarketId(String(row.conditionId ?? '')),
    token: isFill ? outcomeId(String(row.asset)) : null,
    size: sizeOf(number(row, 'size')),
    price: roundPrice(number(row, 'price')) ?? priceMicros(0),
    usd: usdOf(isFill ? number(row, 'price') * number(row, 'size') : number(row, 'usdcSize')),
    fee: usdMicros(0),
    role: null,
    converted: [],
    ...set,
  }
}

/** `resolvedTo` is the market's payout, or null while it is open. */
function bought(row: Row, resolvedTo: number | null) {
  const size = sizeOf(number(row, 'totalBought'))
  const usd = usdOf((size / MICROS) * number(row, 'avgPrice'))
  const event = eventOf({ ...row, side: 'BUY', timestamp: 1_700_000_000 }, { size, usd })
  const index = number(row, 'outcomeIndex')
  const other = outcomeId(String(row.oppositeAsset ?? 'other'))
  const token = event.token ?? other
  const first = resolvedTo === null ? null : index === 0 ? resolvedTo : 1 - resolvedTo
  const market: WalletMarket = {
    nativeId: event.market,
    tokens: index === 0 ? [token, other] : [other, token],
    payout: first === null ? null : priceMicros(first * MICROS),
    resolvedAtMs: first === null ? null : timeMs(event.timeMs + 60_000),
    ...{ takerFee: null, group: null },
    ...{ question: null, slug: null, eventSlug: null, labels: [] },
  }
  const pnlState = PnlState.empty()
  pnlState.apply(event, () => market)
  return { pnlState, event, market }
}

test('realises the same PnL as the venue for a closed position that a wallet held to the end', (t) => {
  const closed = rows(t, 'closed_positions.json')
  for (const row of closed) {
    const price = number(row, 'curPrice')
    const { pnlState, event, market } = bought(row, price)
    const redeemed = timeMs(event.timeMs + 120_000)
    const paid = { token: null, usd: usdMicros(event.size * price), timeMs: redeemed }
    pnlState.apply({ ...event, kind: 'redeem', ...paid }, () => market)
    const [position = fail()] = pnlState.positions()
    const theirs = usdOf(number(row, 'realizedPnl'))
    // Averages with six decimals have an error of at most half a micro-dollar per contract.
    const tolerance = position.bought / MICROS / 2 + 1
    assert.ok(Math.abs(position.realized - theirs) <= tolerance, `${position.realized} ${theirs}`)
    assert.deepEqual(differencesOf([position], [venueOf(row, true)]), [])
  }
})

test('values open positions at the venue’s cost, and counts a losing position as lost when it can be redeemed', (t) => {
  const open = [...rows(t, 'positions.json'), ...rows(t, 'em-positions.json')]
  let losers = 0
  for (const row of open) {
    const price = number(row, 'curPrice')
    const isResolved = row.redeemable === true
    // Two wallets sold a part of their contracts, so only the remaining contracts are compared.
    const held = { ...row, totalBought: row.size }
    const { pnlState } = bought(held, isResolved ? price : null)
    const [position = fail()] = pnlState.positions()
    // The venue cuts averages to four decimals.
    const tolerance = 100 * (position.bought / MICROS) + 50
    const cashPnl = usdOf(number(row, 'cashPnl'))
    if (isResolved && price === 0) {
      losers += 1
      assert.ok(Math.abs(position.realized - cashPnl) <= tolerance)
      assert.equal(position.amount, 0)
      assert.equal(number(row, 'realizedPnl'), 0)
    } else {
      const value = (position.amount / MICROS) * price * MICROS
      assert.ok(Math.abs(value - position.cost - cashPnl) <= 2 * tolerance)
    }
    assert.deepEqual(differencesOf([position], [venueOf(held, false)]), [])
  }
  assert.ok(open.length === 0 || losers >= 3)
})

test('sums the recorded activity of a wallet: fills, income, and redemptions without a recorded purchase', (t) => {
  const recorded = rows(t, 'em-activity_all.json')
  if (recorded.length === 0) return
  const events = recorded.map((row) => eventOf(row)).reverse()
  const pnlState = PnlState.empty()
  for (const event of events) pnlState.apply(event, () => null)
  const { trades, income, redemptions } = pnlState.totals()
  const of = (kind: WalletEventKind) => events.filter((event) => event.kind === kind)
  assert.equal(trades, of('buy').length + of('sell').length)
  assert.equal(redemptions, of('redeem').length)
  assert.equal(
    income,
    of('income').reduce((sum, { usd }) => sum + usd, 0),
  )
  const redeemed = positionOf(pnlState, of('buy').at(-1)?.token ?? fail())
  assert.ok(!redeemed.isCostKnown && redeemed.balance === 0, 'more was paid than was held')
  assert.deepEqual(
    accountFigures(pnlState, ALL),
    naiveFigures(events, () => null, ALL),
  )
})

test('computes the same figures as the reference implementation from the fills of every recorded wallet', (t) => {
  for (const name of ['ibalgo_polymarket_trades', 'ibalgo_historical_trades_2026-01']) {
    const byWallet = new Map<string, WalletEvent[]>()
    for (const row of rows(t, `${name}.dedup.jsonl`)) {
      const wallet = String(row.proxyWallet)
      byWallet.set(wallet, [...(byWallet.get(wallet) ?? []), eventOf(row)])
    }
    for (const [wallet, events] of byWallet) {
      events.sort((one, other) => one.timeMs - other.timeMs)
      const pnlState = PnlState.empty()
      for (const event of events) pnlState.apply(event, () => null)
      const naive = naiveFigures(events, () => null, ALL)
      assert.deepEqual(accountFigures(pnlState, ALL), naive, wallet)
    }
  }
})

function venueOf(row: Row, isClosed: boolean): VenuePosition {
  return {
    token: outcomeId(String(row.asset)),
    market: nativeMarketId(String(row.conditionId)),
    size: isClosed ? sizeOf(0) : sizeOf(number(row, 'size')),
    bought: sizeOf(number(row, 'totalBought')),
    realized: usdOf(number(row, 'realizedPnl')),
    price: roundPrice(number(row, 'curPrice')) ?? fail(),
    isClosed,
  }
}

function fail(): never {
  throw new Error('a recorded row lacks what it should have')
}
