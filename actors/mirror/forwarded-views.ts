// Placeholders for views that a gateway does not have. Routes that need these views are forwarded to the engine, so a
// call throws.

import { EngineError } from '../../engine/errors.ts'
import type { EngineView } from '../views.ts'

function forwarded(): never {
  throw new EngineError('UNAVAILABLE', 'only the engine has this data')
}
const forwardedAsync = async (): Promise<never> => forwarded()

type ForwardedView = 'arbitrage' | 'pastPrices' | 'webhooks' | 'wallets'

export const FORWARDED_VIEWS: Pick<EngineView, ForwardedView> = {
  arbitrage: {
    list: forwarded,
    find: forwarded,
    ofMarket: forwarded,
    quote: forwarded,
    past: forwarded,
    oldestPastMs: forwarded,
  },
  pastPrices: { at: forwardedAsync, range: forwardedAsync },
  webhooks: {
    delivery: forwarded,
    list: forwarded,
    get: forwarded,
    create: forwardedAsync,
    change: forwardedAsync,
    remove: forwardedAsync,
    rotateSecret: forwardedAsync,
    test: forwardedAsync,
    deliveries: forwarded,
    chatMessage: forwarded,
    retry: forwardedAsync,
  },
  wallets: { open: forwardedAsync, ranking: forwarded, count: 0 },
}
