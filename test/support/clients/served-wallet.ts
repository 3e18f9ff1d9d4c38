// A wallet as the service returns it: all pages of all routes as one sheet of named figures.

import { MICROS } from '../../../engine/units.ts'
import { balancesText, countRow, type Sheet } from '../reference/wallet-truth.ts'
import type { ServiceLocations } from '../rigs/full-service.ts'

interface WalletAnswer<Body> {
  readonly body: Body
  readonly isComplete: boolean
  readonly why: string | null
}

/** Returns null if the service is overloaded (503) or closed an idle connection. */
export async function ask<Body>(
  locations: ServiceLocations,
  path: string,
): Promise<WalletAnswer<Body> | null> {
  const response = await fetch(`${locations.api}/v1/wallets/${path}`, {
    headers: { 'X-API-Key': locations.key },
  }).catch(() => null)
  if (response === null) return null
  const text = await response.text()
  if (response.status === 503) return null
  if (!response.ok) throw new Error(`${path} answered ${response.status} ${text}`)
  const body: Body = JSON.parse(text)
  const { headers } = response
  const isComplete = headers.get('X-Data-Complete') === 'true'
  return { body, isComplete, why: headers.get('X-Data-Incomplete') }
}

/** Returns null if the service is overloaded (503) or closed an idle connection. */
async function askAll<Name extends string, Row>(
  locations: ServiceLocations,
  path: string,
  name: Name,
): Promise<readonly Row[] | null> {
  type Page = { readonly [name in Name]: readonly Row[] } & { readonly cursor: string | null }
  const rows: Row[] = []
  let cursor: string | null = null
  do {
    const after: string = cursor === null ? '' : `&cursor=${cursor}`
    const page: WalletAnswer<Page> | null = await ask(locations, `${path}${after}`)
    if (page === null) return null
    rows.push(...page.body[name])
    cursor = page.body.cursor
  } while (cursor !== null)
  return rows
}

interface Profile {
  readonly proxy: string
  readonly eoa: string | null
  readonly first_trade_at: number | null
  readonly last_trade_at: number | null
  readonly metrics: Readonly<Record<string, number>>
  readonly windows: { readonly all_time: Totals; readonly one_day: Totals }
}
interface Totals {
  readonly realized_pnl: number
  readonly volume: number
  readonly trades: number
  readonly fees_paid: number
  readonly income: number
}
interface Pnl {
  readonly realized_pnl: number
  readonly unrealized_pnl: number
  readonly total_pnl: number
  readonly fees_paid: number
  readonly net_realized_pnl: number
  readonly total_volume: number
  readonly total_trades: number
  readonly win_count: number
  readonly loss_count: number
  readonly pnl_over_time: readonly {
    readonly timestamp: number
    readonly pnl_to_date: number
    readonly realized_pnl: number
  }[]
}
interface Position {
  readonly condition_id: string
  readonly token_id: string
  readonly question: string | null
  readonly slug: string | null
  readonly outcome: string | null
  readonly balance: number
  readonly avg_entry_price: number | null
  readonly initial_value: number
  readonly realized_pnl: number
  readonly status: string
  readonly opened_at: number
  readonly updated_at: number
  readonly redeemable: boolean
  readonly mergeable: boolean
  readonly neg_risk: boolean | null
  readonly cost_basis_known: boolean
}
interface Row {
  readonly id: string
  readonly tx_hash: string
  readonly size: number
  readonly timestamp_ms: number
}
interface Fill extends Row {
  readonly token_id: string
  readonly side: string
  readonly price: number
  readonly size_usd: number
  readonly role: string | null
}
interface Activity extends Row {
  readonly type: string
  readonly condition_id: string
  readonly usd_value: number
}

const micros = (value: number): number => Math.round(value * MICROS)

export const fillText = ({ token_id, side, price, ...row }: Fill, role = row.role): string =>
  `fill ${token_id} ${side} ${micros(price)} ${role} ${micros(row.size)} ${micros(row.size_usd)} ${row.tx_hash} ${row.timestamp_ms / 1_000}`

const activityText = ({ type, condition_id, size, usd_value, tx_hash, timestamp_ms }: Activity) =>
  `${type.toLowerCase()} ${condition_id} ${micros(size)} ${micros(usd_value)} ${tx_hash} ${timestamp_ms / 1_000}`

export const fillsOf = (locations: ServiceLocations, address: string) =>
  askAll<'trades', Fill>(locations, `${address}/trades?limit=500&order=asc`, 'trades')

/** Figures with the names of `expectedSheet`, or a text why the figures are unavailable or incomplete. */
export async function servedSheet(
  locations: ServiceLocations,
  address: string,
  outcomeOf: (market: string, token: string) => number,
  { isCompleteOnly } = { isCompleteOnly: true },
): Promise<Sheet | string> {
  const profile = await ask<Profile>(locations, address)
  if (profile === null) return 'no answer'
  const pnl = await ask<Pnl>(locations, `${address}/pnl`)
  const positions = await askAll<'positions', Position>(
    locations,
    `${address}/positions?status=all&min_balance=0&limit=500`,
    'positions',
  )
  const fills = await fillsOf(locations, address)
  const activities = await askAll<'activities', Activity>(
    locations,
    `${address}/activity?limit=500`,
    'activities',
  )
  const isAnswered = positions !== null && fills !== null && activities !== null
  if (pnl === null || !isAnswered) return 'no answer'
  if (isCompleteOnly && !(profile.isComplete && pnl.isComplete)) return 'not complete'
  const sheet: Sheet = new Map()
  addTotals(sheet, profile.body, pnl.body)
  addPositions(sheet, positions, outcomeOf)
  let cash = 0
  for (const row of fills) {
    countRow(sheet, fillText(row))
    const side = row.id.split('-').at(-4)
    cash += (side === 'buy' ? -1 : 1) * micros(row.size_usd)
  }
  for (const row of activities) {
    countRow(sheet, activityText(row))
    cash += (row.type === 'SPLIT' ? -1 : 1) * micros(row.usd_value)
  }
  const cost = positions.reduce((sum, one) => sum + micros(one.initial_value), 0)
  sheet.set('cost', cost).set('cash', cash)
  sheet.set('closure', cash + cost - micros(pnl.body.realized_pnl))
  const ids = [...fills, ...activities].map(({ id }) => id)
  return new Set(ids).size === ids.length ? sheet : sheet.set('an id comes twice', true)
}

function addTotals(sheet: Sheet, profile: Profile, pnl: Pnl): void {
  const { metrics, windows } = profile
  const of = (name: string): number => metrics[name] ?? Number.NaN
  const figures = {
    ...{ proxy: profile.proxy, eoa: profile.eoa },
    ...{ realized: micros(of('realized_pnl')), volume: micros(of('total_volume')) },
    ...{ trades: of('total_trades'), markets: of('total_markets') },
    ...{ wins: of('win_count'), losses: of('loss_count'), splits: of('splits') },
    ...{ merges: of('merges'), redemptions: of('redemptions'), conversions: of('conversions') },
    ...{ fees: micros(of('fees_paid')), income: micros(of('income')) },
    net: micros(of('net_realized_pnl')),
    ...{ first: profile.first_trade_at, last: profile.last_trade_at },
  }
  for (const [name, value] of Object.entries(figures)) sheet.set(name, value)
  const own: readonly (readonly [string, unknown, unknown])[] = [
    ['pnl realized', pnl.realized_pnl, of('realized_pnl')],
    ['pnl volume', pnl.total_volume, of('total_volume')],
    ['pnl trades', pnl.total_trades, of('total_trades')],
    ['pnl wins', pnl.win_count, of('win_count')],
    ['pnl losses', pnl.loss_count, of('loss_count')],
    ['pnl total', micros(pnl.total_pnl), micros(pnl.realized_pnl) + micros(pnl.unrealized_pnl)],
    ['pnl net', pnl.net_realized_pnl, of('net_realized_pnl')],
    ['pnl fees', pnl.fees_paid, of('fees_paid')],
    [
      'net total',
      micros(of('net_pnl')),
      micros(of('net_realized_pnl')) + micros(of('unrealized_pnl')),
    ],
    ['day fees', windows.one_day.fees_paid, of('fees_paid')],
    ['day income', windows.one_day.income, of('income')],
    ['window realized', windows.all_time.realized_pnl, of('realized_pnl')],
    ['day realized', windows.one_day.realized_pnl, of('realized_pnl')],
    ['day volume', windows.one_day.volume, of('total_volume')],
    ['day trades', windows.one_day.trades, of('total_trades')],
  ]
  // An entry of `own` exists only if two figures contradict each other.
  for (const [name, one, other] of own) {
    if (one !== other) sheet.set(`${name} is ${one}, elsewhere ${other}`, true)
  }
  const steps = pnl.pnl_over_time
  const sum = steps.reduce((all, step) => all + micros(step.realized_pnl), 0)
  const last = steps.at(-1)?.pnl_to_date ?? 0
  if (sum !== micros(pnl.realized_pnl) || micros(last) !== sum)
    sheet.set('steps do not add up', true)
  if (steps.length === 1_000) return
  for (const { timestamp, realized_pnl, pnl_to_date } of steps) {
    sheet.set(`at ${timestamp}`, `${micros(realized_pnl)} to ${micros(pnl_to_date)}`)
  }
}

function addPositions(
  sheet: Sheet,
  positions: readonly Position[],
  outcomeOf: (market: string, token: string) => number,
): void {
  const held = positions.map((one) => [one.token_id, micros(one.balance)] as const)
  sheet.set('balances', balancesText(held))
  for (const one of positions) {
    const average = one.avg_entry_price
    const row = {
      ...{ market: one.condition_id, outcome: outcomeOf(one.condition_id, one.token_id) },
      ...{ balance: micros(one.balance), cost: micros(one.initial_value) },
      ...{ realized: micros(one.realized_pnl), isCostKnown: one.cost_basis_known },
      ...{ average: average === null ? null : micros(average), status: one.status },
      ...{ opened: one.opened_at, updated: one.updated_at, isRedeemable: one.redeemable },
      ...{ question: one.question, slug: one.slug, label: one.outcome },
      ...{ isMergeable: one.mergeable, isNegRisk: one.neg_risk },
    }
    for (const [name, value] of Object.entries(row)) sheet.set(`${one.token_id} ${name}`, value)
  }
}

/** Figures that differ or that one sheet lacks, with both values. */
export function differences(served: Sheet, due: Sheet): readonly string[] {
  const found: string[] = []
  for (const name of new Set([...due.keys(), ...served.keys()])) {
    const [one, other] = [served.get(name), due.get(name)]
    if (one !== other) found.push(`${name}: ${one}, truly ${other}`)
  }
  return found
}
