import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { matchHandlers } from '../../../actors/matches/match-commands.ts'
import { MatchOverrides } from '../../../actors/matches/match-overrides.ts'
import { Matcher } from '../../../actors/matches/matcher.ts'
import { Matches } from '../../../actors/matches/matches.ts'
import type { LifecycleUpdate } from '../../../engine/events.ts'
import type { MatchTask } from '../../../engine/matching/match-task.ts'
import { type MatchPort, openMatchThread } from '../../../engine/matching/match-thread.ts'
import { openPairFinder, PairFinder } from '../../../engine/matching/search/pair-finder.ts'
import { VETOES } from '../../../engine/matching/veto/vetoes.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { DAY_MS } from '../../../engine/units.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import type { FakeMarket } from '../../support/fakes/market.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { pairScore, subject, wordScorer } from '../../support/reference/word-scorer.ts'
import { NAMES } from '../../support/worlds/builders.ts'

class Bench {
  readonly clock = new ManualClock()
  readonly engine = new FakeEngine(this.clock)
  readonly storage = openMemoryStorage()
  readonly all = new Map<number, FakeMarket>()
  readonly published: string[] = []
  readonly tasks: MatchTask[] = []
  matches = new Matches({ clock: this.clock })
  overrides = this.#openOverrides()
  failure: Error | null = null
  finder: Pick<PairFinder<unknown>, 'run'> = new PairFinder(wordScorer)
  matcher = this.open()

  constructor() {
    this.engine.publisher.watch({
      name: 'recorder',
      onUpdate: (update) => {
        if (update.kind === 'lifecycle') this.published.push(publishedOf(update))
      },
    })
  }

  #openOverrides(): MatchOverrides {
    return new MatchOverrides({
      table: this.storage.matchOverrides,
      find: (venue, id) =>
        [...this.all.values()].find(({ ref }) => ref.venue === venue && ref.nativeId === id) ??
        null,
      nowMs: () => this.clock.nowMs(),
    })
  }

  open(): Matcher {
    const port: MatchPort = {
      run: async (task) => {
        this.tasks.push(task)
        const { failure } = this
        this.failure = null
        if (failure !== null) throw failure
        return this.finder.run(task)
      },
      close: async () => undefined,
    }
    const matcher = new Matcher({
      ...{
        port,
        clock: this.clock,
        log: silentLog,
        overrides: this.overrides,
        matches: this.matches,
      },
      table: this.storage.matches,
      publisher: this.engine.publisher,
      market: (number) => this.all.get(number) ?? null,
      markets: () => this.all.values(),
      nowMs: () => this.clock.nowMs(),
      readerOf: ({ ref }) => NAMES.of(ref.venue).subjects,
      eventOf: () => null,
    })
    this.overrides.setListener(matcher)
    return matcher
  }

  get commands() {
    const find = (id: string) => [...this.all.values()].find(({ ref }) => ref.id === id) ?? null
    const markets = (venue: string | null) =>
      [...this.all.values()].filter(({ ref }) => ref.venue === venue)
    return matchHandlers(
      this.overrides,
      { find, markets, names: NAMES, event: () => null },
      this.clock,
    )
  }

  judgeOpposite(): void {
    const opposite = () => pairScore(79, { vetoes: ['opposite_side'], inverted: true })
    this.finder = new PairFinder({ ...wordScorer, scoreMarkets: opposite })
  }

  useRealScorer(): void {
    this.finder = openPairFinder()
  }

  reopen(): void {
    this.matches = new Matches({ clock: this.clock })
    this.finder = new PairFinder(wordScorer)
    this.overrides = this.#openOverrides()
    this.matcher = this.open()
  }

  add(venue: 'a' | 'b', name: string, question: string): FakeMarket {
    const native = {}
    const market = this.engine.add(name, { venue, question, native, eventSlug: `event-${name}` })
    this.all.set(market.ref.number, market)
    this.matcher.onListed(market)
    return market
  }

  change(market: FakeMarket, set: Partial<FakeMarket['summary']>): void {
    market.summary = { ...market.summary, ...set }
    this.matcher.onListed(market)
  }

  async settle(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve))
    while (this.matcher.isBusy)
  }

  get pairs(): string[] {
    return [...this.matches.all()]
      .map(({ a, b, pairScore: checked }) => `${a.ref.nativeId}-${b.ref.nativeId} ${checked.score}`)
      .sort()
  }
}

const publishedOf = ({ event, market, matchedMarket }: LifecycleUpdate): string =>
  `${event} ${market.nativeId} ${matchedMarket?.nativeId}`

async function started(): Promise<Bench> {
  const bench = new Bench()
  bench.add('a', 'a1', 'Will Ada win the great medal in Ruritania')
  bench.add('a', 'a2', 'Will it rain on the parade of Zenda')
  bench.add('b', 'b1', 'Will Ada win the great medal in Ruritania')
  bench.add('b', 'b2', 'Will it rain on the parade of Strelsau')
  bench.matcher.start()
  await bench.settle()
  return bench
}

describe('Matcher', () => {
  test('matches markets that were listed before the matcher started, and markets that are listed later', async () => {
    const bench = await started()
    assert.deepEqual(bench.pairs, ['a1-b1 100', 'a2-b2 78'])
    assert.equal(bench.matches.count, 1)
    bench.add('b', 'b3', 'Will it rain on the parade of Zenda')
    await bench.settle()
    assert.deepEqual(bench.pairs, ['a1-b1 100', 'a2-b3 100'])
    await bench.matcher.close()
  })

  test('ends a matched pair when one of the two markets closes, is removed or changes its question', async () => {
    const bench = await started()
    const [b1, b2] = [...bench.all.values()].slice(2)
    assert.ok(b1 !== undefined && b2 !== undefined)
    bench.change(b1, { question: 'Will somebody else lose everything at sea' })
    await bench.settle()
    assert.deepEqual(bench.pairs, ['a1-b1 100', 'a2-b2 78'].slice(1))
    bench.change(b2, { status: 'closed' })
    assert.deepEqual(bench.pairs, [])
    await bench.settle()
    bench.change(b2, { status: 'open' })
    await bench.settle()
    assert.deepEqual(bench.pairs, ['a2-b2 78'])
    bench.all.delete(b2.ref.number)
    bench.matcher.onRemoved(b2)
    assert.deepEqual(bench.pairs, [])
    await bench.settle()
    assert.deepEqual([...bench.storage.matches.all()], [])
    await bench.matcher.close()
  })

  test('retains a pair with comparable prices when a market closes, even after a restart, until 30 days after both results', async () => {
    const bench = await started()
    const [a1, a2, b1, b2] = [...bench.all.values()]
    assert.ok(a1 !== undefined && a2 !== undefined && b1 !== undefined && b2 !== undefined)
    const ended = () =>
      [...bench.matches.allEnded()].map(({ a, b }) => `${a.ref.nativeId}-${b.ref.nativeId}`)
    const listed = (status: 'open' | 'closed' | 'resolved' | 'all') => {
      bench.clock.advance(5_000)
      const texts = { venues: [], texts: [] }
      const any = { slugs: texts, events: texts, search: null, confidence: null, relation: null }
      const filter = { ...any, status, scoreMin: 0, gapMin: 0 }
      const list = { filter, sortBy: 'score', pin: null, offset: 0, limit: 10 } as const
      const page = bench.matches.listMatches(list)
      assert.ok(page !== 'expired')
      return page.matches.map(({ a }) => a.ref.nativeId)
    }
    const foundAtMs = bench.matches.matchOf(a1.ref)?.matchedAtMs
    bench.change(b1, { status: 'closed' })
    bench.change(b2, { status: 'closed' })
    await bench.settle()
    assert.deepEqual([bench.pairs, ended()], [[], ['a1-b1']])
    assert.equal(bench.matches.matchOf(a1.ref), null)
    assert.deepEqual([listed('open'), listed('closed'), listed('all')], [[], ['a1'], ['a1']])
    bench.reopen()
    bench.matcher.start()
    await bench.settle()
    assert.deepEqual([bench.pairs, ended()], [[], ['a1-b1']])
    bench.change(b1, { status: 'open' })
    await bench.settle()
    assert.deepEqual([bench.pairs, ended()], [['a1-b1 100'], []])
    assert.equal(bench.matches.matchOf(a1.ref)?.matchedAtMs, foundAtMs)
    const settledAtMs = bench.clock.nowMs()
    bench.change(a1, { status: 'resolved', settledAtMs })
    bench.change(b1, { status: 'resolved', settledAtMs })
    assert.deepEqual([listed('closed'), listed('resolved')], [[], ['a1']])
    bench.clock.advance(30 * DAY_MS - 60_000)
    bench.matcher.rematch()
    assert.deepEqual(ended(), ['a1-b1'])
    bench.clock.advance(120_000)
    bench.matcher.rematch()
    assert.deepEqual(ended(), [])
    assert.deepEqual([...bench.storage.matches.all()], [])
    await bench.matcher.close()
  })

  test('replaces an ended pair when a market gets another partner, and removes the pair with a removed market', async () => {
    const bench = await started()
    const [a1, , b1] = [...bench.all.values()]
    assert.ok(a1 !== undefined && b1 !== undefined)
    bench.change(a1, { status: 'closed' })
    await bench.settle()
    assert.equal(bench.matches.endedMatchOf(b1.ref)?.a, a1)
    const a3 = bench.add('a', 'a3', 'Will Ada win the great medal in Ruritania')
    await bench.settle()
    assert.equal(bench.matches.endedMatchOf(b1.ref), null)
    assert.ok(bench.pairs.includes('a3-b1 100'))
    assert.ok([...bench.storage.matches.all()].every(({ a }) => a !== a1.ref.number))
    bench.change(b1, { status: 'closed' })
    assert.equal(bench.matches.endedMatchOf(a3.ref)?.b, b1)
    bench.all.delete(b1.ref.number)
    bench.matcher.onRemoved(b1)
    assert.equal(bench.matches.endedCount, 0)
    assert.ok([...bench.storage.matches.all()].every(({ a }) => a !== a3.ref.number))
    await bench.matcher.close()
  })

  test('sends nothing to the matching thread when a market’s trades change and its listing does not', async () => {
    const bench = await started()
    const before = bench.tasks.length
    for (const market of bench.all.values()) bench.matcher.onListed(market)
    await bench.settle()
    assert.equal(bench.tasks.length, before)
    await bench.matcher.close()
  })

  test('notifies both markets when a high-confidence pair begins and ends, and not for a low-confidence pair', async () => {
    const bench = await started()
    assert.deepEqual(bench.published, ['matched a1 b1', 'matched b1 a1'])
    const a1 = [...bench.all.values()][0]
    assert.ok(a1 !== undefined)
    bench.change(a1, { status: 'closed' })
    await bench.settle()
    assert.deepEqual(bench.published.slice(2), ['unmatched a1 b1', 'unmatched b1 a1'])
    await bench.matcher.close()
  })

  test('restores matched pairs after a restart without publishing, and ends pairs that the matcher no longer finds', async () => {
    const bench = await started()
    const foundAtMs = [...bench.matches.all()][0]?.matchedAtMs
    bench.published.length = 0
    bench.clock.advance(5_000)
    bench.reopen()
    const b2 = [...bench.all.values()][3]
    assert.ok(b2 !== undefined)
    b2.summary = { ...b2.summary, question: 'Something that nobody asks elsewhere' }
    bench.matcher.start()
    assert.deepEqual(bench.pairs, ['a1-b1 100', 'a2-b2 78'])
    await bench.settle()
    assert.deepEqual(bench.pairs, ['a1-b1 100'])
    assert.equal([...bench.matches.all()][0]?.matchedAtMs, foundAtMs)
    assert.deepEqual(bench.published, [])
    await bench.matcher.close()
  })

  test('applies an operator override instead of any score until the override is removed, even after a restart', async () => {
    const bench = await started()
    const id = (native: string) => `venue_${native.charAt(0)}_${native}`
    const logLine = async (term: string, one: string, other: string) => {
      await bench.commands[`match.${term}`]?.({ one: id(one), other: id(other) })
      await bench.settle()
    }
    await logLine('reject', 'a1', 'b1')
    assert.deepEqual(bench.pairs, ['a2-b2 78'])
    await logLine('confirm', 'b1', 'a2')
    assert.deepEqual(bench.pairs, ['a2-b1 100'])
    bench.reopen()
    bench.matcher.start()
    await bench.settle()
    assert.deepEqual(bench.pairs, ['a2-b1 100'])
    await logLine('forget', 'a2', 'b1')
    await logLine('forget', 'a1', 'b1')
    assert.deepEqual(bench.pairs, ['a1-b1 100', 'a2-b2 78'])
    await assert.rejects(logLine('confirm', 'a1', 'a2'), /market of each venue/)
    await assert.rejects(logLine('confirm', 'a1', 'b9'), /no market has the id/)
    await bench.matcher.close()
  })

  test('applies a family override to all pairs of the two families until the override is removed, even after a restart', async () => {
    const bench = await started()
    bench.useRealScorer()
    for (const venue of ['a', 'b'] as const) {
      bench.add(venue, `${venue}-choir`, 'Will Bo Quill lead the blue choir by May 9, 2031?')
    }
    await bench.settle()
    const logLine = async (term: string, one: string, other: string) => {
      const answer = await bench.commands[`match.${term}`]?.({ one, other })
      await bench.settle()
      return JSON.stringify(answer)
    }
    const scores = () => bench.pairs.filter((line) => line.startsWith('a-choir'))
    const [ours, theirs] = ['venue_a:slug-a-ch*', 'venue_b:B-Choir']
    assert.match(
      await logLine('reject', theirs, ours),
      /"word":"rejected","note":"stored; venue_a:slug-a-ch\* matches 1 open market, venue_b:B-Choir matches 1 open market; current pairs/,
    )
    const capped = `a-choir-b-choir ${VETOES.other_rules.cap}`
    assert.deepEqual(scores(), [capped])
    const rejected = [...bench.matches.all()].find(({ a }) => a.ref.nativeId === 'a-choir')
    assert.deepEqual(rejected?.pairScore.vetoes, ['other_rules'])
    assert.match(
      rejected.pairScore.explanation,
      /family: b-choir with slug-a-ch\*, rejected by hand/,
    )
    assert.ok(bench.published.includes('unmatched a-choir b-choir'))
    bench.reopen()
    bench.useRealScorer()
    bench.matcher.start()
    await bench.settle()
    assert.deepEqual(scores(), [capped])
    bench.failure = new Error('the thread ended')
    bench.add('b', 'b5', 'Nothing in particular')
    await bench.settle()
    bench.clock.advance(1_000)
    await bench.settle()
    assert.deepEqual(scores(), [capped], 'a restarted thread receives the rejection too')
    await logLine('confirm', ours, theirs)
    assert.deepEqual(scores(), ['a-choir-b-choir 100'])
    await logLine('forget', ours, theirs)
    assert.notDeepEqual(scores(), [capped])
    assert.deepEqual(bench.overrides.all(), [])
    const refusals: readonly (readonly [string, string, RegExp])[] = [
      [ours, 'venue_a:other-*', /name a family of each venue/],
      [ours, 'venue_b_b1', /name a family of each venue/],
      [ours, 'venue_x:KXRAIN', /unknown platform: venue_x/],
      [ours, 'venue_b:**KX*', /4 characters or more/],
      [ours, 'venue_b:KX RAIN', /letters, digits/],
      [ours, `venue_b:${'K'.repeat(201)}`, /at most 200 characters/],
    ]
    for (const [one, other, why] of refusals)
      await assert.rejects(logLine('reject', one, other), why)
    await bench.matcher.close()
  })

  test('rejects a second confirmed match for a market until the first confirmed match is removed', async () => {
    const bench = await started()
    const [a1, a2, b1, b2] = [...bench.all.values()]
    assert.ok(a1 !== undefined && a2 !== undefined && b1 !== undefined && b2 !== undefined)
    const settled = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
      const published = await answer
      await bench.settle()
      return published
    }
    await settled(bench.overrides.set(a1, b2, 'confirmed'))
    assert.deepEqual(bench.pairs, ['a1-b2 100'])
    const refusal =
      /venue_a_a1 venue_b_b2 are confirmed .*npm run match -- forget venue_a_a1 venue_b_b2$/
    await assert.rejects(bench.overrides.set(a1, b1, 'confirmed'), refusal)
    await assert.rejects(bench.overrides.set(a2, b2, 'confirmed'), refusal)
    assert.equal(bench.overrides.all().length, 1)
    await settled(bench.overrides.set(b2, a1, 'confirmed'))
    await settled(bench.overrides.set(a2, b2, 'rejected'))
    await settled(bench.overrides.set(a1, b2, null))
    const both = [
      bench.overrides.set(a1, b1, 'confirmed'),
      bench.overrides.set(a1, b2, 'confirmed'),
    ]
    assert.deepEqual(
      (await Promise.allSettled(both)).map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    bench.all.delete(b1.ref.number)
    bench.matcher.onRemoved(b1)
    await bench.settle()
    await settled(bench.overrides.set(a1, b2, 'confirmed'))
    assert.deepEqual(bench.pairs, ['a1-b2 100'])
    bench.reopen()
    bench.matcher.start()
    await bench.settle()
    assert.deepEqual(bench.pairs, ['a1-b2 100'])
    await bench.matcher.close()
  })

  test('returns the effect of an override command, or reports that the matcher will apply the override later', async () => {
    const bench = await started()
    const logLine = async (term: string) =>
      JSON.stringify(
        await bench.commands[`match.${term}`]?.({ one: 'venue_a_a2', other: 'venue_b_b1' }),
      )
    const confirmation = await logLine('confirm')
    assert.deepEqual(bench.pairs, ['a2-b1 100'])
    assert.match(confirmation, /"word":"confirmed","match":\{"score":100,.*"note":"a pair: Yes of/)
    assert.match(
      await logLine('forget'),
      /"word":null,"match":null,"note":"the markets are not a pair"/,
    )
    assert.match(
      await logLine('reject'),
      /"word":"rejected","match":null,"note":"the markets are not a pair"/,
    )
    bench.judgeOpposite()
    assert.match(
      await logLine('confirm'),
      /"score":100,.*"inverted":true,.*"note":"an inverted pair: Yes/,
    )
    bench.failure = new Error('the thread ended')
    const waiting = logLine('forget')
    for (let tick = 0; tick < 20; tick += 1) await bench.settle()
    bench.clock.advance(500)
    bench.clock.advance(2_500)
    assert.match(await waiting, /"match":null,"note":"stored; the matcher is busy/)
    await bench.matcher.close()
  })

  test('returns the number of markets in each family of an override, and whether a removed override existed', async () => {
    const bench = await started()
    const logLine = async (term: string, one: string, other: string) =>
      JSON.stringify(await bench.commands[`match.${term}`]?.({ one, other }))
    const [ours, none] = ['venue_a:event-a*', 'venue_b:KXNOTHING-*']
    assert.match(
      await logLine('reject', none, ours),
      /stored; venue_a:event-a\* matches 2 open markets, venue_b:KXNOTHING-\* matches no open market;/,
    )
    assert.match(await logLine('forget', ours, none), /removed; /)
    assert.match(await logLine('forget', ours, none), /"these families had no override"/)
    const pair = ['venue_a_a2', 'venue_b_b2'] as const
    assert.match(await logLine('forget', ...pair), /"these markets had no override"/)
    assert.equal(
      bench.tasks.some((task) => task.kind === 'change' && task.overrides.length > 0),
      false,
    )
    await logLine('reject', ...pair)
    await bench.settle()
    assert.match(await logLine('forget', ...pair), /"a pair by its score"/)
    await bench.matcher.close()
  })

  test('lists the two markets of an override in the format that commands accept, even if a market was removed', async () => {
    const bench = await started()
    const rows = async () => {
      const { words: terms } = JSON.parse(JSON.stringify(await bench.commands['match.list']?.({})))
      return terms.map(
        ({ one, other, word: term }: Record<string, string>) => `${term} ${one} ${other}`,
      )
    }
    const logLine = (term: string, one: string, other: string) =>
      bench.commands[`match.${term}`]?.({ one, other })
    await logLine('reject', 'venue_b_b1', 'venue_a_a1')
    bench.clock.advance(1_000)
    await logLine('confirm', 'venue_b:KXRAIN-*', 'venue_a:rain-on-*')
    const [family, pair] = ['venue_a:rain-on-* venue_b:kxrain-*', 'venue_a_a1 venue_b_b1']
    assert.deepEqual(await rows(), [`confirmed ${family}`, `rejected ${pair}`])
    await bench.settle()
    const [missing] = [...bench.all.values()].filter(({ ref }) => ref.nativeId === 'b1')
    assert.ok(missing !== undefined)
    bench.all.delete(missing.ref.number)
    bench.matcher.onRemoved(missing)
    for (const row of [family, pair]) {
      const [one = '', other = ''] = row.split(' ')
      assert.match(JSON.stringify(await logLine('forget', one, other)), /removed/)
    }
    assert.deepEqual(await rows(), [])
    await bench.settle()
    await bench.matcher.close()
  })

  test('sends the known teams to each new matching thread before it sends the markets', async () => {
    const bench = await started()
    const row = (index: number, league: string) =>
      ({
        team: {
          venue: 'a',
          league,
          code: `c${index}`,
          name: `Team ${index}`,
          location: '',
          nickname: '',
        },
        handles: 'slug',
      }) as const
    const published = Array.from({ length: 300 }, (_, index) => row(index, 'epl'))
    const given = (from: number) =>
      bench.tasks
        .slice(from)
        .flatMap((task) => (task.kind === 'change' ? [...(task.teams ?? [])] : []))
    const lookedUp = (from: number) =>
      bench.tasks.slice(from).flatMap((task) => (task.kind === 'find' ? task.numbers : [])).length
    const before = bench.tasks.length
    await bench.matcher.learnTeams([...published, row(9, 'atp'), row(9, 'no league')])
    await bench.settle()
    assert.deepEqual(given(before), published)
    assert.equal(lookedUp(before), bench.all.size)
    const then = bench.tasks.length
    await bench.matcher.learnTeams(published)
    await bench.settle()
    assert.equal(bench.tasks.length, then, 'an equal list sends no task')
    bench.failure = new Error('the thread ended')
    bench.add('b', 'b5', 'Nothing in particular')
    await bench.settle()
    bench.clock.advance(1_000)
    await bench.settle()
    assert.deepEqual(given(then), published)
    await bench.matcher.close()
  })

  test('retains the matched pairs while a new matching thread receives all markets after the previous thread failed', async () => {
    const bench = await started()
    bench.finder = new PairFinder(wordScorer)
    bench.add('b', 'b3', 'Will it rain on the parade of Zenda')
    await bench.settle()
    assert.deepEqual(bench.pairs, ['a1-b1 100', 'a2-b3 100'])
    bench.failure = new Error('the thread ended')
    bench.add('b', 'b4', 'Nothing in particular')
    await bench.settle()
    assert.deepEqual(bench.pairs, ['a1-b1 100', 'a2-b3 100'])
    bench.add('a', 'a4', 'Nothing in particular')
    bench.clock.advance(1_000)
    await bench.settle()
    assert.deepEqual(bench.pairs, ['a1-b1 100', 'a2-b3 100', 'a4-b4 100'])
    assert.equal(bench.published.filter((line) => line.endsWith('a1 b1')).length, 1)
    await bench.matcher.close()
  })

  test('schedules a periodic rematch of all markets after all new work', async () => {
    const bench = await started()
    const before = bench.tasks.length
    bench.matcher.rematch()
    bench.add('a', 'a5', 'Who knows')
    await bench.settle()
    assert.deepEqual(
      bench.tasks.slice(before).map(({ kind }) => kind),
      ['change', 'find', 'find'],
    )
    assert.deepEqual(bench.pairs, ['a1-b1 100', 'a2-b2 78'])
    await bench.matcher.close()
  })
})

test('returns `lost` when a task number is missing, and starts an empty index at task number 1', () => {
  const finder = new PairFinder(wordScorer)
  const find = (seq: number) => finder.run({ seq, kind: 'find', numbers: [1] })
  assert.equal(find(4), 'lost')
  assert.notEqual(find(1), 'lost')
  assert.notEqual(find(2), 'lost')
  assert.equal(find(2), 'lost')
  assert.notEqual(find(1), 'lost')
})

test('selects a market’s next best match when an operator rejects the best pair, and a confirmed pair whatever its score', () => {
  const finder = new PairFinder(wordScorer)
  const titles = ['x', 'red green blue', 'red green blue', 'red green', 'black']
  const put = titles.flatMap((title, number) =>
    number === 0 ? [] : [{ number, market: subject({ venue: number === 1 ? 'a' : 'b', title }) }],
  )
  finder.run({ seq: 1, kind: 'change', put, removed: [], overrides: [] })
  const after = (seq: number, b: number, term: 'confirmed' | 'rejected' | null) => {
    finder.run({
      seq,
      kind: 'change',
      put: [],
      removed: [],
      overrides: [{ a: 1, b, decision: term }],
    })
    const found = finder.run({ seq: seq + 1, kind: 'find', numbers: [1] })
    return found === 'lost' ? [] : found.begun.map((pair) => [pair.b, pair.pairScore.score])
  }
  assert.deepEqual(after(2, 9, null), [[2, 100]])
  assert.deepEqual(after(4, 2, 'rejected'), [[3, 67]])
  assert.deepEqual(after(6, 4, 'confirmed'), [[4, 100]])
  assert.deepEqual(after(8, 4, null), [[3, 67]])
})

test('returns the same matches from the matching thread as from the main thread', async () => {
  const thread = openMatchThread()
  try {
    const position = openPairFinder()
    const texts = [
      ['a', 'Will Ada Lovelace win the 2026 medal?'],
      ['b', 'Will Ada Lovelace win the 2026 medal?'],
    ] as const
    const bench = new Bench()
    const put = texts.map(([venue, question], index) => {
      const { ref } = bench.add(venue, `${venue}${index}`, question)
      const market = {
        ...{ venue, handles: venue === 'a' ? ('slug' as const) : ('ticker' as const) },
        key: ref.nativeId,
        title: question,
        subtitle: '',
        outcomes: ['Yes', 'No'],
        rules: '',
      }
      const rest = {
        handle: '',
        eventKey: null,
        eventTitle: '',
        eventSubtitle: '',
        series: null,
        category: null,
      }
      return {
        number: ref.number,
        market: {
          ...market,
          ...rest,
          tags: [],
          startMs: null,
          closeMs: null,
          strike: null,
          betType: '',
          line: null,
        },
      }
    })
    const tasks: MatchTask[] = [
      { seq: 1, kind: 'change', put, removed: [], overrides: [] },
      { seq: 2, kind: 'find', numbers: put.map(({ number }) => number) },
    ]
    for (const task of tasks) assert.deepEqual(await thread.run(task), await position.run(task))
  } finally {
    await thread.close()
  }
})
