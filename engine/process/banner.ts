// The text that a start prints to stdout. Only the banner prints a key. The text is not logged.

interface BannerFacts {
  readonly host: string
  readonly port: number
  readonly source: string
  readonly venues: readonly {
    readonly platform: string
    readonly state: string
    readonly markets: number
  }[]
  /** Null if DEMO_KEY is off. */
  readonly key: string | null
  readonly isDefault: boolean
  readonly version: string
  readonly startedInMs: number
}

export function banner(facts: BannerFacts): string {
  const base = `http://${reachable(facts.host)}:${facts.port}`
  const key = facts.key ?? 'YOUR_KEY'
  const venues = facts.venues.map(
    (venue) => `    ${venue.platform.padEnd(12)} ${venue.state.padEnd(6)} ${venue.markets} markets`,
  )
  const watch =
    facts.isDefault && facts.key !== null
      ? 'npm run watch -- trades'
      : `npm run watch -- trades --url ${base} --key ${key}`
  return [
    '',
    `  Twinbook ${facts.version} listens at ${base} after ${(facts.startedInMs / 1_000).toFixed(1)} s, venues: ${facts.source}`,
    ...venues,
    '',
    facts.key === null
      ? '  No local key (DEMO_KEY=off): POST /v1/auth/signup makes an account.'
      : `  Key of the local account: ${key}`,
    '',
    '  Try:',
    `    curl -H 'X-API-Key: ${key}' '${base}/v1/markets?limit=3'`,
    `    ${watch}`,
    '',
    '',
  ].join('\n')
}

/** The host for clients on this machine. It is loopback if the engine listens on all addresses. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
