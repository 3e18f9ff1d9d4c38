// What an operator may say of matches, as commands of the admin socket: `npm run match` calls them. Arguments are
// checked here, since a socket brings anything. Not for: how they arrive (engine/admin-socket.ts). Upholds MATCHER10.

import { EngineError } from '../engine/errors.ts'
import type { MatchVerdicts } from './match-verdicts.ts'
import type { MarketView } from './views.ts'

/** As engine/admin-socket.ts has them. */
type Request = Readonly<Record<string, unknown>>
type Handlers = Readonly<Record<string, (request: Request) => unknown>>

/** The commands `match.confirm`, `match.reject`, `match.forget` (`{one, other}`: market ids) and `match.list`. */
export function matchHandlers(
  verdicts: MatchVerdicts,
  find: (id: string) => MarketView | null,
): Handlers {
  const market = (request: Request, field: string): MarketView => {
    const id = request[field]
    const found = typeof id === 'string' ? find(id) : null
    if (found !== null) return found
    throw new EngineError('MARKET_NOT_FOUND', `no market has the id ${String(id).slice(0, 256)}`)
  }
  const said = (word: 'confirmed' | 'rejected' | null) => async (request: Request) => {
    const [one, other] = [market(request, 'one'), market(request, 'other')]
    await verdicts.say(one, other, word)
    return { one: one.ref.id, other: other.ref.id, word }
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
