// Each side is parsed from its own row, without the file's league and date.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import type { GameClue } from '../../../engine/sports/game-clue.ts'
import { pairGames } from '../../../engine/sports/game-pairs.ts'
import { competitionOf } from '../../../engine/sports/leagues.ts'
import { clueOfSlug } from '../../../engine/sports/slug-clue.ts'
import { TeamTable } from '../../../engine/sports/team-table.ts'
import { clueOfTicker } from '../../../engine/sports/ticker-clue.ts'

const FILE = join(process.env.SHARED_DATA ?? '../shared/data', 'sports-dev.jsonl')
const NOTHING = { series: null, subtitle: '', suffixes: [], startMs: null, endMs: null }

interface PolymarketRow {
  readonly event_slug: string
  readonly title: string
  readonly markets: readonly { readonly gameStartTime: string }[]
}

interface KalshiRow {
  readonly event_ticker: string
  readonly series_ticker: string
  readonly title: string
  readonly sub_title: string
}

interface Row {
  readonly polymarket: PolymarketRow
  readonly kalshi: KalshiRow
}

const rows: readonly Row[] = existsSync(FILE)
  ? readFileSync(FILE, 'utf8').trim().split('\n').map(readRow)
  : []

function readRow(line: string): Row {
  const row: Row = JSON.parse(line)
  return row
}

const table = new TeamTable()

function clueOfA(row: PolymarketRow, isTimed: boolean): GameClue | null {
  const start = row.markets[0]?.gameStartTime ?? ''
  const startMs = isTimed ? Date.parse(`${start.replace(' ', 'T')}:00`) : Number.NaN
  return clueOfSlug('a', {
    ...NOTHING,
    nativeId: row.event_slug,
    title: row.title,
    startMs: Number.isNaN(startMs) ? null : startMs,
  })
}

function clueOfB(row: KalshiRow, hasSubtitle: boolean): GameClue | null {
  const { event_ticker: nativeId, series_ticker: series, title, sub_title } = row
  const subtitle = hasSubtitle ? sub_title : ''
  return clueOfTicker('b', { ...NOTHING, nativeId, series, title, subtitle }, table)
}

/** Maps each clue to its keys, and each key to its clues. */
function keysOf(clues: readonly GameClue[]) {
  const arenas = new Map<string, GameClue[]>()
  for (const clue of clues) {
    const arena = competitionOf(clue.league)
    arenas.set(arena, [...(arenas.get(arena) ?? []), clue])
  }
  const keyOf = new Map<string, string>()
  const anchorsOf = new Map<string, readonly string[]>()
  for (const ofArena of arenas.values()) {
    for (const { key, sides } of pairGames(ofArena, table)) {
      assert.ok(!anchorsOf.has(key), `two games are called ${key}`)
      anchorsOf.set(
        key,
        sides.flatMap(({ anchors }) => anchors),
      )
      for (const anchor of anchorsOf.get(key) ?? []) keyOf.set(anchor, key)
    }
  }
  return { keyOf, anchorsOf }
}

interface Outcome {
  readonly together: number
  readonly misses: readonly string[]
}

/** Groups all rows, with or without times and subtitles, and checks the result. */
function group(read: { isTimed: boolean; hasSubtitle: boolean }): Outcome {
  const pairs = rows.map((row) => ({
    row,
    a: clueOfA(row.polymarket, read.isTimed),
    b: clueOfB(row.kalshi, read.hasSubtitle),
  }))
  const clues = pairs.flatMap(({ a, b }) => [a, b].filter((clue) => clue !== null))
  const { keyOf, anchorsOf } = keysOf(clues)
  const misses: string[] = []
  for (const { row, a, b } of pairs) {
    const [one, other] = [a, b].map((clue) => keyOf.get(clue?.anchor ?? '') ?? 'not read')
    if (one === other && one !== 'not read') continue
    misses.push(`${row.polymarket.event_slug} (${one}) and ${row.kalshi.event_ticker} (${other})`)
  }
  // Each row is a different game, so two anchors with one key are two games joined by mistake.
  for (const [key, anchors] of anchorsOf) {
    assert.equal(anchors.length, new Set(anchors.map((anchor) => anchor.includes('/'))).size, key)
  }
  return { together: rows.length - misses.length, misses }
}

const skip = rows.length === 0 ? `${FILE} is absent` : false

describe('recorded games', () => {
  for (const read of [
    { isTimed: true, hasSubtitle: true },
    // The catalogue holds only these fields in memory.
    { isTimed: false, hasSubtitle: false },
  ]) {
    const how = read.isTimed ? 'start times and subtitles' : 'titles alone'
    test(`assigns at least 99 of 100 recorded games a unique key that both venues share, based on ${how}`, {
      skip,
    }, (t) => {
      const { together, misses } = group(read)
      t.diagnostic(`${rows.length} games, ${together} under one key, ${misses.length} missed`)
      for (const miss of misses) t.diagnostic(`missed: ${miss}`)
      assert.equal(rows.length, 633)
      assert.ok(together >= rows.length * 0.99)
    })
  }

  test('never assigns one key to games of different teams when Kalshi’s rows are swapped between dates', {
    skip,
  }, (t) => {
    const random = seededRandom('sports', 1)
    const moved = rows.map(({ polymarket, kalshi }) => {
      // The date of this row with the ticker and names of another row.
      const other = rows[random.below(rows.length)]?.kalshi ?? kalshi
      const date = /-\d{2}[A-Z]{3}\d{2}/.exec(kalshi.event_ticker)?.[0] ?? ''
      const event_ticker = other.event_ticker.replace(/-\d{2}[A-Z]{3}\d{2}/, date)
      return { polymarket, kalshi: { ...other, event_ticker } }
    })
    const clues = moved.flatMap(({ polymarket, kalshi }) => {
      return [clueOfA(polymarket, true), clueOfB(kalshi, true)].filter((clue) => clue !== null)
    })
    const { keyOf } = keysOf(clues)
    let wrong = 0
    let together = 0
    for (const { polymarket, kalshi } of moved) {
      const a = clueOfA(polymarket, true)
      const b = clueOfB(kalshi, true)
      if (a === null || b === null || keyOf.get(a.anchor) !== keyOf.get(b.anchor)) continue
      together += 1
      if (a.sides.some(({ code }, index) => code !== b.sides[index]?.code)) wrong += 1
    }
    t.diagnostic(`${moved.length} scrambled pairs, ${together} together, ${wrong} of other teams`)
    assert.equal(wrong, 0)
    assert.ok(together < moved.length * 0.05)
  })
})
