// Endpoints of venue b about an account's rate limits. All accounts have the Basic tier.

import { json, type RestServer } from '../rest.ts'
import { type KalshiKeys, unauthorized } from './auth.ts'

/** Read tokens a second. The bucket holds the tokens of two seconds. */
export const READ_TOKENS = 240
export const READ_TOKENS_MAX = 480
const WRITE_TOKENS = 120
export const REQUEST_COST = 10

export function addAccountRoutes(rest: RestServer, prefix: string, keys: KalshiKeys): void {
  rest.get(`${prefix}/account/limits`, (request) => {
    if (keys.caller(request).kind !== 'key') return unauthorized('MISSING_HEADERS')
    return json({
      usage_tier: 'basic',
      read: { refill_rate: READ_TOKENS, bucket_capacity: READ_TOKENS_MAX },
      write: { refill_rate: WRITE_TOKENS, bucket_capacity: WRITE_TOKENS },
      grants: [],
    })
  })
  rest.get(`${prefix}/account/endpoint_costs`, () =>
    json({
      default_cost: REQUEST_COST,
      endpoint_costs: [{ method: 'DELETE', path: '/portfolio/events/orders/batched', cost: 2 }],
    }),
  )
}
