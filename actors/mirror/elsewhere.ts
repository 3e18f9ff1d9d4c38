// The views of owners that a gateway has not: every route that asks them is forwarded to the engine, so that nobody calls
// these; who does is refused.

import { EngineError } from '../../engine/errors.ts'
import type { EngineView } from '../views.ts'

function elsewhere(): never {
  throw new EngineError('UNAVAILABLE', 'only the engine knows')
}
const later = async (): Promise<never> => elsewhere()

type Elsewhere = 'arbitrage' | 'pastPrices' | 'webhooks' | 'wallets'

export const ELSEWHERE: Pick<EngineView, Elsewhere> = {
  arbitrage: {
    list: elsewhere,
    find: elsewhere,
    ofMarket: elsewhere,
    quote: elsewhere,
    past: elsewhere,
    oldestPastMs: elsewhere,
  },
  pastPrices: { at: later, range: later },
  webhooks: {
    delivery: elsewhere,
    list: elsewhere,
    get: elsewhere,
    create: later,
    change: later,
    remove: later,
    rotateSecret: later,
    test: later,
    deliveries: elsewhere,
    retry: later,
  },
  wallets: { open: later, ranking: elsewhere, count: 0 },
}
