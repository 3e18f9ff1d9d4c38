// The command line of `npm run account`: words → a command of the admin socket, or a sentence that
// says what is accepted. Not for: doing it (account.ts). Upholds ACCOUNTCMD1.

import { parseArgs } from 'node:util'
import { TIER_NAMES, TIERS } from '../account.ts'
import type { AdminRequest } from '../admin/socket.ts'

export const ACCOUNT_USAGE = `npm run account -- ACTION
  list                                                all accounts
  set-tier EMAIL TIER [--rpm N] [--sockets N]         TIER: free, pro, enterprise; limits with enterprise only
  disable EMAIL                                       its requests are refused, its streams end, its webhooks are silent
  enable EMAIL                                        its keys and webhooks work again
  log-out EMAIL                                       all its login tokens end; its keys and webhooks go on
  delete EMAIL                                        the account, its keys and its webhooks, for good
The engine of DATA_DIR is asked when it runs; otherwise its data folder is opened.`

/** What was asked for. */
export type AccountArguments =
  | { readonly kind: 'command'; readonly command: string; readonly request: AdminRequest }
  | { readonly kind: 'help' }
  | { readonly kind: 'problem'; readonly problem: string }

/** Reads the words behind the command's name. */
export function readAccountArguments(words: readonly string[]): AccountArguments {
  try {
    return read(words)
  } catch (error) {
    return problem(error instanceof Error ? error.message : String(error))
  }
}

function read(words: readonly string[]): AccountArguments {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      rpm: { type: 'string' },
      sockets: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  const [action, email, tier, ...more] = positionals
  if (values.help === true) return { kind: 'help' }
  const hasLimits = values.rpm !== undefined || values.sockets !== undefined
  if (hasLimits && action !== 'set-tier') return problem('--rpm and --sockets go with set-tier')
  switch (action) {
    case 'list':
      if (email !== undefined) return problem('list takes nothing more')
      return { kind: 'command', command: 'account.list', request: {} }
    case 'disable':
    case 'enable':
    case 'log-out':
    case 'delete':
      if (email === undefined || tier !== undefined) return problem(`${action} takes one EMAIL`)
      return { kind: 'command', command: `account.${action}`, request: { email } }
    case 'set-tier':
      if (email === undefined || tier === undefined || more.length > 0) {
        return problem('set-tier takes an EMAIL and a TIER')
      }
      return readSetTier({ email, tier }, values)
    case undefined:
      return problem('an ACTION is missing')
    default:
      return problem(
        `no action ${action}; it is list, set-tier, disable, enable, log-out or delete`,
      )
  }
}

function readSetTier(
  request: { email: string; tier: string },
  { rpm, sockets }: { rpm?: string | undefined; sockets?: string | undefined },
): AccountArguments {
  if (!TIER_NAMES.some((name) => name === request.tier)) {
    return problem(`TIER is ${request.tier}; it accepts ${TIER_NAMES.join(', ')}`)
  }
  if (request.tier !== 'enterprise' && (rpm ?? sockets) !== undefined) {
    return problem(`--rpm and --sockets go with enterprise; ${request.tier} has limits of its own`)
  }
  const limits: Record<string, number> = {}
  const { requestsPerMinute, socketsMax } = TIERS.enterprise
  for (const [option, text, name, most] of [
    ['--rpm', rpm, 'requests_per_minute', requestsPerMinute],
    ['--sockets', sockets, 'sockets', socketsMax],
  ] as const) {
    if (text === undefined) continue
    const value = /^\d{1,10}$/.test(text) ? Number(text) : 0
    if (value < 1 || value > most) {
      return problem(`${option} is ${text}; it accepts a whole number from 1 to ${most}`)
    }
    limits[name] = value
  }
  return { kind: 'command', command: 'account.set-tier', request: { ...request, ...limits } }
}

function problem(text: string): AccountArguments {
  return { kind: 'problem', problem: text }
}
