// The text that a start prints to stdout. Only the banner prints a key. The text is not logged.

import type { DataSource } from '../data-source.ts'

interface BannerFacts {
  readonly host: string
  readonly port: number
  readonly data: DataSource
  readonly venues: readonly {
    readonly platform: string
    readonly state: string
    readonly markets: number
  }[]
  /** Null if DEMO_KEY is off. */
  readonly key: string | null
  readonly version: string
  readonly startedInMs: number
}

export function banner(facts: BannerFacts): string {
  const base = `http://${reachable(facts.host)}:${facts.port}`
  const venues = facts.venues.map(
    ({ platform, state, markets }) => `${platform} ${state}, ${markets} markets`,
  )
  return [
    '',
    `  Twinbook ${facts.version} listens at ${base} after ${(facts.startedInMs / 1_000).toFixed(1)} s`,
    '',
    `  Dashboard  ${base}/`,
    `  API docs   ${base}/docs`,
    `  API key    ${facts.key ?? 'none (DEMO_KEY is off); sign up in the dashboard'}`,
    `  Data       ${DATA[facts.data]} (${venues.join('; ')})`,
    '  Stop       Ctrl-C',
    '',
    '',
  ].join('\n')
}

const DATA: Readonly<Record<DataSource, string>> = {
  simulated: 'simulated',
  live: 'live',
  replay: 'replay of a recording',
}

/** The host for clients on this machine. It is loopback if the engine listens on all addresses. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
