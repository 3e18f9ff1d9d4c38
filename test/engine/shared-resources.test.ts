import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { LoginThrottle } from '../../actors/accounts/login-throttle.ts'
import { MarketSearch } from '../../actors/catalog/search.ts'
import { PastPrices } from '../../actors/past-prices/past-prices.ts'
import type { Caller } from '../../actors/views.ts'
import { TapeReaders } from '../../engine/app/tape-readers.ts'
import { EngineError } from '../../engine/errors.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import {
  attemptsPerAccountMax,
  commandsPerSecondMax,
  passwordQueueMax,
  pastQueriesPerRequesterMax,
  signUpQueueMax,
  signUpsPerHour,
  socketBuffersTotalBytesMax,
  streamSliceMs,
  unsentBytesMax,
} from '../../engine/limits.ts'
import { openPasswordPool, type PasswordPool } from '../../engine/passwords/passwords.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import type { SearchTask } from '../../engine/search/searcher.ts'
import { DAY_MS, MINUTE_MS, timeMs, usdMicros } from '../../engine/units.ts'
import { readTimePage } from '../../http/pages/scan.ts'
import { timeRangeOf } from '../../http/pages/time-range.ts'
import { UnsentAnswers } from '../../http/request/unsent.ts'
import { Hub } from '../../http/ws/hub.ts'
import { Session } from '../../http/ws/session/session.ts'
import { answered } from '../support/fakes/caller.ts'
import { FakeEngine } from '../support/fakes/engine.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { FakeMarket } from '../support/fakes/market.ts'
import { openQuickAccounts } from '../support/fakes/quick-accounts.ts'
import { level, listing, NAMES, NOON, recordingPublisher } from '../support/worlds/builders.ts'
import { pastTables } from '../support/worlds/past-tables.ts'
import { NO_FILTERS } from '../support/worlds/stored-webhooks.ts'
import { hourlyFills, settled, WalletWorld } from '../support/worlds/wallet-venue.ts'
import { ALICE, BOB, settle, WebhookWorld } from '../support/worlds/webhook-world.ts'

const ATTACKER: Requester = ['attacker', '192.0.2.1']
const BYSTANDER: Requester = ['bystander', '198.51.100.1']
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

type Measure = (isAttacked: boolean) => Promise<number>

async function deliveryMs(
  world: WebhookWorld,
  attack: { webhooks: number; trades: number; slowMs: number },
): Promise<number> {
  for (const nth of times(attack.webhooks)) {
    await world.create({ url: `https://slow-${nth}.example.com/` }, ALICE)
  }
  const url = 'https://bystander.example.com/'
  const filters = { ...NO_FILTERS, minUsd: usdMicros(1_000_000_000) }
  await world.create({ url, filters }, BOB)
  world.tiers.set(ALICE, 'free').set(BOB, 'free')
  const ownMs = 100
  world.caller.answer = (post) => ({
    ...{ outcome: { kind: 'answered', status: 200, retryAfterMs: null } },
    afterMs: post.url === url ? ownMs : attack.slowMs,
  })
  for (const _ of times(attack.trades)) world.trade()
  await settle()
  const madeAtMs = world.clock.nowMs()
  world.trade({ usd: usdMicros(2_000_000_000) })
  for (const _ of times(600)) {
    await settle()
    const [post] = world.caller.to(url)
    if (post !== undefined) return post.atMs - madeAtMs + ownMs
    world.clock.advance(100)
  }
  return Number.POSITIVE_INFINITY
}

async function logInTurns(attack: (pool: PasswordPool) => Promise<unknown>[]): Promise<number> {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const pool = openPasswordPool(new ManualClock(), {
    run: ({ kind, password }) => {
      begun.push(password)
      const result =
        kind === 'hash'
          ? ({ kind: 'hashed', encoded: '' } as const)
          : ({ kind: 'verified', isRight: true } as const)
      return new Promise((resolve) => ends.push(() => resolve(result)))
    },
    close: async () => undefined,
  })
  const attacks = attack(pool).map((one) => one.catch(() => undefined))
  const own = pool.verify('own', '', { network: '198.51.100.1', class: 'logIn' })
  while (!begun.includes('own')) {
    ends.shift()?.()
    await settled(1)
  }
  for (; ends.length > 0; await settled(1)) ends.shift()?.()
  await Promise.all([own, ...attacks])
  return begun.indexOf('own') + 1
}

function streams() {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const topics = { numSubscribers: () => 0, publish: () => true }
  const { publisher, metrics } = engine
  const hub = new Hub({ engine, publisher, clock, log: silentLog, metrics, topics })
  publisher.watch(hub)
  const callerOf = (name: string): Caller => {
    engine.accounts.make(name)
    return engine.accounts.callerOfKey(`${name}-key`) ?? assert.fail()
  }
  const join = (caller: Caller) => {
    const state = { sent: 0, buffered: 0, code: 0 }
    const ws = {
      send: () => {
        state.sent += 1
        clock.advance(1)
        return 1
      },
      subscribe: () => true,
      unsubscribe: () => true,
      getBufferedAmount: () => state.buffered,
      end: (code = 0) => {
        state.code = code
        hub.remove(session)
      },
      close: () => {
        state.code = 1_006
        hub.remove(session)
      },
      cork: (run: () => void) => run(),
    }
    const session = new Session({ id: 'c', caller, encoder: hub.encoder('j'), ws, hub })
    hub.add(session)
    session.open()
    return { session, state }
  }
  return { clock, engine, hub, join, attacker: callerOf('attacker'), bystander: callerOf('other') }
}

const MEASURES: Readonly<Record<string, Measure>> = {
  'webhook attempts': (isAttacked) =>
    deliveryMs(new WebhookWorld(), {
      ...{ webhooks: isAttacked ? 25 : 0, slowMs: 14_000 },
      trades: (10 * attemptsPerAccountMax) / 25,
    }),
  'webhook deliveries': (isAttacked) =>
    deliveryMs(new WebhookWorld(), {
      ...{ webhooks: isAttacked ? 1 : 0, slowMs: 20 },
      trades: 10 * 60 * 5,
    }),

  'password hashing: log-ins': (isAttacked) =>
    logInTurns((pool) =>
      times(isAttacked ? 10 * passwordQueueMax : 0).map(() =>
        pool.verify('attack', '', { network: '2001:db8:1::/48', class: 'logIn' }),
      ),
    ),
  'password hashing: sign-ups': (isAttacked) =>
    logInTurns((pool) =>
      times(isAttacked ? 10 * signUpQueueMax : 0).map((nth) =>
        pool.hash('attack', { network: `2001:db8:${nth % 50}::/48`, class: 'signUp' }),
      ),
    ),

  async accounts(isAttacked) {
    const clock = new ManualClock()
    const throttle = new LoginThrottle(clock)
    const attempt = (address: string) => {
      try {
        throttle.takeSignUp(address)
        return true
      } catch {
        return false
      }
    }
    for (const nth of times(isAttacked ? 200 * signUpsPerHour : 0)) {
      attempt(`2001:db8:1:${nth % 20}::/64`)
    }
    let minutes = 1
    for (; !attempt('2001:db8:2:0::/64'); minutes += 1) clock.advance(MINUTE_MS)
    return minutes
  },

  async 'venue requests: wallets'(isAttacked) {
    const world = new WalletWorld()
    const ends: (() => void)[] = []
    for (const nth of times(isAttacked ? 30 : 0)) {
      const wallet = world.wallet(nth + 2, hourlyFills(world, 1))
      world.venue.gates.set(wallet, new Promise((resolve) => ends.push(resolve)))
      world.wallets.open(wallet, new AbortController().signal, ATTACKER).catch(() => undefined)
    }
    await settled(60)
    const before = world.venue.readFrom.length
    const fresh = world.wallet(1, hourlyFills(world, 1))
    void world.wallets.open(fresh, new AbortController().signal, BYSTANDER)
    await settled(60)
    const turn = world.venue.readFrom.length - before
    for (const end of ends) end()
    await world.wallets.stop()
    return turn > 0 ? turn : Number.POSITIVE_INFINITY
  },

  async 'venue requests: past prices, candle history'(isAttacked) {
    const clock = new ManualClock(NOON)
    const ends: (() => void)[] = []
    const past = new PastPrices({
      ...{ storage: pastTables(), events: { event: () => null }, liveSinceMs: () => null },
      ...{ clock, log: silentLog, metrics: new Metrics() },
      pastPricesOf: () => ({
        read: async () => {
          await new Promise<void>((resolve) => ends.push(resolve))
          return []
        },
      }),
    })
    const world = { clock, publisher: recordingPublisher().publisher, catalog: { names: NAMES } }
    const ask = (number: number, requester: Requester) => {
      const createdAtMs = timeMs(NOON - 10 * DAY_MS)
      const market = new FakeMarket(world, listing(`m${number}`, { createdAtMs }), number)
      const atMs = timeMs(NOON - DAY_MS)
      void Promise.resolve(past.at(market, atMs, requester)).catch(() => undefined)
    }
    for (const nth of times(isAttacked ? 10 * pastQueriesPerRequesterMax : 0))
      ask(nth + 2, ATTACKER)
    const before = ends.length
    ask(1, BYSTANDER)
    await settled(5)
    const turn = ends.length - before
    past.stop()
    for (const end of ends) end()
    return turn > 0 ? turn : Number.POSITIVE_INFINITY
  },

  async 'page scans'(isAttacked) {
    const clock = new ManualClock()
    let attackerPieces = 0
    const endings: AbortController[] = []
    const kinds = [() => false, () => true, null]
    const scan = (requester: Requester, pieces: number, kind: number, onPiece: () => void) => {
      let left = pieces
      const ending = new AbortController()
      endings.push(ending)
      return Promise.resolve(
        readTimePage({
          range: timeRangeOf({ order: 'desc' }),
          ...{ limit: 10_000, rowsPerTick: 1, clock, requester, signal: ending.signal },
          read: ({ after }) => {
            clock.advance(3)
            onPiece()
            left -= 1
            const row = { timeMs: timeMs((after?.timeMs ?? NOON) - 1), ordinal: 0 }
            return { rows: [row], isEnd: left <= 0 }
          },
          positionOf: (row) => row,
          accepts: kinds[kind] ?? null,
        }),
      )
    }
    const attack = times(isAttacked ? 60 : 0).map((nth) =>
      scan(ATTACKER, 1_000, nth % 3, () => {
        attackerPieces += 1
      }).catch(() => undefined),
    )
    while (isAttacked && attackerPieces < 180) await settled(1)
    const startMs = clock.monotonicMs()
    await scan(BYSTANDER, 10, 0, () => undefined)
    const elapsedMs = clock.monotonicMs() - startMs
    for (const ending of endings) ending.abort()
    await Promise.all(attack)
    return elapsedMs
  },

  async 'replays of streams'(isAttacked) {
    const { clock, hub, attacker, bystander } = streams()
    const replay = (caller: Caller, slices: number) => {
      const work = {
        caller,
        left: slices,
        run: () => {
          clock.advance(streamSliceMs)
          work.left -= 1
          return work.left > 0 ? ('more' as const) : ('idle' as const)
        },
      }
      hub.advance(work)
      return work
    }
    const attack = times(isAttacked ? 20 : 0).map(() => replay(attacker, 1_000))
    await settled(5)
    const startMs = clock.monotonicMs()
    const own = replay(bystander, 10)
    while (own.left > 0) await settled(1)
    const elapsedMs = clock.monotonicMs() - startMs
    for (const work of attack) work.left = 1
    await settled(40)
    hub.stop()
    return elapsedMs
  },

  async 'replays of the tape'(isAttacked) {
    const readers = new TapeReaders({ what: 'replays', max: 16, ofOwnerMax: 2 })
    const opened = ([owner = '']: Requester) => {
      const open = times(20).filter(() => {
        try {
          return readers.add(owner) > 0
        } catch (error) {
          assert.ok(error instanceof EngineError)
          return false
        }
      })
      return open.length
    }
    if (isAttacked) opened(ATTACKER)
    return 1 / opened(BYSTANDER)
  },

  async search(isAttacked) {
    const found: string[] = []
    const ends: (() => void)[] = []
    const port = {
      run: async (task: SearchTask) => {
        if (task.kind !== 'find') return 'changed' as const
        found.push(task.text)
        await new Promise<void>((resolve) => ends.push(resolve))
        return new Uint32Array()
      },
      close: async () => undefined,
    }
    const search = new MarketSearch({ port, clock: new ManualClock(), log: silentLog })
    const attack = times(isAttacked ? 640 : 0).map((nth) =>
      search.find(`attack ${nth}`, true, ATTACKER).catch(() => undefined),
    )
    const own = search.find('own', true, BYSTANDER)
    while (!found.includes('own')) {
      ends.shift()?.()
      await settled(1)
    }
    for (; ends.length > 0; await settled(1)) ends.shift()?.()
    await Promise.all([own, ...attack])
    await search.close()
    return found.indexOf('own') + 1
  },

  async matching(isAttacked) {
    const { accounts, clock } = openQuickAccounts()
    const signUp = async (name: string) =>
      accounts.signUp({ email: `${name}@example.com`, password: 'a password', address: name })
    const [attacker, own] = [await signUp('192.0.2.1'), await signUp('198.51.100.1')]
    const { requestsPerMinute } = attacker.caller
    for (const _ of times(isAttacked ? 10 * requestsPerMinute : 0)) {
      accounts.takeAccountRequest(attacker.caller.accountId)
    }
    let minutes = 1
    for (; !accounts.takeAccountRequest(own.caller.accountId).isAllowed; minutes += 1) {
      clock.advance(MINUTE_MS)
    }
    return minutes
  },

  async 'WebSocket commands'(isAttacked) {
    const { clock, engine, hub, join, attacker, bystander } = streams()
    const markets = times(98).map((nth) => engine.add(`m${nth}`))
    for (const market of markets) market.replace([level(0.4, 1)], [])
    const market_ids = markets.map(({ ref }) => ref.id)
    const command = Buffer.from(JSON.stringify({ action: 'snapshot', market_ids }))
    const [one, two, own] = [join(attacker), join(attacker), join(bystander)]
    if (isAttacked) {
      for (const _ of times(10 * commandsPerSecondMax)) one.session.receive(command, false)
      for (const _ of times(commandsPerSecondMax)) two.session.receive(command, false)
      assert.deepEqual([one.state.code, two.state.code], [4_000, 0])
    }
    await settled(1)
    const startMs = clock.monotonicMs()
    own.session.receive(command, false)
    while (own.session.hasWork) await settled(1)
    const elapsedMs = clock.monotonicMs() - startMs
    assert.ok(own.state.sent > markets.length)
    for (const { session } of [one, two, own]) session.cut()
    hub.stop()
    return elapsedMs
  },

  async memory(isAttacked) {
    const { clock, engine, hub, join, attacker, bystander } = streams()
    const attack = times(isAttacked ? 100 : 0).map(() => join(attacker))
    for (const { state } of attack) state.buffered = socketBuffersTotalBytesMax / 100
    const stream = join(bystander)
    stream.state.buffered = socketBuffersTotalBytesMax / 50
    const unsent = new UnsentAnswers({ clock, metrics: new Metrics() })
    let cutCount = 0
    const answer = (holder: string, byteCount: number, onCut: () => void) =>
      unsent.hold(
        {
          ...{ onAborted: () => undefined, onWritable: () => undefined, close: onCut },
          tryEnd: () => [false, false],
        },
        {
          ...{ bytes: new Uint8Array(byteCount), sentCount: 0, length: byteCount },
          ...{ isShared: false, holder },
        },
      )
    for (const _ of attack) answer('attacker', unsentBytesMax / 100, () => undefined)
    answer('bystander', unsentBytesMax / 50, () => {
      cutCount += 1
    })
    stream.session.subscribe('orderbook', '*')
    const market = engine.add('m')
    for (const nth of times(5)) {
      market.replace([level(0.4, nth + 1)], [])
      hub.sweep()
      await settled(1)
    }
    hub.stop()
    return 1 + cutCount + Number(stream.state.code === 1_006)
  },

  async disk(isAttacked) {
    const world = new WebhookWorld({ pendingTotalMax: 60 })
    for (const nth of times(isAttacked ? 10 : 0)) {
      await world.create({ url: `https://dead-${nth}.example.com/` }, ALICE)
    }
    const filters = { ...NO_FILTERS, marketIds: ['venue_a_quiet'] }
    const own = await world.create({ url: 'https://own.example.com/', filters }, BOB)
    world.caller.answer = () => answered(500)
    for (const _ of times(60)) world.trade()
    const housekeeping = async () => {
      world.clock.advance(MINUTE_MS)
      await settle()
    }
    await housekeeping()
    for (const _ of times(25)) world.trade({ market: 'quiet' })
    await housekeeping()
    world.trade({ market: 'quiet' })
    const { created, pending } = world.counts(own.id)
    world.webhooks.stop()
    return created / pending
  },

  async 'file descriptors'(isAttacked) {
    const { accounts } = openQuickAccounts()
    const signUp = async (name: string) =>
      accounts.signUp({ email: `${name}@example.com`, password: 'a password', address: name })
    const [attacker, own] = [await signUp('192.0.2.1'), await signUp('198.51.100.1')]
    const open = times(isAttacked ? 10 * attacker.caller.socketsMax : 0).map(() =>
      accounts.openSocket(attacker.caller),
    )
    assert.equal(open.filter((place) => place !== null).length, isAttacked ? 2 : 0)
    const place = accounts.openSocket(own.caller)
    return place === null ? Number.POSITIVE_INFINITY : 1
  },
}

for (const [resource, measure] of Object.entries(MEASURES)) {
  test(`serves one client within twice its normal time while a different account uses ten times its share: ${resource}`, async (t) => {
    const alone = await measure(false)
    const beside = await measure(true)
    t.diagnostic(`${resource}: alone ${alone}, beside the attacker ${beside}`)
    assert.ok(alone > 0 && Number.isFinite(alone))
    assert.ok(beside <= 2 * alone, `alone ${alone}, beside the attacker ${beside}`)
  })
}

test('measures each shared resource that the table of shared resources lists', () => {
  const text = readFileSync(new URL('../../engine/app/OPERATING.md', import.meta.url), 'utf8')
  const [, section = ''] = text.split('\n## Shared resources\n')
  const [table = ''] = section.split('\n## ')
  const rows = [...table.matchAll(/^\| ([^|]+?) \|/gm)].map(([, resource]) => resource)
  assert.deepEqual(
    rows.filter((resource) => resource !== 'resource'),
    Object.keys(MEASURES),
  )
})
