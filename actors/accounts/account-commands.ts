// Account commands of the admin socket. `npm run account` calls the same handlers if no engine runs.

import { limitsOf, TIER_NAMES, TIERS, type Tier } from '../../engine/accounts/account.ts'
import type { AdminHandlers, AdminRequest } from '../../engine/admin/admin-socket.ts'
import { EngineError } from '../../engine/errors.ts'
import type { AccountId } from '../../engine/ids.ts'
import { toSeconds } from '../../engine/units.ts'
import { DELIVERIES_PER_SECOND_MAX, webhookShareOf } from '../../engine/webhooks/webhook-share.ts'
import type { AccountRecord } from '../../storage/contract/storage.ts'
import type { AccountDirectory } from './directory.ts'

const PAGE_MAX = 1_000

export type WebhooksOf = (account: AccountId) => readonly {
  readonly counts: { readonly pending: number }
  readonly throttledCount: number
}[]

export type UseOf = (account: AccountId) => { readonly requests: number; readonly streams: number }

export function accountHandlers(
  directory: AccountDirectory,
  webhooksOf: WebhooksOf = () => [],
  useOf: UseOf = () => ({ requests: 0, streams: 0 }),
): AdminHandlers {
  const found = (request: AdminRequest): AccountRecord => {
    const email = textIn(request, 'email')
    const account = directory.findByEmail(email)
    if (account !== null) return account
    throw new EngineError('NOT_FOUND', `no account has the e-mail ${email}`)
  }
  const row = (account: AccountRecord) => {
    const { requests, streams } = useOf(account.id)
    return {
      ...rowOf(account, directory.keysOf(account.id).length),
      ...webhookFigures(webhooksOf(account.id)),
      ...{ requests_now: requests, streams_now: streams },
    }
  }
  return {
    /** `{after?}` → `{accounts, next}`. `next` is the value of `after` for the next page, or null on the last page. */
    'account.list': (request) => {
      const after = request.after === undefined ? null : textIn(request, 'after')
      const page = directory.list(after, PAGE_MAX)
      const next = page.length < PAGE_MAX ? null : (page.at(-1)?.email ?? null)
      return { accounts: page.map(row), next }
    },
    /** `{email, tier, requests_per_minute?, sockets?, deliveries_per_second?}` → the account. */
    'account.set-tier': async (request) => {
      const account = found(request)
      const set = {
        tier: tierIn(request),
        requestsPerMinute: limitIn(request, 'requests_per_minute'),
        socketsMax: limitIn(request, 'sockets'),
        deliveriesPerSecond: limitIn(request, 'deliveries_per_second'),
      }
      const own = set.requestsPerMinute ?? set.socketsMax ?? set.deliveriesPerSecond
      if (set.tier !== 'enterprise' && own !== null) {
        throw new EngineError('BAD_REQUEST', 'only enterprise takes limits of its own')
      }
      return row(await directory.setTier(account, set))
    },
    'account.disable': async (request) => row(await directory.disable(found(request))),
    'account.enable': async (request) => row(await directory.enable(found(request))),
    /** `{email}` → the account. Also ends its login tokens. */
    'account.log-out': async (request) => row(await directory.endTokens(found(request))),
    'account.delete': async (request) => {
      const account = found(request)
      const deleted = row(account)
      await directory.remove(account)
      return deleted
    },
  }
}

function rowOf(account: AccountRecord, keyCount: number) {
  const { requestsPerMinute, socketsMax } = limitsOf(account)
  return {
    id: account.id,
    email: account.email,
    tier: account.tier,
    requests_per_minute: requestsPerMinute,
    sockets: socketsMax,
    keys: keyCount,
    is_disabled: account.isDisabled,
    created_at: toSeconds(account.createdAtMs),
    deliveries_per_second: webhookShareOf(account).deliveriesPerSecond,
  }
}

function webhookFigures(webhooks: ReturnType<WebhooksOf>) {
  let [pending, throttled] = [0, 0]
  for (const { counts, throttledCount } of webhooks) {
    pending += counts.pending
    throttled += throttledCount
  }
  return {
    webhooks: webhooks.length,
    pending_deliveries: pending,
    throttled_deliveries: throttled,
  }
}

function textIn(request: AdminRequest, name: string): string {
  const value = request[name]
  if (typeof value === 'string' && value !== '' && value.length <= 1_024) return value
  throw new EngineError('BAD_REQUEST', `${name} must be a text of 1 to 1024 characters`)
}

function tierIn({ tier }: AdminRequest): Tier {
  const found = TIER_NAMES.find((name) => name === tier)
  if (found !== undefined) return found
  throw new EngineError('BAD_REQUEST', `tier must be one of ${TIER_NAMES.join(', ')}`)
}

const LIMITS_MAX = {
  requests_per_minute: TIERS.enterprise.requestsPerMinute,
  sockets: TIERS.enterprise.socketsMax,
  deliveries_per_second: DELIVERIES_PER_SECOND_MAX,
} as const

/** No account may have higher limits than an enterprise account. */
function limitIn(request: AdminRequest, name: keyof typeof LIMITS_MAX): number | null {
  const value = request[name] ?? null
  const most = LIMITS_MAX[name]
  if (value === null) return null
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) {
    return value
  }
  throw new EngineError('BAD_REQUEST', `${name} must be a whole number from 1 to ${most}`)
}
