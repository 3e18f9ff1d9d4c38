import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assign, type Edge } from '../../../../engine/matching/search/assignment.ts'
import {
  PAIR_SCORE_MIN,
  PairGraph,
  type ScoredPair,
} from '../../../../engine/matching/search/pair-graph.ts'
import { type Random, seededRandom } from '../../../../engine/random.ts'
import { pairScore } from '../../../support/reference/word-scorer.ts'

function randomEdges(random: Random, size: number, count: number): Edge[] {
  const edges = new Map<string, Edge>()
  for (let index = 0; index < count; index += 1) {
    const [row, column] = [random.below(size), random.below(size)]
    edges.set(`${row} ${column}`, { row, column, weight: (1 + random.below(100)) / 100 })
  }
  return [...edges.values()]
}

function heaviest(edges: readonly Edge[], from = 0, rows = 0, columns = 0): number {
  const edge = edges[from]
  if (edge === undefined) return 0
  const without = heaviest(edges, from + 1, rows, columns)
  const [row, column] = [1 << edge.row, 1 << edge.column]
  if ((rows & row) !== 0 || (columns & column) !== 0) return without
  return Math.max(without, edge.weight + heaviest(edges, from + 1, rows | row, columns | column))
}

const weightOf = (edges: readonly Edge[]): number =>
  edges.reduce((sum, { weight }) => sum + weight, 0)

function assertOneToOne(edges: readonly Edge[]): void {
  assert.equal(new Set(edges.map(({ row }) => row)).size, edges.length)
  assert.equal(new Set(edges.map(({ column }) => column)).size, edges.length)
}

describe('assignment of markets to pairs', () => {
  test('finds the assignment with the highest total weight for few markets', () => {
    const random = seededRandom(7)
    for (let round = 0; round < 300; round += 1) {
      const edges = randomEdges(random, 6, random.below(16))
      const chosen = assign(edges)
      assertOneToOne(chosen)
      assert.ok(chosen.every((edge) => edges.includes(edge)))
      assert.ok(Math.abs(weightOf(chosen) - heaviest(edges)) < 1e-9)
    }
  })

  test('finds an assignment of at least half the maximum weight for very many markets', () => {
    const edges = randomEdges(seededRandom(8), 2_000, 12_000)
    const chosen = assign(edges)
    assertOneToOne(chosen)
    const rows = new Set(chosen.map(({ row }) => row))
    const columns = new Set(chosen.map(({ column }) => column))
    assert.ok(edges.every(({ row, column }) => rows.has(row) || columns.has(column)))
  })
})

function randomPair(random: Random): ScoredPair {
  const score = random.below(101)
  return { a: random.below(40), b: 100 + random.below(40), pairScore: pairScore(score) }
}

const FAR = 100

describe('pair graph', () => {
  test('selects at most one pair per market above the minimum score, and prefers one certain pair to two uncertain pairs', () => {
    const graph = new PairGraph()
    const pair = (a: number, b: number, score: number): ScoredPair => ({
      a,
      b,
      pairScore: pairScore(score),
    })
    graph.change([], [pair(1, 11, 99), pair(1, 12, 70), pair(2, 11, 70), pair(3, 13, 29)])
    assert.deepEqual(
      [...graph.chosen()].map(({ a, b }) => [a, b]),
      [[1, 11]],
    )
    assert.equal(graph.pairsOf(1).length, 2)
    assert.equal(graph.pairsOf(13).length, 0)
  })

  test('selects the same pairs after single changes as after one batch of changes, and reports differences only', () => {
    const random = seededRandom(21)
    const graph = new PairGraph()
    const existing = new Map<string, ScoredPair>()
    const published = new Map<number, ScoredPair>()
    for (let step = 0; step < 600; step += 1) {
      const removed = { a: new Set<number>(), b: new Set<number>() }
      if (random.next() < 0.4) removed.a.add(random.below(40))
      if (random.next() < 0.4) removed.b.add(100 + random.below(40))
      for (const [key, { a, b }] of existing)
        if (removed.a.has(a) || removed.b.has(b)) existing.delete(key)
      const pairs: ScoredPair[] = []
      for (let count = random.below(3); count > 0 && existing.size < 60; count -= 1) {
        const pair = randomPair(random)
        const busy = [...existing.values()].filter(({ a, b }) => a === pair.a || b === pair.b)
        if (busy.length > 4) continue
        pairs.push(pair)
        if (pair.pairScore.score >= PAIR_SCORE_MIN) existing.set(`${pair.a} ${pair.b}`, pair)
        else existing.delete(`${pair.a} ${pair.b}`)
      }
      const stored = pairs.filter(({ pairScore: checked }) => checked.score >= PAIR_SCORE_MIN)
      for (const pair of pairs) if (!stored.includes(pair)) removed.a.add(-1)
      const { begun, ended } = graph.change([...removed.a, ...removed.b], stored)
      for (const { a, b } of ended) {
        assert.equal(published.get(a)?.b, b)
        published.delete(a)
      }
      for (const pair of begun) published.set(pair.a, pair)
      const chosen = [...graph.chosen()].sort((one, other) => one.a - other.a)
      assert.deepEqual(
        chosen,
        [...published.values()].sort((one, other) => one.a - other.a),
      )
    }
    assert.ok(published.size > 5)
    const scratch = new PairGraph()
    const all = [...new Set([...published.keys()])].flatMap((a) => graph.pairsOf(a))
    for (let a = 0; a < 40; a += 1) all.push(...graph.pairsOf(a))
    scratch.change([], all)
    const worth = (pairs: Iterable<ScoredPair>): number =>
      [...pairs].reduce((sum, { pairScore: checked }) => sum + (checked.score / 100) ** 4, 0)
    assert.ok(Math.abs(worth(scratch.chosen()) - worth(graph.chosen())) < 1e-9)
  })

  test('selects confirmed pairs whatever their score, and then unconfirmed pairs among the remaining markets', () => {
    const random = seededRandom(5)
    for (let round = 0; round < 200; round += 1) {
      const edges = randomEdges(random, 6, 4 + random.below(14))
      const rows = new Set<number>()
      const columns = new Set<number>()
      const reported = edges.filter(({ row, column }) => {
        if (rows.has(row) || columns.has(column) || random.next() < 0.7) return false
        rows.add(row)
        columns.add(column)
        return true
      })
      const pairs = edges.map((edge): ScoredPair => {
        const { row: a, weight } = edge
        const b = FAR + edge.column
        if (reported.includes(edge)) return { a, b, pairScore: pairScore(79), isConfirmed: true }
        return { a, b, pairScore: pairScore(30 + Math.round(69 * weight)) }
      })
      const graph = new PairGraph()
      for (const pair of pairs) graph.change([], [pair])
      const chosen = [...graph.chosen()]
      const worth = (some: readonly ScoredPair[]) =>
        some.map(({ a, b, pairScore: checked }) => ({
          row: a,
          column: b,
          weight: (checked.score / 100) ** 4,
        }))
      const [confirmed, others] = [true, false].map((is) =>
        chosen.filter(({ isConfirmed }) => (isConfirmed === true) === is),
      )
      assert.equal(confirmed?.length, reported.length)
      const free = pairs.filter(({ a, b }) => !rows.has(a) && !columns.has(b - FAR))
      const best = heaviest(worth(free))
      assert.ok(Math.abs(weightOf(worth(others ?? [])) - best) < 1e-9)
    }
  })

  test('stores the best of very many candidate pairs of one market, and discards the remaining pairs', () => {
    const graph = new PairGraph()
    const pairs = Array.from(
      { length: 50 },
      (_, b): ScoredPair => ({ a: 99, b, pairScore: pairScore(30 + b) }),
    )
    graph.change([], pairs)
    assert.deepEqual(
      graph.pairsOf(99).map(({ b }) => b),
      [49, 48, 47, 46, 45, 44, 43, 42],
    )
    assert.equal(graph.pairsOf(10).length, 0)
    graph.change([99], [])
    assert.deepEqual([...graph.chosen()], [])
    assert.equal(graph.pairsOf(49).length, 0)
  })
})
