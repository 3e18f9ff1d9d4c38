// Commands of the admin socket that override market pairs and families. `npm run match` sends them.

import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { VenueKey } from '../../engine/ids.ts'
import { patternTest } from '../../engine/matching/veto/families.ts'
import type { StoredOverride } from '../../storage/contract/matches.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import type { CatalogView, MarketView } from '../views.ts'
import { type MatchOverrides, rowOf } from './match-overrides.ts'
import { isMatchable } from './matches.ts'
import type { OverrideResult } from './override-results.ts'

type Request = Readonly<Record<string, unknown>>
type Handlers = Readonly<Record<string, (request: Request) => unknown>>
type Decision = StoredOverride['decision'] | null
type Listed = Pick<CatalogView, 'find' | 'names' | 'markets' | 'event'>

interface Family {
  readonly text: string
  readonly venue: VenueKey
  readonly pattern: string
}

const LISTED_MAX = 1_000

function noteOf(decision: Decision, answer: OverrideResult | 'unsaid'): string {
  if (answer === 'unsaid') return 'these markets had no override'
  if (answer === 'later') return 'stored; the matcher is busy and applies it later'
  if (decision === 'rejected') return 'the markets are not a pair'
  if (decision === null)
    return answer === null ? 'the markets are not a pair' : 'a pair by its score'
  if (answer === null) return 'stored; the markets become a pair when both are open'
  return answer.inverted === true
    ? 'an inverted pair: Yes of one market is No of the other. It is in no `platforms` field and no ' +
        'consolidated book; buying Yes of both may earn'
    : 'a pair: Yes of one market is Yes of the other'
}

async function countOf(family: Family, catalog: Listed, clock: Clock): Promise<number> {
  const isFitting = patternTest(family.pattern)
  const yielder = new EventLoopYielder(clock)
  let count = 0
  for (const market of catalog.markets(family.venue)) {
    await yielder.yieldIfDue()
    if (isMatchable(market) && namesOf(market, catalog).some(isFitting)) count += 1
  }
  return count
}

function namesOf({ ref, summary }: MarketView, { event, names }: Listed): readonly string[] {
  const handle = names.of(ref.venue).handles === 'slug' ? summary.slug : ref.nativeId
  const series = summary.event === null ? null : (event(ref.venue, summary.event)?.series ?? null)
  return [series ?? handle.split('-', 1)[0] ?? '', summary.event ?? '', handle]
}

/**
 * Parses `<platform>:<pattern>`. Null if the text is a market id. Throws EngineError BAD_REQUEST for an unknown
 * platform.
 */
function familyOf(text: unknown, { names }: Listed): Family | null {
  if (typeof text !== 'string' || !text.includes(':')) return null
  const [platform = '', pattern = ''] = text.split(':', 2)
  const venue = names.venue(platform)
  if (venue !== null) return { text, venue, pattern }
  throw new EngineError('BAD_REQUEST', `unknown platform: ${platform.slice(0, 256)}`)
}

function marketOf(id: unknown, { find }: Listed): MarketView {
  const found = typeof id === 'string' ? find(id) : null
  if (found !== null) return found
  throw new EngineError('MARKET_NOT_FOUND', `no market has the id ${String(id).slice(0, 256)}`)
}

/**
 * `match.confirm`, `match.reject` and `match.forget` take `{one, other}`: market ids, or families as
 * `<platform>:<pattern>`. `match.list` returns overrides in the same format.
 */
export function matchHandlers(overrides: MatchOverrides, catalog: Listed, clock: Clock): Handlers {
  const { names } = catalog
  const fitting = async (side: Family): Promise<string> => {
    const count = await countOf(side, catalog, clock)
    if (count === 0) return `${side.text} matches no open market`
    return `${side.text} matches ${count} open ${count === 1 ? 'market' : 'markets'}`
  }
  const noteOfFamilies = async (
    decision: Decision,
    families: readonly Family[],
  ): Promise<string> => {
    const [first, second] = [...families].sort((one, other) => (one.venue < other.venue ? -1 : 1))
    if (first === undefined || second === undefined || first.venue === second.venue) {
      throw new EngineError('BAD_REQUEST', 'name a family of each venue')
    }
    const hadOverride = await overrides.setFamily(first.pattern, second.pattern, decision)
    if (decision === null && !hadOverride) return 'these families had no override'
    const done = decision === null ? 'removed' : 'stored'
    const matched = `${await fitting(first)}, ${await fitting(second)}`
    return `${done}; ${matched}; current pairs are scored again at once, then all markets in the background`
  }
  const handlerFor = (decision: Decision) => async (request: Request) => {
    const ids = [request.one, request.other] as const
    const families = ids.map((id) => familyOf(id, catalog)).filter((side) => side !== null)
    if (families.length > 0) {
      return {
        one: ids[0],
        other: ids[1],
        word: decision,
        note: await noteOfFamilies(decision, families),
      }
    }
    // An override outlives its markets, so it can be deleted by their ids.
    const keys = ids.map((id) => (typeof id === 'string' ? names.split(id) : null))
    if (decision === null && ids.some((id, at) => keys[at] != null && !catalog.find(String(id)))) {
      const hadOverride = await overrides.clear(keys)
      const note = hadOverride
        ? 'removed; one of the markets no longer exists'
        : noteOf(null, 'unsaid')
      return { one: ids[0], other: ids[1], word: decision, match: null, note }
    }
    const [one, other] = [marketOf(ids[0], catalog), marketOf(ids[1], catalog)]
    const answer = await overrides.set(one, other, decision)
    const match = typeof answer === 'string' ? null : answer
    return {
      one: one.ref.id,
      other: other.ref.id,
      word: decision,
      match,
      note: noteOf(decision, answer),
    }
  }
  return {
    'match.confirm': handlerFor('confirmed'),
    'match.reject': handlerFor('rejected'),
    'match.forget': handlerFor(null),
    'match.list': () => {
      const newest = [...overrides.all()].sort((one, other) => other.atMs - one.atMs)
      return { words: newest.slice(0, LISTED_MAX).map((override) => rowOf(override, names)) }
    },
  }
}
