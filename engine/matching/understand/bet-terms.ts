// Parses which side of a game Yes means, and the line. Sources are outcome labels, a market's short title, the end of
// its slug or ticker, and the words of its question. Null if none states it: sides are never guessed.

import { OTHER } from './bets.ts'
import { type Game, plainName, type YesOutcome } from './game.ts'
import type { Listed } from './listing-texts.ts'
import { countryOfCode, countryOfName } from './locations.ts'
import { gradeCodeInName, gradeNames, type Side } from './sides.ts'

interface BetFacts extends Pick<Game, 'competition' | 'sides' | 'bet'> {
  readonly listed: Listed
  /** End of the slug, with spaces instead of hyphens. */
  readonly tail: string
  readonly title: string
  /** The title without the two sides. */
  readonly rest: string
  readonly subtitle: string
  /** End of the ticker, in lower case. */
  readonly suffix: string
}

type BetTerms = Pick<Game, 'yesOutcome' | 'line' | 'detail'>

/** Leagues whose tickers state the line rounded down: `n` means n + 0.5. Leagues of soccer clubs do the same. */
const BELOW_LINE = new Set(['nba', 'nhl'])
const OPEN_BETS = /^(?:btts|completed|extras|overtime|distance|firstinningrun|oddeven|more|props)/

export function betTermsOf(facts: BetFacts): BetTerms {
  const { kind } = facts.bet
  if (isTie(facts)) return { yesOutcome: 'draw', line: null, detail: '' }
  if (kind === 'total' || kind === 'teamtotal') {
    const yesOutcome = /^under\b/.test(facts.subtitle || firstOutcome(facts)) ? 'under' : 'over'
    return { yesOutcome, line: lineOf(facts), detail: kind === 'teamtotal' ? playerOf(facts) : '' }
  }
  if (kind === 'spread') return spreadOf(facts)
  if (kind === 'score') return { yesOutcome: 'yes', line: null, detail: scoreOf(facts) }
  if (kind.startsWith('prop:'))
    return { yesOutcome: 'over', line: lineOf(facts), detail: playerOf(facts) }
  if (OPEN_BETS.test(kind)) return { yesOutcome: 'yes', line: null, detail: '' }
  const yesOutcome = kind.startsWith(OTHER) ? (statedSideOf(facts) ?? 'yes') : sideOf(facts)
  return { yesOutcome, line: null, detail: '' }
}

/** '' if the venue's label is only "Yes". */
function labelOf(facts: BetFacts): string {
  const label = facts.listed.handles === 'ticker' ? facts.subtitle : firstOutcome(facts)
  return label === facts.title || /^(?:yes|no|over|under|up)$/.test(label) ? '' : plainName(label)
}

function endOf({ listed, suffix, tail }: BetFacts): string {
  return listed.handles === 'ticker' ? suffix : (tail.split(' ').at(-1) ?? '')
}

/** The side of a bet of unknown kind. Null if neither the label, the words nor the end of the slug or ticker states one. */
function statedSideOf(facts: BetFacts): YesOutcome | null {
  const named = sideNamed(facts, labelOf(facts))
  if (named !== null) return named
  const [first, second] = facts.sides.map(({ name }) => name !== '' && facts.rest.includes(name))
  if (first !== second) return first === true ? 'first' : 'second'
  const end = endOf(facts)
  const at = end === '' ? -1 : facts.sides.findIndex(({ code }) => code === end)
  return at < 0 ? null : at === 0 ? 'first' : 'second'
}

/** Whether Yes means a draw, as in `…GAME-…-TIE`. In `…TIEBUB-2-TIE` the code is that of a tennis player. */
function isTie({ suffix, subtitle, sides, tail, rest, bet }: BetFacts): boolean {
  if (bet.kind !== 'winner') return false
  if (/\bdraw$/.test(tail) || /\bend in a draw\b|\bdraw at half/.test(rest)) return true
  if (/^(?:tie|draw)$/.test(subtitle)) return true
  return suffix === 'tie' && sides.every(({ code }) => code !== 'tie') && subtitle === ''
}

function firstOutcome({ listed }: BetFacts): string {
  return (listed.outcomes[0] ?? '').toLowerCase()
}

const WINNER =
  /(?:^|: | - |\? )will (?!.*\bwill )(.+?) (?:win|beat|defeat|advance)\b|^(.+?) leading at half ?time/

function sideOf(facts: BetFacts): YesOutcome | null {
  const { listed, title, tail } = facts
  const isTicker = listed.handles === 'ticker'
  const [label, end, winner] = [labelOf(facts), endOf(facts), WINNER.exec(title)]
  const named =
    sideNamed(facts, label) ??
    (isTicker ? null : sideOfCode(facts, label)) ??
    sideNamed(facts, plainName(winner?.[1] ?? winner?.[2] ?? ''))
  if (named !== null) return named
  // "…-game1" is a map number and not the code of a side.
  const isCode = isTicker || (end === tail && !/^(?:game|map|set|gm|g|more)\d*$/.test(end))
  const side = isCode ? sideOfCode(facts, end) : null
  if (side !== null || isTicker) return side
  if (/(?:home|away)$/.test(tail)) return homeAwaySideOf(facts, tail.endsWith('away'))
  // In a slug the first side is the first outcome, unless the title asks for a side that was not identified.
  return winner === null ? 'first' : null
}

function sideNamed({ sides }: BetFacts, name: string): YesOutcome | null {
  if (name === '') return null
  const [one, other] = sides.map((side) =>
    side.name === '' ? gradeCodeInName(side.code, name) : gradeNames(side.name, name),
  )
  return surer(one ?? 0, other ?? 0, 0.45)
}

/** The side whose grade is clearly higher and at least `least`. Null if there is none. */
function surer(one: number, other: number, least: number): YesOutcome | null {
  if (Math.max(one, other) < least || Math.abs(one - other) < 0.1) return null
  return one > other ? 'first' : 'second'
}

function sideOfCode({ sides }: BetFacts, code: string): YesOutcome | null {
  const [first, second] = sides
  for (const shorter of withoutLine(code)) {
    if (first.code === shorter) return 'first'
    if (second.code === shorter) return 'second'
  }
  const bare = code.replace(/\d+$/, '')
  if (bare === '') return null
  return surer(gradeCodeInName(bare, first.name), gradeCodeInName(bare, second.name), 0.5)
}

/** The end of a ticker, then without some of its last digits: "s042" may be line 2 of the code "s04". Never empty. */
export function withoutLine(end: string): readonly string[] {
  const digits = /\d*$/.exec(end)?.[0].length ?? 0
  const ends = Array.from({ length: digits + 1 }, (_, cut) => end.slice(0, end.length - cut))
  return ends.filter((one) => one !== '')
}

/** The home or away side. Most sports list the home side first, North American leagues the away side. */
function homeAwaySideOf({ competition, sides }: BetFacts, isAway: boolean): YesOutcome {
  const kind = competition.table?.kind
  const isHomeFirst =
    kind === undefined ? sides[0].handles === 'slug' : kind === 'club' || kind === 'player'
  return isAway === isHomeFirst ? 'second' : 'first'
}

function spreadOf(facts: BetFacts): BetTerms {
  const { title, tail, suffix, subtitle, listed } = facts
  const bracket = /([^:()|]+?) \(([-+]\d+(?:\.\d+)?)\)/.exec(title)
  if (listed.handles === 'slug' && bracket !== null) {
    const name = plainName((bracket[1] ?? '').replace(/^.*(?:spread|handicap)/, ''))
    return { yesOutcome: sideNamed(facts, name) ?? 'first', line: -Number(bracket[2]), detail: '' }
  }
  const homeAway = /\b(home|away) (\d+)pt(\d)/.exec(tail)
  if (homeAway !== null) {
    const line = Number(`${homeAway[2]}.${homeAway[3]}`)
    return { yesOutcome: homeAwaySideOf(facts, homeAway[1] === 'away'), line, detail: '' }
  }
  const winner = /^(.+?) wins? by/.exec(subtitle || title)?.[1] ?? ''
  const named = sideNamed(facts, plainName(winner.replace(/^.*: /, '')))
  return { yesOutcome: named ?? sideOfCode(facts, suffix), line: lineOf(facts), detail: '' }
}

function lineOf(facts: BetFacts): number | null {
  const { listed, tail, title, subtitle, suffix, competition, sides } = facts
  const floor = listed.strike?.floor ?? null
  if (floor !== null) return Math.floor(floor) + 0.5
  if (listed.line !== null) return Math.abs(listed.line)
  const inSlug = /(\d+)pt(\d)/.exec(tail)
  if (inSlug !== null) return Number(`${inSlug[1]}.${inSlug[2]}`)
  const both = `${subtitle} | ${title}`
  const stated = /(?:o\/u|over\/under|over|under|more than) (\d+(?:\.\d+)?)/.exec(both)
  if (stated !== null) return Number(stated[1])
  const atLeast = /(\d+)\+/.exec(both)
  if (atLeast !== null) return Number(atLeast[1]) - 0.5
  // "m052" is line 2 of the code "m05".
  const code = sides.map((side) => side.code).find((one) => one !== '' && suffix.startsWith(one))
  const digits = /(\d+)$/.exec(suffix.slice(code?.length ?? 0))?.[1]
  if (digits === undefined) return null
  const isBelow = BELOW_LINE.has(competition.table?.name ?? '') || isOfClubs(facts)
  return Number(digits) + (isBelow ? 0.5 : -0.5)
}

function isOfClubs({ competition, sides }: BetFacts): boolean {
  if (competition.table !== null) return competition.table.kind === 'club'
  return competition.sport === 'soccer' && !sides.every(isCountry)
}

export function isCountry({ handles, name, code }: Side): boolean {
  return (name === '' ? countryOfCode(code, handles) : countryOfName(name)) !== null
}

/** The score in the order of the sides. Venue b may state it from the winner's point of view: "Rennes wins 3-1". */
function scoreOf(facts: BetFacts): string {
  const { title, tail, rest, subtitle } = facts
  const [, winner = '', more, less] = /^(.+?) wins? (\d+) ?- ?(\d+)$/.exec(subtitle) ?? []
  if (more !== undefined)
    return sideNamed(facts, plainName(winner)) === 'second' ? `${less}-${more}` : `${more}-${less}`
  const match =
    /(\d+) ?- ?(\d+)/.exec(rest) ?? /(\d+) (\d+)$/.exec(tail) ?? /(\d+)-(\d+)/.exec(title)
  return match === null ? '' : `${match[1]}-${match[2]}`
}

function playerOf({ title, subtitle }: BetFacts): string {
  const text = subtitle.includes(':') ? subtitle : title
  return plainName(/^([^:]+):/.exec(text)?.[1] ?? subtitle)
}
