import { systemClock } from '../../../../engine/clock.ts'
import { openLog } from '../../../../engine/log.ts'
import { Metrics } from '../../../../engine/metrics.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { timeMs } from '../../../../engine/units.ts'
import { openPolymarket } from '../../../../engine/venues/polymarket/polymarket.ts'
import { SIM_FAULTS } from '../../../../engine/venues/simulator/faults.ts'
import { startSimulator } from '../../../../engine/venues/simulator/simulator.ts'

const log = openLog('error')
const faultsOn = process.argv[2] === 'on'
const rate = Number(process.argv[3] ?? 500)
const seconds = Number(process.argv[4] ?? 20)
const sim = await startSimulator({
  seed: 1,
  marketsPerVenue: 100,
  messagesPerSecond: rate,
  faults: faultsOn
    ? SIM_FAULTS.filter(
        (f) => (process.argv[5] ?? '') === '' || process.argv[5]!.split(',').includes(f),
      )
    : [],
  clock: systemClock,
  log,
  basePort: 0,
  kalshiPublicKeyPem: null,
})
const metrics = new Metrics()
const books = new Map<string, any>()
const trades = new Map<string, any>()
const kinds: any = {}
let dupTrades = 0
const gaps: any = {}
const first = new Map<string, string>()
const mism = { top: 0, crossed: 0 }
const venue = openPolymarket(
  { clock: systemClock, random: seededRandom(1), log, metrics, emit },
  sim.urls,
)
const makers = new Map<string, Set<string>>()
const startMs = systemClock.nowMs()
function emit(e: any) {
  kinds[e.kind] = (kinds[e.kind] ?? 0) + 1
  if (e.kind === 'bookSnapshot') {
    if (e.isInOrder || !books.has(e.outcome))
      books.set(e.outcome, {
        bid: new Map(e.bids.map((l: any) => [l.price, l.size])),
        ask: new Map(e.asks.map((l: any) => [l.price, l.size])),
        stale: false,
      })
  } else if (e.kind === 'bookChange') {
    const b = books.get(e.outcome)
    if (!b) return
    if (b.stale) {
      /* wait */
    }
    for (const c of e.changes)
      c.size === 0 ? b[c.side].delete(c.price) : b[c.side].set(c.price, c.size)
    const bid = b.bid.size ? Math.max(...b.bid.keys()) : null
    const ask = b.ask.size ? Math.min(...b.ask.keys()) : null
    if (e.top && !b.stale && (e.top.bid !== bid || e.top.ask !== ask)) {
      mism.top++
      b.stale = true
      venue.feed.resync([e.outcome])
    }
  } else if (e.kind === 'trade') {
    if (trades.has(e.nativeId)) dupTrades++
    else trades.set(e.nativeId, e)
  } else if (e.kind === 'tradeParticipant') {
    const s = makers.get(e.txHash) ?? new Set()
    s.add(e.wallet)
    makers.set(e.txHash, s)
  } else if (e.kind === 'tickSize') {
    const b = books.get(e.outcome)
    if (b) b.stale = true
  } else if (e.kind === 'feedUp' || e.kind === 'feedDown' || e.kind === 'feedGap') {
    gaps[`${e.kind} ${e.stream} ${e.reason}`] = (gaps[`${e.kind} ${e.stream} ${e.reason}`] ?? 0) + 1
    if (
      (e.kind === 'feedUp' && e.stream === 'trades' && e.sinceMs !== null) ||
      (e.kind === 'feedGap' && e.stream === 'trades')
    )
      venue.feed
        .fetchTrades({
          market: null,
          fromMs: e.sinceMs,
          toMs: systemClock.nowMs(),
          source: 'backfill',
        })
        .catch((x) => console.log('backfill failed', String(x)))
    if (e.kind === 'feedGap' && e.stream === 'books') venue.feed.resync(e.outcomes)
  }
}
let listed = 0
const all: any[] = []
const t0 = Date.now()
await venue.catalog.crawl((p) => {
  listed += p.markets.length
  all.push(...p.markets)
}, AbortSignal.timeout(60000))
console.log(
  'crawled',
  listed,
  'ms',
  Date.now() - t0,
  all.reduce((c, m) => ((c[m.status] = (c[m.status] ?? 0) + 1), c), {}),
)
let refreshed = 0
await venue.catalog.refresh(
  timeMs(Date.now() - 5000),
  (p) => {
    refreshed += p.markets.length
  },
  AbortSignal.timeout(60000),
)
console.log('refreshed', refreshed)
const some = await venue.catalog.fetchMarkets(
  all.slice(0, 90).map((m) => m.nativeId),
  AbortSignal.timeout(60000),
)
console.log(
  'fetched',
  some.markets.length,
  some.events.length,
  JSON.stringify(some.markets[0]).slice(0, 700),
)
const got = new Set(some.markets.map((m) => m.nativeId))
console.log(
  all
    .slice(0, 90)
    .filter((m) => !got.has(m.nativeId))
    .map((m) => [
      m.status,
      m.isUnopened,
      m.native.active,
      m.native.closed,
      m.native.archived,
      m.eventSlug,
    ]),
)
venue.feed.start()
venue.feed.watch(
  all
    .filter((m) => m.status === 'open')
    .map((m) => ({
      nativeId: m.nativeId,
      outcomes: m.outcomes.map((o: any) => o.id),
      status: m.status,
      openAtMs: m.openAtMs,
      closeAtMs: m.closeAtMs,
    })),
)
for (const m of all) first.set(m.nativeId, m.outcomes[0].id)
const cpu0 = process.cpuUsage()
await new Promise((r) => setTimeout(r, seconds * 1000))
console.log('cpu s', (process.cpuUsage(cpu0).user / 1e6).toFixed(1))
// compare
const compare = () => {
  let bad = 0,
    missing = 0,
    n = 0,
    staleBad = 0
  for (const m of sim.world.markets('a')) {
    if (m.status !== 'open') continue
    const b = books.get(first.get(m.listing.nativeId) ?? '')
    n++
    if (!b) {
      missing++
      continue
    }
    const wb = new Map(m.book.bids.map((l) => [l.price, l.size])),
      wa = new Map(m.book.asks.map((l) => [l.price, l.size]))
    let d = 0
    for (const [w, o] of [
      [wb, b.bid],
      [wa, b.ask],
    ] as any) {
      for (const [k, v] of w) if (o.get(k) !== v) d++
      for (const k of o.keys()) if (!w.has(k)) d++
    }
    if (d) {
      bad++
      if (b.stale) staleBad++
    }
  }
  console.log('books', { n, bad, missing, staleBad })
}
compare()
await new Promise((r) => setTimeout(r, 300))
compare()
await new Promise((r) => setTimeout(r, 6000))
const endMs = Date.now() - 3000
const truth = sim.world.trades('a').filter((t) => t.atMs > startMs + 8000 && t.atMs < endMs)
const mine = new Map<string, number>()
for (const t of trades.values()) {
  const k = `${t.txHash}-${t.outcome}-${t.taker}-${t.side}-${t.size}-${t.price}`
  mine.set(k, (mine.get(k) ?? 0) + 1)
}
let lost = 0,
  extra = 0
const tk = new Map<string, number>()
for (const t of truth) {
  const k = `${t.txHash}-${t.market.listing.tokens[t.outcomeIndex]}-${t.taker.address}-${t.side}-${t.size}-${t.price}`
  tk.set(k, (tk.get(k) ?? 0) + 1)
}
let eq = 0
for (const [k, c] of tk) {
  const o = mine.get(k) ?? 0
  if (c > 1) eq++
  if (o < c) {
    lost += c - o
    if (lost < 4) console.log('LOST', k, c, o)
  }
  if (o > c) extra += o - c
}
let makersMissing = 0
for (const t of truth)
  for (const mk of t.makers)
    if (mk.wallet.address !== t.taker.address && !makers.get(t.txHash)?.has(mk.wallet.address))
      makersMissing++
console.log('trades', {
  truth: truth.length,
  keys: tk.size,
  equalKeys: eq,
  mine: trades.size,
  lost,
  extra,
  dupTrades,
  makersMissing,
})
console.log(kinds, mism, gaps)
for (const name of [
  'venue_messages_total',
  'venue_ignored_total',
  'venue_rejected_total',
  'venue_troubles_total',
  'venue_socket_bugs_total',
  'fetch_requests_total',
  'fetch_retries_total',
])
  console.log(name, Object.fromEntries([...metrics.counts(name)].map(([k, c]) => [k, c.value])))
console.log(venue.feed.health())
await venue.feed.stop()
await sim.stop()
