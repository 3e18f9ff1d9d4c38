// Reads and validates every environment variable once. An error states the variable, its value and the accepted values.

import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { COVERAGE_ACCEPTS, type CoveragePolicy, readCoveragePolicy } from './coverage-policy.ts'
import { CHANGE_NAMES, FAULT_NAMES } from './fault-names.ts'
import type { VenueKey } from './ids.ts'
import { EnvironmentReader } from './process/environment.ts'
import { readTapeSelection, TAPE_MARKETS_ACCEPTS } from './tape-selection.ts'

export type VenueSource =
  | { readonly kind: 'sim' }
  | { readonly kind: 'live' }
  | { readonly kind: 'replay'; readonly file: string }

export interface PolymarketUrls {
  readonly gamma: string
  readonly clob: string
  readonly data: string
  readonly marketWs: string
  readonly rtdsWs: string
}

/** The whole service, or one side of a cluster (engine/cluster/README.md). */
export type Role = (typeof ROLES)[number]
const ROLES = ['all', 'engine', 'gateway'] as const

/** Hosts of the real venues. VENUES=live uses them where no other URL is set. */
export const LIVE_URLS = {
  polymarket: {
    gamma: 'https://gamma-api.polymarket.com',
    clob: 'https://clob.polymarket.com',
    data: 'https://data-api.polymarket.com',
    marketWs: 'wss://ws-subscriptions-clob.polymarket.com/ws/market',
    rtdsWs: 'wss://ws-live-data.polymarket.com',
  },
  kalshi: {
    restUrl: 'https://external-api.kalshi.com/trade-api/v2',
    wsUrl: 'wss://external-api-ws.kalshi.com/trade-api/ws/v2',
  },
} as const

/** In the order of the table in OPERATING.md. A test compares the two. */
export const VARIABLES: Readonly<Record<string, { default: string; means: string }>> = JSON.parse(
  readFileSync(new URL('./variables.json', import.meta.url), 'utf8'),
)

export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
  }
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const BYTES_PER_GB = 2 ** 30
/** Values of HOST that other machines cannot reach. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/

/** Null: not set. variables.json has the meanings of the variables. */
export type Config = ReturnType<typeof loadConfig>

/** Throws ConfigError with all problems at once. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>) {
  const read = new EnvironmentReader(env, VARIABLES)
  const host = read.text('HOST')
  const hasDemoKey = read.isOn('DEMO_KEY') && env.NODE_ENV !== 'production'
  const trustedProxies = readProxies(read)
  const role = readRole(read)
  const config = {
    role,
    nats: readNats(read, role),
    /** Encrypts the messages between processes of a cluster. Null only with `ROLE=all`. */
    clusterKey: readClusterKey(read, role),
    host,
    port: read.integer('PORT', 0, 65_535),
    dataDir: read.text('DATA_DIR'),
    venues: readVenues(read),
    venueNames: readVenueNames(read),
    sim: {
      marketsPerVenue: read.integer('SIM_MARKETS', 20, 250_000),
      v2Share: read.decimal('SIM_V2_SHARE', 0, 1),
      messagesPerSecond: read.integer('SIM_RATE', 1, 20_000),
      gapsPerMinute: read.integer('SIM_GAPS', 0, 600),
      seed: read.integer('SIM_SEED', 0, 4_294_967_295),
      faults: read.subset('SIM_FAULTS', FAULT_NAMES, CHANGE_NAMES),
      /** Seconds after which the simulated activity stream ends. Null: never. */
      activityEndsS: read.integer('SIM_RTDS_END_S', 0, 86_400) || null,
      port: read.integer('SIM_PORT', 1, 65_500),
    },
    /** Null: the URL of the built-in simulator. */
    polymarket: {
      gamma: read.url('POLYMARKET_GAMMA_URL', 'https:', 'http:'),
      clob: read.url('POLYMARKET_CLOB_URL', 'https:', 'http:'),
      data: read.url('POLYMARKET_DATA_URL', 'https:', 'http:'),
      marketWs: read.url('POLYMARKET_MARKET_WS_URL', 'wss:', 'ws:'),
      rtdsWs: read.url('POLYMARKET_RTDS_WS_URL', 'wss:', 'ws:'),
    },
    kalshi: readKalshi(read),
    jwtSecret: readSecret(read, 'JWT_SECRET'),
    jwtSecretPrevious: readSecret(read, 'JWT_SECRET_PREVIOUS'),
    /** Encrypts webhook secrets. Null: generated and stored on first start. */
    secretsKey: readSecret(read, 'SECRETS_KEY'),
    webhookPolicy: {
      allowsHttp: read.isOn('WEBHOOK_ALLOW_HTTP'),
      allowsPrivate: read.isOn('WEBHOOK_ALLOW_PRIVATE'),
    },
    /** Origin of the dashboard, to which chat messages link. */
    publicUrl: readPublicUrl(read),
    mustVerifyWebhooks:
      read.optional('WEBHOOK_VERIFY') === null
        ? read.text('VENUES') === 'live'
        : read.isOn('WEBHOOK_VERIFY'),
    hasDemoKey,
    isSignUpOpen: read.isOn('SIGNUP'),
    signUpsPerHour: read.integer('SIGNUPS_PER_HOUR', 1, 1_000_000),
    /**
     * Requests through a proxy on this machine seem to be local. Behind a proxy, a dashboard therefore needs a
     * password.
     */
    opensLocalAccount: hasDemoKey && LOOPBACK.test(host) && trustedProxies.length === 0,
    isMetricsPublic: read.isOn('METRICS_PUBLIC'),
    metricsHosts: readHosts(read, 'METRICS_HOSTS'),
    corsOrigins: readOrigins(read),
    trustedProxies,
    retentionDays: read.integer('RETENTION_DAYS', 1, 3_650),
    dataBytesMax: read.decimal('DATA_MAX_GB', 0.1, 10_000) * BYTES_PER_GB,
    tape: readTape(read),
    bookLimits: {
      ageMsMax: read.integer('BOOK_AGE_S', 2, 3_600) * 1_000,
      roundMs: read.integer('BOOK_AUDIT_S', 10, 86_400) * 1_000,
    },
    /** Null: the stored policy, or the default. */
    coverage: readCoverage(read),
    matchEncoderDir: read.optional('MATCH_ENCODER_DIR'),
    logLevel: read.choice('LOG_LEVEL', LEVELS),
  }
  if (read.problems.length > 0) throw new ConfigError(read.problems)
  return Object.freeze(config)
}

function readVenues(read: EnvironmentReader): VenueSource {
  const value = read.text('VENUES')
  if (value === 'sim' || value === 'live') return { kind: value }
  if (/^replay:.+/.test(value)) return { kind: 'replay', file: value.slice(7) }
  read.refuse('VENUES', '"sim", "live" or "replay:FILE"')
  return { kind: 'sim' }
}

function readCoverage(read: EnvironmentReader): CoveragePolicy | null {
  const text = read.optional('COVERAGE')
  if (text === null) return null
  const policy = readCoveragePolicy(text)
  if (!('problem' in policy)) return policy
  read.refuse('COVERAGE', COVERAGE_ACCEPTS)
  return null
}

function readVenueNames(read: EnvironmentReader): Partial<Record<VenueKey, string>> {
  for (const name of ['VENUE_A_NAME', 'VENUE_B_NAME']) {
    if (!/^[a-z][a-z0-9_-]{0,31}$/.test(read.text(name))) {
      read.refuse(name, 'a lower-case letter, then up to 31 letters, digits, _ or -')
    }
  }
  const names = { a: read.text('VENUE_A_NAME'), b: read.text('VENUE_B_NAME') }
  if (names.a === names.b) read.refuse('VENUE_B_NAME', 'a name that differs from VENUE_A_NAME')
  return names
}

function readRole(read: EnvironmentReader): Role {
  const value = read.choice('ROLE', ROLES)
  return ROLES.find((role) => role === value) ?? 'all'
}

function readNats(read: EnvironmentReader, role: Role) {
  const url = read.text('NATS_URL')
  const servers = url.split(',').map((one) => one.trim())
  const isServer = (one: string) => URL.canParse(one) && /^(?:nats|tls):\/\/[^/@]+$/.test(one)
  if (!servers.every(isServer)) {
    const accepts = 'a comma list of nats://host:port or tls://host:port'
    read.refuse('NATS_URL', `${accepts}; a user goes into NATS_USER and NATS_PASSWORD`)
  }
  const [user, password] = [read.optional('NATS_USER'), read.optional('NATS_PASSWORD')]
  if ((user === null) !== (password === null)) {
    const missing = user === null ? 'NATS_USER' : 'NATS_PASSWORD'
    read.refuse(missing, 'a value when its partner is set')
  }
  const login = user === null || password === null ? null : { user, password }
  const [creds, ca] = [read.optional('NATS_CREDS'), read.optional('NATS_CA')]
  if (creds !== null && !existsSync(creds))
    read.refuse('NATS_CREDS', 'the path of an existing file')
  if (ca !== null && !existsSync(ca)) read.refuse('NATS_CA', 'the path of an existing file')
  const isOpen = login === null && creds === null && ca === null
  const isRemote = (one: string) =>
    isServer(one) && one.startsWith('nats:') && !LOOPBACK.test(new URL(one).hostname)
  const isInsecure = role !== 'all' && isOpen && servers.some(isRemote)
  if (isInsecure && !read.isOn('NATS_INSECURE')) {
    const accepts =
      'nats:// to another machine only with NATS_USER and NATS_PASSWORD, NATS_CREDS or'
    read.refuse('NATS_URL', `${accepts} NATS_CA; or tls://; or anything with NATS_INSECURE=on`)
  }
  return { url, creds, ca, login }
}

function readClusterKey(read: EnvironmentReader, role: Role): string | null {
  const key = readSecret(read, 'CLUSTER_KEY')
  if (key === null && role !== 'all') {
    read.refuse('CLUSTER_KEY', 'at least 32 bytes, the same in all processes of the cluster')
  }
  return key
}

function readKalshi(read: EnvironmentReader) {
  const keyId = read.optional('KALSHI_KEY_ID')
  const privateKeyFile = read.optional('KALSHI_PRIVATE_KEY_FILE')
  if ((keyId === null) !== (privateKeyFile === null)) {
    const missing = keyId === null ? 'KALSHI_KEY_ID' : 'KALSHI_PRIVATE_KEY_FILE'
    read.refuse(missing, 'a value when its partner is set')
  }
  if (privateKeyFile !== null && !existsSync(privateKeyFile)) {
    read.refuse('KALSHI_PRIVATE_KEY_FILE', 'the path of an existing PEM file')
  }
  return {
    restUrl: read.url('KALSHI_REST_URL', 'https:', 'http:'),
    wsUrl: read.url('KALSHI_WS_URL', 'wss:', 'ws:'),
    keyId,
    privateKeyFile,
  }
}

/** Accepts `*` or exact origins. Other values would never match. */
function readOrigins(read: EnvironmentReader): readonly string[] {
  const origins = read
    .text('CORS_ORIGINS')
    .split(',')
    .map((item) => item.trim())
  const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text
  if (!origins.every((item) => item === '*' || isOrigin(item))) {
    read.refuse('CORS_ORIGINS', '"*", or a comma list of origins such as https://example.com')
  }
  return origins
}

function listOf(read: EnvironmentReader, name: string): readonly string[] {
  const items = read.text(name).split(',')
  return items.map((item) => item.trim()).filter((item) => item !== '')
}

/** Null: nothing is recorded. */
function readTape(read: EnvironmentReader) {
  const isOn = read.optional('TAPE') === null ? read.text('VENUES') === 'live' : read.isOn('TAPE')
  const selection = readTapeSelection(read.text('TAPE_MARKETS'))
  if (selection === null) read.refuse('TAPE_MARKETS', TAPE_MARKETS_ACCEPTS)
  const limits = {
    daysMax: read.integer('TAPE_DAYS', 1, 3_650),
    bytesMax: read.decimal('TAPE_MAX_GB', 0.1, 10_000) * BYTES_PER_GB,
  }
  return isOn && selection !== null ? { ...limits, selection } : null
}

function readPublicUrl(read: EnvironmentReader): string {
  const text = read.optional('PUBLIC_URL')
  if (text === null) return `http://localhost:${read.text('PORT')}`
  const isOrigin = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
  if (!isOrigin || new URL(text).origin !== text) {
    read.refuse('PUBLIC_URL', 'an origin such as https://twinbook.example.com')
  }
  return text
}

function readHosts(read: EnvironmentReader, name: string): readonly string[] {
  const hosts = listOf(read, name).map((host) => host.toLowerCase())
  if (!hosts.every((host) => /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/.test(host))) {
    read.refuse(name, 'a comma list of host names without ports such as metrics.example.com')
  }
  return hosts
}

function readProxies(read: EnvironmentReader): readonly string[] {
  const proxies = listOf(read, 'TRUSTED_PROXIES')
  if (!proxies.every(isAddressOrSubnet)) {
    read.refuse('TRUSTED_PROXIES', 'a comma list of addresses and subnets such as 10.0.0.0/8')
  }
  return proxies
}

function isAddressOrSubnet(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}

function readSecret(
  read: EnvironmentReader,
  name: 'JWT_SECRET' | 'JWT_SECRET_PREVIOUS' | 'SECRETS_KEY' | 'CLUSTER_KEY',
): string | null {
  const secret = read.optional(name)
  if (secret !== null && Buffer.byteLength(secret) < 32) read.refuse(name, 'at least 32 bytes')
  return secret
}
