import { TIER_NAMES, TIERS } from '../../accounts/account.ts'
import type { AdminRequest } from '../../admin/admin-socket.ts'
import { type Arguments, UsageError } from '../../process/command-line.ts'
import { DELIVERIES_PER_SECOND_MAX } from '../../webhooks/webhook-share.ts'

export const ACCOUNT_COMMAND = {
  name: 'npm run account',
  about: 'Lists accounts, sets their tiers, disables, enables, logs out and deletes them.',
  usage: [
    'list',
    'set-tier EMAIL TIER [--rpm N] [--sockets N] [--deliveries N]',
    'disable|enable|log-out|delete EMAIL',
  ],
  positionals: {
    list: 'all accounts, with their webhooks and pending and throttled deliveries',
    'set-tier': `TIER is ${TIER_NAMES.join(', ')}`,
    disable: 'its requests are rejected, its streams end, its webhooks are paused',
    enable: 'its keys and webhooks work again',
    'log-out': 'ends all its login tokens; keys and webhooks stay valid',
    delete: 'deletes the account, its keys and its webhooks permanently',
  },
  positionalCounts: [0, Number.POSITIVE_INFINITY],
  options: {
    rpm: { takes: 'N', means: 'requests a minute, with the tier enterprise only' },
    sockets: { takes: 'N', means: 'streams at once, with the tier enterprise only' },
    deliveries: {
      takes: 'N',
      means: 'webhook deliveries a second, with the tier enterprise only',
    },
  },
  examples: ['list', 'set-tier me@example.com enterprise --rpm 6000', 'disable me@example.com'],
  notes: [
    'Sends the command to the running engine of DATA_DIR, or opens the data folder if no engine runs.',
    'Exit codes: 0 done, 1 refused or not possible now, 2 a bad request or setting.',
  ],
} as const

type Given = Arguments<keyof typeof ACCOUNT_COMMAND.options>

interface AccountRequest {
  readonly command: string
  readonly request: AdminRequest
}

/** Throws UsageError for invalid arguments. */
export function readAccountRequest(given: Given): AccountRequest {
  const [action, email, tier, ...more] = given.positionals
  if (hasLimits(given) && action !== 'set-tier')
    throw new UsageError('--rpm, --sockets and --deliveries go with set-tier')
  switch (action) {
    case 'list':
      if (email !== undefined) throw new UsageError('list takes no further arguments')
      return { command: 'account.list', request: {} }
    case 'disable':
    case 'enable':
    case 'log-out':
    case 'delete':
      if (email === undefined || tier !== undefined) {
        throw new UsageError(`${action} takes one EMAIL`)
      }
      return { command: `account.${action}`, request: { email } }
    case 'set-tier':
      if (email === undefined || tier === undefined || more.length > 0) {
        throw new UsageError('set-tier takes an EMAIL and a TIER')
      }
      return readSetTier({ email, tier }, given)
    case undefined:
      throw new UsageError('an ACTION is missing; npm run account -- --help lists them')
    default:
      throw new UsageError(
        `unknown action ${action}; use list, set-tier, disable, enable, log-out or delete`,
      )
  }
}

const hasLimits = (given: Given): boolean =>
  given.has('rpm') || given.has('sockets') || given.has('deliveries')

function readSetTier(request: { email: string; tier: string }, given: Given): AccountRequest {
  if (!TIER_NAMES.some((name) => name === request.tier)) {
    throw new UsageError(`TIER is ${request.tier}; it accepts ${TIER_NAMES.join(', ')}`)
  }
  if (request.tier !== 'enterprise' && hasLimits(given)) {
    throw new UsageError(
      `--rpm, --sockets and --deliveries go with enterprise; ${request.tier} has limits of its own`,
    )
  }
  const limits: Record<string, number> = {}
  const { requestsPerMinute, socketsMax } = TIERS.enterprise
  for (const [option, name, most] of [
    ['rpm', 'requests_per_minute', requestsPerMinute],
    ['sockets', 'sockets', socketsMax],
    ['deliveries', 'deliveries_per_second', DELIVERIES_PER_SECOND_MAX],
  ] as const) {
    const text = given.text(option)
    if (text === null) continue
    const value = /^\d{1,10}$/.test(text) ? Number(text) : 0
    if (value < 1 || value > most) {
      throw new UsageError(`--${option} is ${text}; it accepts a whole number from 1 to ${most}`)
    }
    limits[name] = value
  }
  return { command: 'account.set-tier', request: { ...request, ...limits } }
}
