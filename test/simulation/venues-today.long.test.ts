// Simulates the venues of November 2026: version 1 of the Data API is retired, half of venue_a's markets use protocol
// v2, and its activity stream ends. With TEST_LONG=1: five minutes at 1,000 messages a second.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StreamFollower } from '../support/clients/stream-follower.ts'
import { chosen, startTruthWorld, type TruthWorld } from '../support/reference/wallet-truth.ts'
import {
  allMarketIds,
  Rig,
  read,
  type ServiceLocations,
  settle,
} from '../support/rigs/full-service.ts'
import { firstDifference, WalletChecks } from '../support/rigs/wallet-checks.ts'

const isLong = process.env.TEST_LONG === '1'
const SECONDS = Number(process.env.TODAY_SECONDS ?? (isLong ? 300 : 30))
const ENDS_AFTER_S = SECONDS * 0.4
const WALLETS = Number(process.env.TODAY_WALLETS ?? (isLong ? 40 : 8))

interface Health {
  readonly drift: Readonly<
    Record<string, readonly { readonly kind: string; readonly name: string }[]>
  >
}

test('serves correct data when venue A retires API v1, half its markets use protocol v2, and its activity stream ends', async (t) => {
  const logLine = (line: string) => t.diagnostic(line)
  const rig = new Rig()
  const world = await startTruthWorld({
    markets: isLong ? 200 : 60,
    messagesPerSecond: isLong ? 1_000 : 200,
    pastMinutes: 30,
    closingSeconds: SECONDS * 2,
    time: 'machine',
    faults: ['v1_retired', 'stale_cache'],
    activityEndsS: ENDS_AFTER_S,
  })
  try {
    const { engine, locations: served } = await rig.startEngineBeside(world.simulator)
    const locations: ServiceLocations = { ...served, gamma: world.simulator.urls.gamma }
    const follower = new StreamFollower(
      `${locations.api.replace('http', 'ws')}/v1/ws?api_key=${locations.key}`,
    )
    await follower.follow('orderbook')
    await follower.follow('trades')
    const sinceMs = Date.now()
    const wallets = new WalletChecks({ world, locations, say: logLine })
    const ledgers = chosen(world.simulator.wallets.all(), WALLETS)
    await wallets.open(ledgers)
    await world.pause(SECONDS * 1_000)
    await read(`${locations.gamma}/sim/state?action=pause`)
    const report = await settle(locations, follower, { sinceMs, secondsMax: 600, say: logLine })
    const { booksCompared, booksWrong, rebuiltWrong, truthTrades, ...trades } = report
    logLine(`${booksCompared} books compared, ${truthTrades} true trades`)
    assert.ok(booksCompared > 0 && truthTrades > 0)
    for (const wrong of [
      booksWrong,
      rebuiltWrong,
      trades.tradesMissing,
      trades.tradesUnstreamed,
      trades.tradesExtra,
      trades.tradesDoubled,
    ]) {
      assert.deepEqual(wrong.slice(0, 5), [])
    }
    assert.deepEqual(await unlisted(world, locations), [])
    // The engine only polls for fills after the stream has ended, so wallets report `no_live_fills`.
    const different = await wallets.compare(ledgers, { isCompleteOnly: false })
    logLine(`${ledgers.length - different.size} of ${ledgers.length} wallets equal their ledgers`)
    assert.deepEqual(firstDifference(different), [])
    const { drift } = await read<Health>(`${locations.api}/health`, locations.key)
    const findings = Object.values(drift).flat()
    for (const { kind, name } of findings) logLine(`drift: ${kind}=${name}`)
    assert.deepEqual(
      findings.filter((entry) => !isSwitchedOn(entry)),
      [],
    )
    assert.ok(findings.some(isSwitchedOn), 'the end of the activity stream is reported')
    assert.deepEqual(follower.faults.slice(0, 5), [])
    follower.close()
    assert.equal(await engine.end('SIGTERM'), 0)
  } finally {
    await rig.close()
    await world.stop()
  }
})

/** Only the end of the activity stream is a change during the run. */
function isSwitchedOn({ kind, name }: { readonly kind: string; readonly name: string }): boolean {
  return kind === 'rtds' && name === 'silent while last_trade_price flows'
}

/** Markets that trade in the simulation but are not listed by the service. */
async function unlisted({ simulator }: TruthWorld, locations: ServiceLocations): Promise<string[]> {
  const listed = new Set((await allMarketIds(locations)).map((id) => id.toLowerCase()))
  const due: string[] = []
  let v2 = 0
  for (const venue of ['a', 'b'] as const) {
    for (const { listing, status } of simulator.world.markets(venue)) {
      if (status !== 'open') continue
      due.push(`venue_${venue}_${listing.nativeId}`.toLowerCase())
      if (listing.nativeId.endsWith('00') && venue === 'a') v2 += 1
    }
  }
  assert.ok(v2 > 0, 'there are markets of protocol v2')
  return due.filter((id) => !listed.has(id))
}
