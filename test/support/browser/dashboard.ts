import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { signUp } from '../clients/rest-caller.ts'
import { type ApiServer, openApiServer } from '../rigs/api-server.ts'
import { beforeAgain, read } from '../rigs/full-service.ts'
import { freePorts, startProcess } from '../rigs/processes.ts'
import { type Chromium, openChromium, type TabOptions } from './chromium.ts'

export interface FakeDashboard {
  readonly server: ApiServer
  readonly chromium: Chromium
  /**
   * Opens a page such as `#/markets`. The user `ann` is logged in, unless `options` has a token or null. The tab closes
   * after the test.
   */
  open(page: string, options?: TabOptions): Promise<Page>
  close(): Promise<void>
}

export interface RealDashboard {
  readonly origin: string
  /** Key of the local account, which has no rate limit. */
  readonly key: string
  readonly chromium: Chromium
  /** No user is logged in, unless `options` has a token. The tab closes after the test. */
  open(page: string, options?: TabOptions): Promise<Page>
  /** Returns the account's token. */
  signUp(email: string): Promise<string>
  /** `start` starts a new process on the same port and folder. */
  stop(signal: NodeJS.Signals): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

export async function openFakeDashboard(
  set: Parameters<typeof openApiServer>[0] = {},
): Promise<FakeDashboard> {
  const server = await openApiServer(set)
  const chromium = await openChromium().catch(async (error: unknown) => {
    await server.stop()
    throw error
  })
  return {
    server,
    chromium,
    async open(page, options = {}) {
      const url = `${server.origin}/dashboard${page}`
      return (await chromium.open(url, { token: 'ann-token', ...options })).page
    },
    async close() {
      await chromium.close().finally(() => server.stop())
    },
  }
}

/** Starts a process over simulated venues, and a browser. `env` overrides the settings of a small, fast simulation. */
export async function openRealDashboard(
  env: Readonly<Record<string, string>> = {},
): Promise<RealDashboard> {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-dashboard-'))
  const port = await freePorts(1)
  const origin = `http://127.0.0.1:${port}`
  const launch = async () => {
    const process = startProcess('engine/app/start.mjs', {
      SIM_MARKETS: '40',
      SIM_RATE: '100',
      PORT: String(port),
      DATA_DIR: join(folder, 'data'),
      SIGNUPS_PER_HOUR: '1000',
      LOG_LEVEL: 'warn',
      WEBHOOK_ALLOW_HTTP: 'on',
      WEBHOOK_ALLOW_PRIVATE: 'on',
      ...env,
    })
    await process.line(/listens at (http:\S+)/)
    return process
  }
  let engine = await launch()
  const end = async () => {
    await engine.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }
  const chromium = await openChromium().catch(async (error: unknown) => {
    await end()
    throw error
  })
  return {
    origin,
    key: readFileSync(join(folder, 'data', 'local-key'), 'utf8').trim(),
    chromium,
    async open(page, options) {
      const url = `${origin}/dashboard${page}`
      return (await chromium.open(url, { isShedding: true, ...options })).page
    },
    signUp: (email) => signUp(origin, { email, password: 'correct horse battery' }),
    async stop(signal) {
      await engine.end(signal)
    },
    async start() {
      engine = await launch()
    },
    close: () => chromium.close().finally(end),
  }
}

/** The pages have content: a busy market, a settled market, a wallet and so on. */
export async function pagesWithContent({ origin, key }: RealDashboard): Promise<readonly string[]> {
  const marketsOf = async (status: string) => {
    const { markets } = await read<{ markets: readonly ListedMarket[] }>(
      `${origin}/v1/markets?status=${status}&platform=venue_a&limit=100`,
      key,
    )
    // Markets that both venues list come first.
    return markets
      .toSorted((one, other) => other.platforms.length - one.platforms.length)
      .map(({ id }) => encodeURIComponent(id))
  }
  const ids = await marketsOf('open')
  const [busiest = ''] = ids
  const [settled = ''] = await marketsOf('resolved')
  return [
    '#/opportunities',
    '#/markets',
    `#/market/${busiest}`,
    `#/market/${settled}`,
    '#/matches',
    '#/sports',
    '#/whales',
    '#/wallet',
    `#/wallet/${await tradingWallet(origin, key, ids)}`,
    '#/status',
    '#/account',
    '#/webhooks',
    '#/nowhere',
  ]
}

interface ListedMarket {
  readonly id: string
  readonly platforms: readonly object[]
}

/** Waits until one of the newest trades of these markets names a wallet. */
async function tradingWallet(origin: string, key: string, ids: readonly string[]): Promise<string> {
  for (;;) {
    for (const id of ids) {
      const { trades } = await read<{ trades: readonly { taker: string | null }[] }>(
        `${origin}/v1/markets/${id}/trades?limit=20`,
        key,
      )
      const taker = trades.find((trade) => trade.taker !== null)?.taker
      if (taker !== undefined && taker !== null) return taker
    }
    await beforeAgain()
  }
}
