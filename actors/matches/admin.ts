// What an operator may say about pairs of markets and of families, as commands of the admin socket; `npm run match` calls them. Arguments
// are checked here, since a socket brings anything. Not for: how commands arrive (engine/admin/socket.ts).
// Upholds MATCHER10, MATCHER14, MATCHER16.

import { EngineError } from '../../engine/errors.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { VenueTable } from '../../engine/venue-table.ts'
import type { MarketView } from '../views.ts'
import type { WordAnswer } from './answers.ts'
import type { MatchVerdicts } from './verdicts.ts'

/** As engine/admin/socket.ts has them. */
type Request = Readonly<Record<string, unknown>>
type Handlers = Readonly<Record<string, (request: Request) => unknown>>

const FAMILY_NOTE = 'the pairs of now are judged again at once, then all markets behind them'

/** What a word came to, as a text for the operator. */
function noteOf(word: 'confirmed' | 'rejected' | null, answer: WordAnswer): string {
  if (answer === 'later') return 'kept; the matcher is busy and carries it out when it comes to it'
  if (word === 'rejected') return 'the two are no pair'
  if (word === null) return answer === null ? 'the two are no pair' : 'a pair by its score alone'
  if (answer === null) return 'kept; they are no pair until both markets are open'
  return answer.inverted === true
    ? 'a pair that stays inverted as it was read: Yes of one is No of the other, so that it is never in ' +
        'platforms nor in the consolidated book, and Yes of both is what may earn'
    : 'a pair: Yes of one is Yes of the other'
}

/**
 * The commands `match.confirm`, `match.reject`, `match.forget` (`{one, other}`: market ids, or families as
 * `<platform>:<pattern>`) and `match.list`.
 */
export function matchHandlers(
  verdicts: MatchVerdicts,
  find: (id: string) => MarketView | null,
  names: VenueTable,
): Handlers {
  const market = (request: Request, field: string): MarketView => {
    const id = request[field]
    const found = typeof id === 'string' ? find(id) : null
    if (found !== null) return found
    throw new EngineError('MARKET_NOT_FOUND', `no market has the id ${String(id).slice(0, 256)}`)
  }
  const family = (text: unknown): { venue: VenueKey; pattern: string } | null => {
    if (typeof text !== 'string' || !text.includes(':')) return null
    const [platform = '', pattern = ''] = text.split(':', 2)
    const venue = names.venue(platform)
    if (venue !== null) return { venue, pattern }
    throw new EngineError('BAD_REQUEST', `no platform is called ${platform.slice(0, 256)}`)
  }
  const said = (word: 'confirmed' | 'rejected' | null) => async (request: Request) => {
    const families = [family(request.one), family(request.other)].filter((side) => side !== null)
    const [first, second] = families.sort((side, other) => (side.venue < other.venue ? -1 : 1))
    if (first !== undefined) {
      if (second === undefined || first.venue === second.venue) {
        throw new EngineError('BAD_REQUEST', 'a family of one venue goes with one of the other')
      }
      await verdicts.sayFamily(first.pattern, second.pattern, word)
      return {
        one: request.one,
        other: request.other,
        word,
        note: `${word === null ? 'taken back' : 'kept'}; ${FAMILY_NOTE}`,
      }
    }
    const [one, other] = [market(request, 'one'), market(request, 'other')]
    const answer = await verdicts.say(one, other, word)
    const match = answer === 'later' ? null : answer
    return { one: one.ref.id, other: other.ref.id, word, match, note: noteOf(word, answer) }
  }
  return {
    'match.confirm': said('confirmed'),
    'match.reject': said('rejected'),
    'match.forget': said(null),
    /** The newest thousand words. */
    'match.list': () => ({
      words: [...verdicts.all()].sort((one, other) => other.atMs - one.atMs).slice(0, 1_000),
    }),
  }
}
