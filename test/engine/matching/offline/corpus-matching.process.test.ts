import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEFAULT_SCORER } from '../../../../engine/matching/compare/pair-scorer.ts'
import { matchCorpus } from '../../../../engine/matching/offline/corpus-matching.ts'
import { addDumpRow } from '../../../../engine/matching/offline/dump-rows.ts'
import { MarketIndex } from '../../../../engine/matching/search/market-index.ts'
import type { Proposition } from '../../../../engine/matching/understand/proposition.ts'
import { MATCH_SCORE } from '../../../../engine/matching/veto/vetoes.ts'
import type { MatchEvent, MatchMarket } from '../../../../engine/subject.ts'
import { runToEnd } from '../../../../engine/time-slices.ts'
import { KALSHI_SUBJECTS } from '../../../../engine/venues/kalshi/subjects.ts'
import { GAMMA_SUBJECTS } from '../../../../engine/venues/polymarket/subjects.ts'
import type { SimPairKind } from '../../../../engine/venues/simulator/model.ts'
import { subject, wordScorer } from '../../../support/reference/word-scorer.ts'
import { matchingWorld } from '../../../support/worlds/matching-world.ts'

const isLong = process.env.TEST_LONG === '1'
const PAIR_KINDS: readonly SimPairKind[] = [
  'opposite_side',
  'other_date',
  'other_rules',
  'other_threshold',
  'same',
]

const side = (markets: readonly MatchMarket[], events: readonly MatchEvent[] = []) => ({
  markets,
  events,
})

describe('corpora of markets and events', () => {
  test('finds markets with too little text through their events', () => {
    const event = { eventKey: 'next-pm', eventTitle: 'Next prime minister of Ruritania' }
    const far = { eventKey: 'KXPM-26', eventTitle: 'Prime minister of Ruritania next' }
    const index = new MarketIndex(wordScorer)
    index.put(1, subject({ venue: 'a', title: 'Rudolf', ...event }))
    index.put(2, subject({ venue: 'b', title: 'Elphberg', ...far }))
    index.put(
      3,
      subject({ venue: 'b', title: 'Somebody', eventKey: 'KXOTHER-26', eventTitle: 'Best film' }),
    )
    assert.deepEqual([...index.partnersOf(1)], [2])
    assert.deepEqual([...index.partnersOf(2)], [1])
    index.remove(2)
    assert.deepEqual([...index.partnersOf(1)], [])
    assert.deepEqual([...index.partnersOf(99)], [])
  })

  test('finds an event by its own text or its markets, and removes the event when its last market is removed', () => {
    const index = new MarketIndex(wordScorer)
    const published = { ...eventOf('b', 'KXPM-26'), title: 'Next prime minister of Ruritania' }
    index.putEvent(published)
    index.put(1, subject({ venue: 'a', title: 'x', eventKey: 'pm', eventTitle: published.title }))
    assert.deepEqual(
      index.eventPairs('a', 'pm').map(({ b }) => b.key),
      ['KXPM-26'],
    )
    index.remove(1)
    assert.deepEqual(index.eventPairs('a', 'pm'), [])
    assert.deepEqual([...index.events('a')], [])
  })

  test('matches each market once with its best candidate, and matches events separately', () => {
    const names = ['Ada Lovelace', 'Alan Turing', 'Grace Hopper', 'Kurt Goedel']
    const titleOf = (name: string) => `Will ${name} win the medal`
    const a = names.map((name) =>
      subject({
        venue: 'a',
        key: name,
        title: titleOf(name),
        eventKey: 'medal',
        eventTitle: 'Who wins the medal',
      }),
    )
    const b = names.map((name) =>
      subject({
        venue: 'b',
        key: name,
        title: titleOf(name),
        eventKey: 'KXMEDAL-26',
        eventTitle: 'Who wins the medal',
      }),
    )
    const found = runToEnd(matchCorpus(side(a), side(b.toReversed()), wordScorer))
    assert.deepEqual(
      found.markets.map((pair) => [pair.a.key, pair.b.key]).sort(),
      names.map((name) => [name, name]).sort(),
    )
    assert.deepEqual(
      found.events.map((pair) => [pair.a.key, pair.b.key, pair.pairScore.score]),
      [['medal', 'KXMEDAL-26', 100]],
    )
    const none = runToEnd(matchCorpus(side([]), side(b), wordScorer))
    assert.deepEqual([none.markets, none.events], [[], []])
  })

  test('parses rows of a dump as markets or events of their venue, and skips all other rows', () => {
    const read = (venue: 'a' | 'b', ...rows: unknown[]) => {
      const into = { markets: [] as MatchMarket[], events: [] as MatchEvent[] }
      const published = rows.map((row) =>
        addDumpRow(venue === 'a' ? GAMMA_SUBJECTS : KALSHI_SUBJECTS, row, into),
      )
      return {
        published,
        markets: into.markets.map(({ key, eventKey }) => [key, eventKey]),
        events: into.events.map(({ key }) => key),
      }
    }
    const reduced = {
      platform_event_id: 'kalshi:event:KXA-26',
      title: 'Who?',
      child_markets: [{ platform_id: 'KXA-26-X', title: 'X?' }],
    }
    assert.deepEqual(
      read(
        'b',
        { ticker: 'KXA-26-X', title: 'X?', event_ticker: 'KXA-26' },
        { event_ticker: 'KXB-26', title: 'B?' },
        reduced,
      ),
      {
        published: [true, true, true],
        markets: [
          ['KXA-26-X', 'KXA-26'],
          ['KXA-26-X', 'KXA-26'],
        ],
        events: ['KXB-26', 'KXA-26'],
      },
    )
    assert.deepEqual(
      read(
        'a',
        { conditionId: '0x1', question: 'X?', slug: 'x', event: { slug: 'e', title: 'E' } },
        { slug: 'e', title: 'E', markets: [{ conditionId: '0x1', question: 'X?' }] },
      ),
      {
        published: [true, true],
        markets: [
          ['0x1', 'e'],
          ['0x1', 'e'],
        ],
        events: ['e'],
      },
    )
    assert.deepEqual(read('a', null, 7, 'x', [], {}, { markets: [] }).published, [
      false,
      false,
      false,
      false,
      false,
      false,
    ])
  })

  test('finds at least 99 of 100 pairs that the simulator creates', () => {
    const world = matchingWorld({ seed: 2, marketsPerVenue: isLong ? 6_000 : 450 })
    const { a, b, planted, recurring } = world
    const { markets, scoredCount } = runToEnd(matchCorpus(a, b, DEFAULT_SCORER))
    const high = markets.filter(({ pairScore: checked }) => checked.score >= MATCH_SCORE)
    const found = new Map(high.map((pair) => [pair.a.key, pair.b.key]))
    const same = [...planted].filter(([, { kind }]) => kind === 'same')
    const missed = same.filter(([key, { other }]) => found.get(key) !== other)
    assert.ok(same.length > 100)
    assert.ok(missed.length <= same.length / 100, `missed ${JSON.stringify(missed.slice(0, 5))}`)
    const wrong = high.filter(({ a: { key }, b: other }) => {
      const pair = planted.get(key)
      if (pair?.kind === 'same') return pair.other !== other.key
      return pair?.other === other.key || recurring.get(key) !== recurring.get(other.key)
    })
    assert.deepEqual(
      wrong.map((pair) => [pair.a.title, pair.b.title, pair.b.handle]),
      [],
    )
    assert.ok(scoredCount <= a.markets.length * 100)
    assert.equal(new Set(markets.map((pair) => pair.b.key)).size, markets.length)
  })

  test('skips comparisons of a pair after a decisive conflict without changing any pair or score', () => {
    const { a, b } = matchingWorld({ seed: 5, marketsPerVenue: isLong ? 3_000 : 250 })
    const complete = {
      ...DEFAULT_SCORER,
      scoreMarkets: (one: Proposition, other: Proposition) =>
        DEFAULT_SCORER.scoreMarkets(one, other),
      scoreEvents: (one: Proposition, other: Proposition) => DEFAULT_SCORER.scoreEvents(one, other),
    }
    const pairsBy = (validator: typeof DEFAULT_SCORER) => {
      const { markets, events } = runToEnd(matchCorpus(a, b, validator))
      return [...markets, ...events].map((pair) => [pair.a.key, pair.b.key, pair.pairScore])
    }
    const pairs = pairsBy(DEFAULT_SCORER)
    assert.ok(pairs.length > 100)
    assert.deepEqual(pairs, pairsBy(complete))
  })

  test('scores the true pairs of the simulator as matches, and the simulator’s similar but different pairs as no matches', () => {
    const world = matchingWorld({ seed: 9, marketsPerVenue: isLong ? 20_000 : 1_000 })
    const ofA = new Map(world.a.markets.map((market) => [market.key, market]))
    const ofB = new Map(world.b.markets.map((market) => [market.key, market]))
    const counts = new Map<SimPairKind, { n: number; high: number }>()
    const trapped: string[] = []
    for (const [key, { other, kind }] of world.planted) {
      const [a, b] = [ofA.get(key), ofB.get(other)]
      assert.ok(a !== undefined && b !== undefined)
      const { score } = DEFAULT_SCORER.scoreMarkets(
        DEFAULT_SCORER.readMarket(a),
        DEFAULT_SCORER.readMarket(b),
      )
      const count = counts.get(kind) ?? { n: 0, high: 0 }
      counts.set(kind, count)
      count.n += 1
      if (score < MATCH_SCORE) continue
      count.high += 1
      if (kind !== 'same') trapped.push(`${kind}: ${a.title} | ${b.title} | ${b.subtitle}`)
    }
    assert.deepEqual(trapped, [])
    assert.deepEqual([...counts.keys()].sort(), PAIR_KINDS)
    const { n, high } = counts.get('same') ?? { n: 0, high: 0 }
    assert.ok(high >= 0.99 * n, `${high} of ${n}`)
  })
})

function eventOf(venue: 'a' | 'b', key: string): MatchEvent {
  return { ...subject({ venue, key }), isExclusive: null, markets: [] }
}
