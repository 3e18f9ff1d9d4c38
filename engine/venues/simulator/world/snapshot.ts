// Persists a simulated world as one file, without books. Of planned actions it has only redemptions. After a kill the
// world continues from the last file.

import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { SlicedWork } from '../../../time-slices.ts'
import { priceMicros, sizeMicros, type TimeMs, timeMs, usdMicros } from '../../../units.ts'
import {
  SIM_VENUES,
  type SimMarket,
  type SimTrade,
  type SimVenue,
  type SimWallet,
  type SimWalletEvent,
} from '../model.ts'
import { LiveMarket } from './live-market.ts'
import { migratedOf, originOf } from './migrated-market.ts'
import { RunIds } from './run-ids.ts'
import { LiveTrade } from './sim-trade.ts'
import type { VolumeSums } from './traded-volume.ts'
import type { WalletAccount } from './wallet-account.ts'
import { fillEvent, OwnTransaction, WalletFill, WalletOperation } from './wallet-events.ts'
import { operationSeed, type WalletLedgers } from './wallet-ledgers.ts'
import type { SimulatedWorld } from './world.ts'

/** Maximum number of trades of each venue, and of wallet events, in a persisted world. */
export const PERSISTED = { trades: 150_000, events: 300_000 }

const Index = Type.Integer({ minimum: 0 })
const Outcome = Type.Union([Type.Literal(0), Type.Literal(1)])
const Figures = Type.Tuple([Index, Index, Type.Number(), Type.Number(), Type.Number(), Index])
const Kind = Type.Union(
  (['SPLIT', 'MERGE', 'REDEEM', 'CONVERSION', 'REWARD', 'MAKER_REBATE', 'MIGRATION'] as const).map(
    (kind) => Type.Literal(kind),
  ),
)
const Venue = Type.Union([Type.Literal('a'), Type.Literal('b')])

/** Lists refer by index to items of other lists and to the world's wallets. */
const Snapshot = Type.Object({
  format: Type.Literal(2),
  /** Time of the first start of the world. */
  bornMs: Index,
  startedMs: Index,
  runs: Type.Array(Index),
  /** Venue, native id, event number. True: the entry is the market to which this market's tokens migrate. */
  markets: Type.Array(Type.Tuple([Venue, Type.String(), Index, Type.Boolean()])),
  trades: Type.Array(
    Type.Object({
      market: Index,
      run: Index,
      atMs: Index,
      outcome: Outcome,
      isSale: Type.Boolean(),
      price: Index,
      size: Index,
      fill: Index,
      order: Index,
      taker: Index,
      makers: Type.Array(Type.Tuple([Index, Index])),
    }),
  ),
  /** Trades of each venue, oldest first, and the number of trades that were dropped. */
  tapes: Type.Record(Venue, Type.Object({ dropped: Index, trades: Type.Array(Index) })),
  /** Market, sums of its trades, and its last trade. */
  volumes: Type.Array(
    Type.Object({
      market: Index,
      sums: Type.Tuple([
        Index,
        Index,
        Type.Array(Type.Tuple([Type.Integer(), Type.Number(), Type.Number()])),
      ]),
      last: Type.Union([Index, Type.Null()]),
    }),
  ),
  /** Wallets in the order of their first trades. */
  accounts: Type.Array(
    Type.Object({
      wallet: Index,
      firstMs: Index,
      dropped: Index,
      cash: Type.Integer(),
      fees: Index,
      income: Index,
      holdings: Type.Array(Type.Tuple([Index, Figures, Figures])),
    }),
  ),
  /** Events of all wallets, oldest first. For a fill: account, trade and participant. */
  events: Type.Array(
    Type.Union([
      Type.Tuple([Index, Index, Index]),
      Type.Object({
        account: Index,
        kind: Kind,
        atMs: Index,
        market: Type.Union([Index, Type.Null()]),
        outcome: Type.Union([Outcome, Type.Null()]),
        size: Index,
        usd: Index,
        run: Index,
        isOfTrade: Type.Boolean(),
        count: Index,
      }),
    ]),
  ),
})
export type Snapshot = Static<typeof Snapshot>

const checker = TypeCompiler.Compile(Snapshot)

/** Null: the file does not exist. Throws Error if the file is not a snapshot. */
export function readSnapshot(file: string): Snapshot | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  const snapshot: unknown = JSON.parse(text)
  if (!checker.Check(snapshot)) throw new Error(`${file} is no snapshot of a world`)
  return snapshot
}

interface Snapshotted {
  readonly world: SimulatedWorld
  readonly ledgers: WalletLedgers
}

/**
 * Replaces the file atomically. The world must not step before `onCaptured` is called. The rows are written after that.
 * Throws if the file cannot be written.
 */
export function* writeSnapshot(
  file: string,
  source: Snapshotted,
  onCaptured: () => void = () => undefined,
): SlicedWork<void> {
  const captured = yield* capture(source)
  onCaptured()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.draft`
  const output = new Output(openSync(draft, 'w', 0o600))
  try {
    yield* writeRows(output, captured)
    output.flush()
  } finally {
    closeSync(output.descriptor)
  }
  renameSync(draft, file)
}

const OUTPUT_CHARACTERS = 65_536

class Output {
  readonly descriptor: number
  #text = ''

  constructor(descriptor: number) {
    this.descriptor = descriptor
  }

  add(text: string): void {
    this.#text += text
    if (this.#text.length >= OUTPUT_CHARACTERS) this.flush()
  }

  flush(): void {
    writeFileSync(this.descriptor, this.#text)
    this.#text = ''
  }

  *list(name: string, rows: Iterable<unknown>): SlicedWork<void> {
    this.add(`"${name}":[`)
    let separator = ''
    for (const row of rows) {
      this.add(separator + JSON.stringify(row))
      separator = ','
      yield
    }
    this.add(']')
  }
}

class Table<Item> {
  readonly #numbers = new Map<Item, number>()

  of(item: Item): number {
    const number = this.#numbers.get(item) ?? this.#numbers.size
    this.#numbers.set(item, number)
    return number
  }

  /** All items, including items that are added during the iteration. */
  items(): Iterable<Item> {
    return this.#numbers.keys()
  }
}

class Tables {
  readonly runs = new Table<TimeMs>()
  readonly markets = new Table<SimMarket>()
  readonly trades = new Table<LiveTrade>()
  readonly accounts = new Table<WalletAccount>()
  readonly wallets: Table<SimWallet>

  constructor(wallets: readonly SimWallet[]) {
    this.wallets = new Table<SimWallet>()
    for (const wallet of wallets) this.wallets.of(wallet)
  }
}

interface Traded {
  readonly sums: VolumeSums
  readonly last: SimTrade | null
}

/** State of a world at one moment. It contains copies of everything that later steps change. */
interface Captured {
  readonly tables: Tables
  readonly bornMs: TimeMs
  readonly startedMs: TimeMs
  readonly accounts: readonly Snapshot['accounts'][number][]
  readonly events: Iterable<readonly [WalletAccount, SimWalletEvent]>
  readonly tapes: readonly { venue: SimVenue; dropped: number; trades: readonly SimTrade[] }[]
  /** Volumes of listed markets, null without trades. Those of other markets no longer change. */
  readonly volumes: ReadonlyMap<SimMarket, Traded | null>
}

const MARKETS_PER_STEP = 1_000

function* capture({ world, ledgers }: Snapshotted): SlicedWork<Captured> {
  const { bornMs, startedMs } = world
  const tables = new Tables(world.wallets)
  const accounts: Snapshot['accounts'][number][] = []
  for (const account of ledgers.all()) {
    tables.accounts.of(account)
    const { wallet, firstMs, droppedEventCount: dropped, cash, fees, income } = account
    const holdings: Snapshot['accounts'][number]['holdings'] = []
    for (const { market, positions } of account.holdings.values()) {
      const [yes, no] = positions
      holdings.push([tables.markets.of(market), [...yes.figures()], [...no.figures()]])
      yield
    }
    const number = tables.wallets.of(wallet)
    accounts.push({ wallet: number, firstMs, dropped, cash, fees, income, holdings })
  }
  const tapes = SIM_VENUES.map((venue) => {
    return { venue, dropped: world.droppedTradeCount(venue), trades: [...world.trades(venue)] }
  })
  const volumes = new Map<SimMarket, Traded | null>()
  for (const venue of SIM_VENUES) {
    for (const [position, market] of world.markets(venue).entries()) {
      volumes.set(market, tradedOf(market))
      if (position % MARKETS_PER_STEP === 0) yield
    }
  }
  const events = ledgers.retained()
  return { tables, bornMs, startedMs, accounts, events, tapes, volumes }
}

/** Null: the market has no trades, or it is the target of a migration. */
function tradedOf(market: SimMarket): Traded | null {
  const sums = market instanceof LiveMarket ? market.tradedSums() : null
  return sums === null ? null : { sums, last: market.lastTrade }
}

/** Writes the tables last, because writing the other lists numbers their items. */
function* writeRows(output: Output, captured: Captured): SlicedWork<void> {
  const { tables, bornMs, startedMs, accounts, tapes } = captured
  const { runs, markets, trades } = tables
  output.add(`{"format":2,"bornMs":${bornMs},"startedMs":${startedMs},`)
  yield* output.list('accounts', accounts)
  output.add(',')
  yield* output.list('events', eventRows(captured))
  output.add(',"tapes":{')
  for (const { venue, dropped, trades: tape } of tapes) {
    output.add(`${venue === 'a' ? '' : ','}"${venue}":{"dropped":${dropped},`)
    yield* output.list('trades', numbersOf(trades, tape))
    output.add('}')
  }
  output.add('},')
  yield* output.list('volumes', volumeRows(captured))
  output.add(',')
  yield* output.list('trades', tradeRows(tables))
  output.add(',')
  yield* output.list('markets', marketRows(markets))
  output.add(',')
  yield* output.list('runs', runs.items())
  output.add('}')
}

function* numbersOf(trades: Table<LiveTrade>, tape: readonly SimTrade[]): Generator<number> {
  for (const trade of tape) yield tradeNumber(trades, trade)
}

function* volumeRows({ tables, volumes }: Captured): Generator<Snapshot['volumes'][number]> {
  const { markets, trades } = tables
  for (const [market, traded] of volumes) if (traded !== null) markets.of(market)
  for (const { market } of trades.items()) markets.of(market)
  for (const market of markets.items()) {
    const captured = volumes.get(market)
    const traded = captured === undefined ? tradedOf(market) : captured
    if (traded === null) continue
    const { sums, last } = traded
    const lastNumber = last === null ? null : tradeNumber(trades, last)
    yield { market: markets.of(market), sums, last: lastNumber }
  }
}

function* tradeRows(tables: Tables): Generator<Snapshot['trades'][number]> {
  const { markets, runs, wallets } = tables
  for (const trade of tables.trades.items()) {
    yield {
      ...{ market: markets.of(trade.market), run: runs.of(trade.ids.startedMs), atMs: trade.atMs },
      ...{ outcome: trade.outcomeIndex, isSale: trade.side === 'sell', price: trade.price },
      ...{ size: trade.size, fill: trade.fillCount, order: trade.orderCount },
      taker: wallets.of(trade.taker),
      makers: trade.makers.map(({ wallet, size }): [number, number] => [wallets.of(wallet), size]),
    }
  }
}

function* marketRows(markets: Table<SimMarket>): Generator<Snapshot['markets'][number]> {
  for (const market of markets.items()) {
    const origin = originOf(market)
    const { venue, nativeId } = (origin ?? market).listing
    yield [venue, nativeId, market.event.number, origin !== null]
  }
}

function* eventRows({ tables, events }: Captured): Generator<Snapshot['events'][number]> {
  for (const [account, event] of events) yield eventRow(tables, account, event)
}

function tradeNumber(trades: Table<LiveTrade>, trade: SimTrade): number {
  if (trade instanceof LiveTrade) return trades.of(trade)
  throw new TypeError('all trades of a world are LiveTrade')
}

function eventRow(
  { runs, markets, trades, accounts }: Tables,
  account: WalletAccount,
  event: SimWalletEvent,
): Snapshot['events'][number] {
  const number = accounts.of(account)
  if (event instanceof WalletFill) {
    return [number, tradeNumber(trades, event.trade), event.participant]
  }
  if (!(event instanceof WalletOperation)) throw new TypeError('no event of a ledger')
  const { kind, atMs, market, outcomeIndex: outcome, size, usd, transaction } = event
  const isOfTrade = transaction instanceof LiveTrade
  const own = transaction instanceof OwnTransaction ? transaction : null
  const run = isOfTrade ? transaction.ids : own?.ids
  if (run === undefined) throw new TypeError('no transaction of a ledger')
  return {
    ...{ account: number, kind, atMs, outcome, size, usd },
    market: market === null ? null : markets.of(market),
    run: runs.of(run.startedMs),
    isOfTrade: isOfTrade || own?.isOfTrade === true,
    count: isOfTrade ? transaction.orderCount : (own?.count ?? 0),
  }
}

/** Restores the state into a new world and its ledgers. Throws Error if the snapshot belongs to another world. */
export function restoreSnapshot(
  snapshot: Snapshot,
  world: SimulatedWorld,
  ledgers: WalletLedgers,
): void {
  const { seed } = world
  const runs = snapshot.runs.map(timeMs).map((startedMs) => ({
    trades: new RunIds({ seed, startedMs }),
    operations: new RunIds({ seed: operationSeed(seed), startedMs }),
  }))
  const markets = snapshot.markets.map(([venue, nativeId, eventNumber, isMigrated]) => {
    const listed = world.marketOf({ venue, nativeId, eventNumber })
    const market = listed !== null && isMigrated ? migratedOf(listed) : listed
    if (market === null) throw new Error(`${nativeId} is no market of this world`)
    return market
  })
  const trades = snapshot.trades.map((row) => {
    return new LiveTrade({
      market: at(markets, row.market),
      outcomeIndex: row.outcome,
      side: row.isSale ? 'sell' : 'buy',
      price: priceMicros(row.price),
      size: sizeMicros(row.size),
      atMs: timeMs(row.atMs),
      taker: at(world.wallets, row.taker),
      makers: row.makers.map(([wallet, size]) => {
        return { wallet: at(world.wallets, wallet), size: sizeMicros(size) }
      }),
      ids: at(runs, row.run).trades,
      ...{ fillCount: row.fill, orderCount: row.order },
    })
  })
  for (const venue of SIM_VENUES) {
    const tape = snapshot.tapes[venue]
    world.restoreTrades(
      venue,
      tape.trades.map((number) => at(trades, number)),
      tape.dropped,
    )
  }
  for (const { market: number, sums, last } of snapshot.volumes) {
    const market = at(markets, number)
    if (!(market instanceof LiveMarket)) throw new Error('a migrated market has no volume')
    market.restoreTraded(sums, last === null ? null : at(trades, last))
  }
  const accounts = snapshot.accounts.map((row) => restoreAccount(row, { world, ledgers, markets }))
  for (const row of snapshot.events) {
    if (Array.isArray(row)) {
      const [account, trade, participant] = row
      ledgers.restoreEvent(at(accounts, account), fillEvent(at(trades, trade), participant))
      continue
    }
    const { kind, outcome: outcomeIndex, isOfTrade, count } = row
    const ids = at(runs, row.run)[isOfTrade ? 'trades' : 'operations']
    const event = new WalletOperation({
      ...{ kind, outcomeIndex, atMs: timeMs(row.atMs) },
      ...{ size: sizeMicros(row.size), usd: usdMicros(row.usd) },
      market: row.market === null ? null : at(markets, row.market),
      transaction: new OwnTransaction(ids, count, isOfTrade),
    })
    ledgers.restoreEvent(at(accounts, row.account), event)
  }
  ledgers.restorePlans()
}

function restoreAccount(
  row: Snapshot['accounts'][number],
  parts: {
    readonly world: SimulatedWorld
    readonly ledgers: WalletLedgers
    readonly markets: readonly SimMarket[]
  },
): WalletAccount {
  const { world, ledgers, markets } = parts
  const account = ledgers.account(at(world.wallets, row.wallet), timeMs(row.firstMs))
  account.droppedEventCount = row.dropped
  account.cash = usdMicros(row.cash)
  account.fees = usdMicros(row.fees)
  account.income = usdMicros(row.income)
  for (const [market, yes, no] of row.holdings) {
    const { positions } = ledgers.holding(account, at(markets, market))
    positions[0].restore(yes)
    positions[1].restore(no)
  }
  return account
}

function at<Item>(items: readonly Item[], position: number): Item {
  const item = items[position]
  if (item === undefined) throw new RangeError(`no item ${position}`)
  return item
}
