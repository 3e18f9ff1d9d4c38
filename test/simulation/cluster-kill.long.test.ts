// kill -9 of the engine, a gateway and nats-server, in a seeded order, under load, with users of http/client/ that are moved
// between gateways all the time; then nats-server stays away, and gateways are restarted one by one. Judged by the simulator's own
// list of trades and by what was acknowledged to a clerk. CLUSTER_KILLS=100 CLUSTER_CLIENTS=60 is the whole run; without a nats-server it is skipped.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { GET_NATS, hasNats } from '../../engine/cluster/nats-server.ts'
import { seededRandom } from '../../engine/random.ts'
import { Clerk } from '../support/clients/clerk.ts'
import { Crowd, unannounced } from '../support/clients/crowd.ts'
import { ClusterRig } from '../support/rigs/cluster.ts'
import { settled, tell } from '../support/rigs/crowd-judge.ts'
import { allMarketIds, beforeAgain, compareTrades, read } from '../support/rigs/whole-service.ts'

const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback)
const kills = number('CLUSTER_KILLS', 5)
const clients = number('CLUSTER_CLIENTS', 20)
const rate = number('CLUSTER_RATE', 100)
const secondsBetween = number('CLUSTER_SECONDS', 4)
/** How long nats-server is away; until all is stale, at least. */
const awaySeconds = number('CLUSTER_AWAY_SECONDS', 0)
const engines = number('CLUSTER_ENGINES', 1)
const seed = process.env.SEED ?? 'cluster'
const GATEWAYS = 3
const KINDS = ['engine', 'gateway', 'nats'] as const

const skip = hasNats() ? false : GET_NATS

test('[CLUSTER54] over kills of engine, gateways and nats-server nothing is lost unannounced, and what was acknowledged is so', {
  skip,
}, async (t) => {
  const say = (line: string) => t.diagnostic(line)
  const random = seededRandom(seed, 'kills')
  const world = { messagesPerSecond: rate, marketsPerVenue: 40, faults: 'off' }
  const rig = await ClusterRig.open({ engines, gateways: GATEWAYS, world })
  const { places } = rig
  let crowd: Crowd | null = null
  const clerk = new Clerk(rig.urls, seededRandom(seed, 'clerk'))
  try {
    crowd = Crowd.start({
      ...{ seed, host: '127.0.0.1', port: rig.ports[0] ?? 0, apiKey: places.key, clients },
      ...{ marketIds: await allMarketIds(places), wideEvery: 10, marketsPerClient: 20 },
      rough: { lifeMsMax: 20_000, gateways: rig.ports },
    })
    assert.deepEqual((await crowd.ask({ kind: 'ready' })).rejected, [])
    const sinceMs = Date.now()
    clerk.start()
    const done: Record<string, number> = {}
    for (let round = 0; round < kills; round += 1) {
      // Each kind comes first, then by chance; also while another one is starting.
      const kind = KINDS[round] ?? random.pick(KINDS)
      await pause(secondsBetween * 1_000 * (0.2 + random.next()))
      if (kind === 'engine') await rig.killEngine(random.below(engines))
      else if (kind === 'gateway') await rig.killGateway(random.below(GATEWAYS))
      else {
        await rig.killNats()
        await rig.startNats()
      }
      done[kind] = (done[kind] ?? 0) + 1
    }
    say(`${kills} kills: ${JSON.stringify(done)}`)
    await rig.listening()
    await whole(rig)
    await withoutNats(rig, say)
    for (const index of rig.ports.keys()) assert.equal(await rig.restartGateway(index), 0)
    await clerk.stop()
    await rig.venues.flow('pause')
    await crowd.ask({ kind: 'calm' })
    const { report, truth } = await settled(crowd, places, say)
    tell(report, truth, say)
    const lost = await clerk.lost()
    say(`acknowledged: ${JSON.stringify(clerk.acknowledged)}; ${lost.length} lost`)
    const trades = await compareTrades(places, null, sinceMs)
    say(
      `${trades.truthTrades} trades at the venues: ${trades.tradesMissing.length} missing, ${trades.tradesDoubled.length} twice, ${trades.tradesExtra.length} extra`,
    )
    assert.deepEqual(lost, [])
    assert.deepEqual(report.faults.slice(0, 5), [])
    assert.deepEqual(report.trades.missing.slice(0, 5), [])
    assert.deepEqual(report.trades.extra.slice(0, 5), [])
    assert.deepEqual(report.books.wrong.slice(0, 5), [])
    assert.deepEqual(unannounced(report), [])
    assert.equal(report.live, clients)
    assert.ok(report.trades.due > 0)
    assert.deepEqual(trades.tradesMissing.slice(0, 5), [])
    assert.deepEqual(trades.tradesDoubled, [])
    assert.deepEqual(trades.tradesExtra, [])
  } finally {
    await clerk.stop()
    await crowd?.stop()
    await rig.close()
    for (const line of rig.logged().slice(-20)) say(line)
  }
})

interface Book {
  readonly market_id: string
  readonly stale: boolean
}

/** Some books at each gateway. */
async function booksAt(rig: ClusterRig): Promise<readonly (readonly Book[])[]> {
  const ids = await marketIds(rig)
  return Promise.all(
    rig.urls.map(async (url) => {
      const path = `${url}/v1/orderbooks?market_ids=${ids.join(',')}`
      const { orderbooks } = await read<{ orderbooks: readonly Book[] }>(path, rig.places.key)
      return orderbooks
    }),
  )
}

let known: readonly string[] = []
/** Some markets with a book, known from a time when all was well. */
async function marketIds(rig: ClusterRig): Promise<readonly string[]> {
  if (known.length === 0) {
    const { api, key } = rig.places
    const page = await read<{ markets: readonly { id: string }[] }>(
      `${api}/v1/markets?status=open&limit=20`,
      key,
    )
    known = page.markets.map(({ id }) => id)
  }
  return known
}

/** Resolves once every gateway has live books again. */
async function whole(rig: ClusterRig): Promise<void> {
  for (;;) {
    const isHeard = await Promise.all(rig.urls.map(hearsEngine))
    const all = isHeard.includes(false) ? [] : await booksAt(rig)
    if (all.length > 0 && all.every((books) => books.some(({ stale }) => !stale))) return
    await beforeAgain()
  }
}

async function hearsEngine(url: string): Promise<boolean> {
  const { cluster } = await read<{ cluster: { is_heard: boolean } }>(`${url}/health`)
  return cluster.is_heard
}

async function withoutNats(rig: ClusterRig, say: (line: string) => void): Promise<void> {
  await rig.killNats()
  const goneMs = performance.now()
  // Its books are stale while a gateway does not hear the engine, and after some seconds it has no quota left to say so.
  for (const url of rig.urls) while (await hearsEngine(url)) await beforeAgain()
  const staleMs = performance.now() - goneMs
  await pause(Math.max(0, awaySeconds * 1_000 - staleMs))
  await rig.startNats()
  const backMs = performance.now()
  await whole(rig)
  say(
    `nats-server away: every book stale after ${(staleMs / 1_000).toFixed(1)} s; ${awaySeconds} s later and back: live again after ${((performance.now() - backMs) / 1_000).toFixed(1)} s`,
  )
}
