import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Sports } from '../../../actors/sports/sports.ts'
import type { GamesView, MarketView } from '../../../actors/views.ts'
import { nativeEventId, type VenueKey } from '../../../engine/ids.ts'
import { isRecord } from '../../../engine/json-record.ts'
import type { EventListing, MarketListing } from '../../../engine/market/market.ts'
import { seededRandom } from '../../../engine/random.ts'
import { easternDate } from '../../../engine/sports/eastern-date.ts'
import { SPORTS, type Sport } from '../../../engine/sports/leagues.ts'
import { timeMs } from '../../../engine/units.ts'
import { termsOf } from '../../../engine/venues/kalshi/catalog/fees.ts'
import { parseEvent, parseMarket } from '../../../engine/venues/kalshi/catalog/listing.ts'
import { readEvent, readMarket } from '../../../engine/venues/polymarket/catalog/listing.ts'
import { Calendar } from '../../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../../engine/venues/simulator/faults.ts'
import { renderEvent } from '../../../engine/venues/simulator/kalshi/events.ts'
import { renderMarket } from '../../../engine/venues/simulator/kalshi/render.ts'
import type { SimEvent } from '../../../engine/venues/simulator/model.ts'
import { eventRow } from '../../../engine/venues/simulator/polymarket/events.ts'
import { gammaMarket } from '../../../engine/venues/simulator/polymarket/render.ts'
import { SimulatedWorld } from '../../../engine/venues/simulator/world/world.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { countTicks } from '../../support/fakes/loop-ticks.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { listing, NAMES } from '../../support/worlds/builders.ts'
import { emptyCatalog } from '../../support/worlds/random-catalog.ts'

class Bench {
  readonly clock: ManualClock
  readonly events = new Map<string, EventListing>()
  readonly sports: Sports
  readonly #engine: FakeEngine

  constructor(clock: ManualClock = new ManualClock()) {
    this.clock = clock
    this.#engine = new FakeEngine(clock)
    this.sports = new Sports({
      clock,
      catalog: { names: NAMES, event: (venue, id) => this.events.get(`${venue}/${id}`) ?? null },
    })
  }

  games(sport: Sport, date: string): GamesView {
    const games = this.sports.games(sport, date)
    assert.ok(!(games instanceof Promise))
    return games
  }

  list(event: EventListing, markets: readonly MarketListing[]): MarketView[] {
    this.events.set(`${event.venue}/${event.nativeId}`, event)
    return markets.map((listing) => {
      const view = this.#engine.add(listing.nativeId, listing)
      this.sports.onListed(view)
      return view
    })
  }

  listSimulated(venue: VenueKey, event: SimEvent): MarketView[] {
    const nowMs = this.clock.nowMs()
    if (venue === 'a') {
      const row = eventRow(event, { nowMs, hasTags: true })
      const parent = isRecord(row) ? row : null
      const listing = readEvent(row)
      assert.ok(typeof listing === 'object')
      const markets = event.markets.map((market) =>
        readMarket(gammaMarket(market, { nowMs, hasEvent: false, hasTags: false }), parent),
      )
      return this.list(
        listing,
        markets.filter((market) => typeof market === 'object'),
      )
    }
    const { series: ticker, category, tags } = event
    const series = new Map([[ticker, { ticker, category, tags, fees: termsOf({}) }]])
    const row = parseEvent(renderEvent(event, { updatedMs: nowMs, markets: null }), series)
    assert.ok(row.kind === 'event')
    const markets = event.markets.flatMap((market) => {
      const read = parseMarket(renderMarket(market, { nowMs, metadataMs: nowMs }), row.listing)
      return read.kind === 'market' ? [read.listing] : []
    })
    return this.list(row.listing, markets)
  }
}

function newWorld(set: { seed: number; marketsPerVenue: number; clock: ManualClock }) {
  const { seed, clock } = set
  return new SimulatedWorld({
    seed,
    messagesPerSecond: 1,
    plan: new Calendar(set),
    faults: new Faults([], seededRandom(1)),
    clock,
    random: seededRandom('world'),
  })
}

function truthOf(event: SimEvent): string | null {
  const { game } = event
  if (game !== null) {
    const teams = [game.away.name, game.home.name].sort().join('|')
    return `${game.league}/${game.date}/${teams}/${game.startMs}`
  }
  if (!event.tags.includes('Golf')) return null
  const tournament = /(?:: )?([\w']+ \w+) (?:Winner|Top|To Make)/.exec(event.title)?.[1]
  return `pga/${easternDate(event.endMs)}/${tournament}`
}

const isLong = process.env.TEST_LONG === '1'

describe('games of the simulated venues', () => {
  for (const { seed, startMs } of [
    { seed: 1, startMs: Date.UTC(2026, 10, 20, 17) },
    { seed: 2, startMs: Date.UTC(2026, 6, 4, 3) },
    ...(isLong ? [{ seed: 3, startMs: Date.UTC(2027, 2, 14, 8) }] : []),
  ]) {
    test(`groups each game of all eight sports under a unique key for both venues (seed ${seed})`, (t) => {
      const clock = new ManualClock(timeMs(startMs))
      const bench = new Bench(clock)
      const world = newWorld({ seed, marketsPerVenue: 3_000, clock })
      const truths = new Map<string, Record<'a' | 'b', MarketView[]>>()
      for (const venue of ['b', 'a'] as const) {
        for (const event of world.events(venue)) {
          const views = bench.listSimulated(venue, event)
          const truth = truthOf(event)
          if (truth === null) continue
          const existing = truths.get(truth) ?? { a: [], b: [] }
          existing[venue].push(...views)
          truths.set(truth, existing)
        }
      }
      const keyOf = new Map<MarketView, string>()
      const sportsSeen = new Set<string>()
      let seconds = 0
      for (let days = -6; days <= 12; days += 1) {
        const date = easternDate(startMs + days * 86_400_000)
        for (const sport of SPORTS) {
          for (const [key, { markets }] of bench.games(sport, date)) {
            sportsSeen.add(sport)
            if (sport === 'mlb' && key.endsWith('-2')) seconds += 1
            for (const market of markets) keyOf.set(market, key)
          }
        }
      }
      assert.deepEqual([...sportsSeen].sort(), [...SPORTS].sort())
      const truthOfKey = new Map<string, string>()
      let both = 0
      for (const [truth, { a, b }] of truths) {
        const keys = new Set([...a, ...b].map((market) => keyOf.get(market)))
        assert.deepEqual([...keys].length, 1, `${truth} is under ${[...keys].join(' and ')}`)
        const key = [...keys][0] ?? ''
        assert.notEqual(key, '', `${truth} is not found`)
        assert.equal(truthOfKey.get(key) ?? truth, truth, key)
        truthOfKey.set(key, truth)
        if (a.length > 0 && b.length > 0) both += 1
      }
      t.diagnostic(`${truths.size} games, ${both} at both venues, ${seconds} second games`)
      assert.ok(both > 20 && seconds > 0)
    })
  }
})

describe('games of individual listings', () => {
  const game = { id: 'nfl-dal-phi-2025-09-04', title: 'Cowboys vs. Eagles' }
  const ofA = (bench: Bench, { id, title } = game, markets = [id, `${id}-total-47pt5`]) =>
    bench.list(
      eventListing('a', id, title),
      markets.map((slug) => listing(`0x${slug}`, { venue: 'a', slug, event: nativeEventId(id) })),
    )
  const ofB = (bench: Bench, id: string, title: string, suffixes: readonly string[]) =>
    bench.list(
      eventListing('b', id, title),
      suffixes.map((suffix) =>
        listing(`${id}-${suffix}`, {
          venue: 'b',
          slug: `${id}-${suffix}`,
          event: nativeEventId(id),
        }),
      ),
    )
  const show = (bench: Bench, sport: Sport = 'nfl', date = '2025-09-04') =>
    [...bench.games(sport, date)].map(([key, { markets }]) => `${key} ${markets.length}`)

  test('groups the markets of all events of a game under one key, for any order of arrival', () => {
    const bench = new Bench()
    ofB(bench, 'KXNFLGAME-25SEP04DALPHI', 'Dallas at Philadelphia', ['DAL', 'PHI'])
    assert.deepEqual(show(bench), ['nfl-dal-phi-2025-09-04 2'])
    ofA(bench)
    ofB(bench, 'KXNFLSPREAD-25SEP04DALPHI', 'Dallas at Philadelphia: Spread', ['PHI7'])
    assert.deepEqual(show(bench), ['nfl-dal-phi-2025-09-04 5'])
    assert.deepEqual(show(bench, 'cfb'), [])
    assert.deepEqual(show(bench, 'nfl', '2025-09-05'), [])
  })

  test('removes an expired market from its game, and removes the game with its last market', () => {
    const bench = new Bench()
    const views = ofA(bench)
    for (const view of views.slice(1)) bench.sports.onRemoved(view)
    assert.deepEqual(show(bench), ['nfl-dal-phi-2025-09-04 1'])
    for (const view of views) bench.sports.onRemoved(view)
    assert.deepEqual(show(bench), [])
    for (const view of views) bench.sports.onListed(view)
    assert.deepEqual(show(bench), ['nfl-dal-phi-2025-09-04 2'])
  })

  test('replaces the key of a Kalshi game by Polymarket’s key when Polymarket lists the game or its teams', async () => {
    const bench = new Bench()
    ofB(bench, 'KXNCAAFGAME-25SEP04OKSTMIZZ', 'Oklahoma St. at Missouri', ['OKST', 'MIZZ'])
    assert.deepEqual(show(bench, 'cfb'), ['cfb-okst-mizz-2025-09-04 2'])
    await bench.sports.learnTeams([
      {
        venue: 'a',
        league: 'cfb',
        code: 'missr',
        name: 'Missouri Tigers',
        location: '',
        nickname: 'Tigers',
      },
    ])
    assert.deepEqual(show(bench, 'cfb'), ['cfb-okst-missr-2025-09-04 2'])
    ofA(bench, { id: 'cfb-oks-mzu-2025-09-04', title: 'Oklahoma State vs. Missouri' })
    assert.deepEqual(show(bench, 'cfb'), ['cfb-oks-mzu-2025-09-04 4'])
  })

  test('returns a golf tournament on each of its four days', () => {
    const bench = new Bench()
    const id = 'KXPGATOUR-FAIO26'
    const endAtMs = timeMs(Date.UTC(2026, 1, 1, 23))
    const closing = listing(`${id}-A`, { venue: 'b', event: nativeEventId(id), closeAtMs: endAtMs })
    bench.list(eventListing('b', id, 'Farmers Insurance Open Winner?', endAtMs), [closing])
    const days = [
      '2026-01-28',
      '2026-01-29',
      '2026-01-30',
      '2026-01-31',
      '2026-02-01',
      '2026-02-02',
    ]
    const key = 'pga-farmers-insurance-open-2026-01-29 1'
    assert.deepEqual(
      days.map((date) => show(bench, 'pga', date)),
      [[], [key], [key], [key], [key], []],
    )
  })

  test('applies a list of teams to games that were listed before or after the list arrived', async () => {
    const team = (league: string, code: string, name: string) =>
      ({ venue: 'b', league, code, name, location: '', nickname: '' }) as const
    const teams = [
      team('nba', 'str', 'Team Stars'),
      team('nba', 'stp', 'Team Stripes'),
      team('cfb', 'xst', 'Oregon St.'),
      team('cfb', 'tmiz', 'Missouri'),
    ]
    const shown: string[][] = []
    for (const learnsFirst of [true, false]) {
      const bench = new Bench()
      if (learnsFirst) await bench.sports.learnTeams(teams)
      ofB(bench, 'KXNBAGAME-25SEP04STPSTR', 'Team Stripes at Team Stars', ['STP', 'STR'])
      ofB(bench, 'KXNCAAFSPREAD-25SEP04XSTTMIZ', 'Oregon St. at Missouri: Spread', ['7', '9'])
      if (!learnsFirst) {
        assert.deepEqual(show(bench, 'nba'), [])
        await bench.sports.learnTeams(teams)
      }
      shown.push([...show(bench, 'nba'), ...show(bench, 'cfb')])
    }
    const games = ['nba-stp-str-2025-09-04 2', 'cfb-xst-tmiz-2025-09-04 2']
    assert.deepEqual(shown, [games, games])
  })

  test('assigns teams from the event ticker to markets that list no teams', () => {
    const bench = new Bench()
    const id = 'KXNCAAFGAME-25SEP04ABCDEFG'
    ofB(bench, id, 'Game of the day', ['TIE'])
    assert.deepEqual(show(bench, 'cfb'), [])
    bench.sports.onRemoved(ofB(bench, id, 'Game of the day', ['X'])[0] ?? assert.fail())
    ofB(bench, id, 'Abcd at Efg', ['ABCD'])
    assert.deepEqual(show(bench, 'cfb'), ['cfb-abcd-efg-2025-09-04 2'])
  })

  test('moves a game to a different key at once when the title and start time of its event change', () => {
    const bench = new Bench()
    const id = 'nfl-dal-phi-2025-09-05'
    const views = ofA(bench, { id, title: 'Cowboys vs. Eagles' })
    assert.deepEqual(show(bench, 'nfl', '2025-09-05'), ['nfl-dal-phi-2025-09-05 2'])
    const startAtMs = timeMs(Date.UTC(2025, 8, 5, 0, 20))
    const event = { ...eventListing('a', id, 'Cowboys vs. Eagles'), startAtMs }
    bench.events.set(`a/${id}`, event)
    bench.sports.onEvent(views)
    assert.deepEqual(show(bench, 'nfl', '2025-09-05'), [])
    assert.deepEqual(show(bench, 'nfl', '2025-09-04'), ['nfl-dal-phi-2025-09-04 2'])
  })

  test('moves a game to a different key when the catalogue receives the game’s event without markets', () => {
    const { catalog, clock } = emptyCatalog()
    const sports = new Sports({ catalog, clock })
    catalog.watch(sports)
    const id = 'nfl-dal-phi-2025-09-05'
    const event = eventListing('a', id, 'Cowboys vs. Eagles')
    const market = listing('0x1', { venue: 'a', slug: id, event: event.nativeId })
    catalog.take({ markets: [market], events: [event] })
    const startAtMs = timeMs(Date.UTC(2025, 8, 5, 0, 20))
    catalog.take({ markets: [], events: [{ ...event, startAtMs }] })
    const games = sports.games('nfl', '2025-09-04')
    assert.ok(!(games instanceof Promise))
    assert.deepEqual([...games.keys()], ['nfl-dal-phi-2025-09-04'])
  })

  test('adds teams and groups the games of large days in small time slices', async () => {
    const bench = new Bench(new TickingClock())
    const list = (game: number) => {
      const [away, home] = [`Abilene ${game}`, `Baylor ${game}`]
      const ticker = `KXNCAAMBGAME-25SEP04A${letters(game)}B${letters(game)}`
      ofA(bench, { id: `cbb-a${game}-b${game}-2025-09-04`, title: `${away} vs. ${home}` })
      ofB(bench, ticker, `${away} at ${home}`, [`A${letters(game)}`])
    }
    for (let game = 0; game < 150; game += 1) list(game)
    const grouped = async () => {
      const startedMs = bench.clock.monotonicMs()
      const { result, tickCount } = await turnsOf(() => bench.sports.games('cbb', '2025-09-04'))
      const elapsedMs = bench.clock.monotonicMs() - startedMs
      return { keys: [...result.keys()], tickCount, elapsedMs }
    }
    const first = await grouped()
    assert.equal(first.keys.length, 150)
    assert.ok(first.tickCount > 4, `grouped in ${first.tickCount} turns`)
    const again = bench.sports.games('cbb', '2025-09-04')
    assert.ok(!(again instanceof Promise), 'a cached day is returned synchronously')
    const rows = Array.from({ length: 5_000 }, (_, index) => ({
      ...{ venue: 'a' as const, league: 'cbb', code: `c${index}`, name: `Place ${index}` },
      ...{ location: '', nickname: '' },
    }))
    const learned = await turnsOf(() => bench.sports.learnTeams(rows))
    assert.ok(learned.tickCount > 20, `learned in ${learned.tickCount} turns`)
    assert.deepEqual((await grouped()).keys, first.keys)
    list(150)
    const startedMs = bench.clock.monotonicMs()
    const requested = Array.from({ length: 20 }, () => bench.sports.games('cbb', '2025-09-04'))
    for (const games of await Promise.all(requested)) assert.equal(games.size, 151)
    const elapsedMs = bench.clock.monotonicMs() - startedMs
    assert.ok(
      elapsedMs < 5 * first.elapsedMs,
      `${elapsedMs} ms after ${first.elapsedMs} ms for one`,
    )
  })

  test('stores no data of an event that is added and removed while the games of its day are grouped', async () => {
    const bench = new Bench(new TickingClock())
    const random = seededRandom('stirred days')
    const keyOf = (game: number) => `cbb-a${game}-b${game}-2025-09-04`
    const views = Array.from({ length: 60 }, (_, game) =>
      ofA(bench, { id: keyOf(game), title: `Abilene ${game} vs. Baylor ${game}` }),
    )
    const listed = new Set(views.keys())
    const stir = () => {
      const game = random.below(60)
      const isListed = listed.delete(game)
      if (!isListed) listed.add(game)
      for (const view of views[game] ?? []) {
        if (isListed) bench.sports.onRemoved(view)
        else bench.sports.onListed(view)
      }
    }
    for (let round = 0; round < 60; round += 1) {
      for (let change = 0; change < 5; change += 1) stir()
      const games = bench.sports.games('cbb', '2025-09-04')
      await new Promise<void>((resolve) => setImmediate(resolve))
      for (let change = 0; change < 5; change += 1) stir()
      for (const [key, { markets }] of await games) assert.ok(markets.length > 0, key)
      const now = await bench.sports.games('cbb', '2025-09-04')
      assert.deepEqual([...now.keys()].sort(), [...listed].map(keyOf).sort(), `round ${round}`)
    }
  })

  test('uses the current date in New York when the requested day is `today`', () => {
    const bench = new Bench(new ManualClock(timeMs(Date.UTC(2026, 6, 5, 3, 59))))
    assert.equal(bench.sports.today(), '2026-07-04')
  })
})

class TickingClock extends ManualClock {
  override monotonicMs(): number {
    this.advance(0.005)
    return super.monotonicMs()
  }
}

async function turnsOf<Result>(work: () => Result | Promise<Result>) {
  const loop = countTicks()
  const result = await work()
  loop.stop()
  return { result, tickCount: loop.count() }
}

function letters(number: number): string {
  return String.fromCharCode(65 + Math.floor(number / 26), 65 + (number % 26))
}

function eventListing(
  venue: VenueKey,
  id: string,
  title: string,
  endAtMs: EventListing['endAtMs'] = null,
): EventListing {
  return {
    venue,
    nativeId: nativeEventId(id),
    slug: id.toLowerCase(),
    title,
    description: null,
    series: null,
    category: 'Sports',
    tags: [],
    image: null,
    startAtMs: null,
    endAtMs,
    isMutuallyExclusive: false,
    winnerAmong: null,
    native: {},
  }
}
