// Compares the price gaps that the simulator plans with the opportunities that an engine finds. With TEST_LONG=1: five
// minutes with all faults.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isComparable } from '../../actors/matches/views.ts'
import { pause } from '../../engine/clock.ts'
import { FAULT_NAMES } from '../../engine/fault-names.ts'
import { opportunityRecordedMsMin } from '../../engine/limits.ts'
import type { Opportunity } from '../../engine/opportunity.ts'
import { silentLog } from '../../engine/process/log.ts'
import { startSimulator } from '../../engine/venues/simulator/simulator.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { waitOneTick } from '../support/fakes/real-time-step.ts'
import { read } from '../support/rigs/full-service.ts'
import { openWatchedEngine } from '../support/rigs/watched-engine.ts'

const isLong = process.env.TEST_LONG === '1'
const FLOW_MS = isLong ? 300_000 : 30_000
const FAULTS = isLong ? FAULT_NAMES : []
/** Shorter gaps need not be found. */
const LASTS_MS = 3_000
/** The clock runs at ten times real time, so a message may be 3 s late. */
const LATE_MS = 3_000
const MATCHED_LOOKS = 5

interface Gap {
  readonly kind: string
  readonly markets: readonly string[]
  readonly question: string
  readonly opens_ms: number
  readonly closes_ms: number
}

interface Found {
  readonly opportunity: Opportunity
  readonly markets: readonly string[]
  readonly openedMs: number
  closedMs: number
  reason: string | null
}

const isOf = (gap: Gap, { markets }: Found): boolean =>
  markets.length === gap.markets.length && gap.markets.every((id) => markets.includes(id))

/** A gap between the venues, or between the outcomes of an event, must be found. */
const isReal = ({ kind }: Gap): boolean => kind === 'real' || kind === 'event'

const overlaps = (gap: Gap, { openedMs, closedMs }: Found): boolean =>
  openedMs <= gap.closes_ms + LATE_MS && closedMs >= gap.opens_ms

const textOfGap = ({ kind, markets, question }: Gap): string =>
  `${kind}: ${question} (${markets.join(', ')})`

const textOfFound = ({ opportunity, openedMs, closedMs, reason }: Found): string => {
  const { id, kind, question, profit, contracts, legs } = opportunity
  const at = legs.map(({ market, isFirst }) => `${market.nativeId} ${isFirst ? 'Yes' : 'No'}`)
  return `${id} ${kind} for ${closedMs - openedMs} ms, closed by ${reason}: ${profit} micros of ${contracts}, ${question} (${at.join(', ')})`
}

test('reports every lasting arbitrage opportunity of the simulated venues, and no opportunity that did not exist', async (t) => {
  const clock = new ManualClock()
  const simulator = await startSimulator({
    ...{ seed: 1, marketsPerVenue: 120, messagesPerSecond: 200, gapsPerMinute: 24 },
    ...{ faults: FAULTS, clock, log: silentLog, basePort: 0, kalshiPublicKeyPem: null },
  })
  const { urls, kalshiKeyId: keyId, kalshiPrivateKeyPem: privateKeyPem } = simulator
  const kalshi = { restUrl: urls.kalshiRest, wsUrl: urls.kalshiWs, keyId, privateKeyPem }
  const dataDir = mkdtempSync(join(tmpdir(), 'twinbook-gaps-'))
  const stopTime = waitOneTick(clock)
  const { engine } = await openWatchedEngine({
    ...{ dataDir, addresses: { polymarket: urls, kalshi }, clock },
  })
  try {
    const { matches, catalog } = engine.view
    const opportunities = new Map<string, Found>()
    // The time of a match does not follow the simulated clock, so the test measures a gap from the time its match is published.
    const pairedMs = new Map<string, number>()
    const course = new Map<string, string[]>()
    engine.publisher.watch({
      name: 'gaps test',
      onUpdate(update) {
        if (update.kind === 'lifecycle' && update.event === 'matched')
          pairedMs.set(String(update.market.nativeId), clock.nowMs())
        if (update.kind === 'bookReplaced' || update.kind === 'bookStale') {
          const { kind, market } = update
          const published = course.get(String(market.nativeId)) ?? []
          published.push(`${kind} at ${clock.nowMs()}`)
          course.set(String(market.nativeId), published)
        }
        if (update.kind !== 'arbitrage') return
        const { opportunity, event, reason } = update
        const { id, legs, openedAtMs: openedMs } = opportunity
        if (event === 'opened') {
          const markets = legs.map(({ market }) => String(market.nativeId))
          opportunities.set(id, {
            opportunity,
            markets,
            openedMs,
            closedMs: Infinity,
            reason: null,
          })
        } else if (event === 'closed') {
          const found = opportunities.get(id)
          if (found !== undefined) Object.assign(found, { closedMs: clock.nowMs(), reason })
        }
      },
    })
    // Waits until the matcher has processed all markets.
    for (let checks = 0, total = -1; checks < MATCHED_LOOKS; checks += 1) {
      await pause(clock, 2_000)
      if (matches.highCount === 0 || matches.total !== total) checks = 0
      total = matches.total
    }
    const sinceMs = clock.nowMs()
    await pause(clock, FLOW_MS)
    const untilMs = clock.nowMs()
    const answer = await read<{ gaps: readonly Gap[] }>(`${urls.gamma}/sim/state?view=gaps`)
    const isKnown = ({ markets: [first] }: Gap): boolean => {
      const market = catalog.find(`venue_a_${first}`)
      const match = market === null ? null : matches.matchOf(market.ref)
      return match !== null && isComparable(match.pairScore)
    }
    const pairMs = ({ markets: [first] }: Gap) => pairedMs.get(first ?? '')
    const knownMs = (gap: Gap): number =>
      gap.kind === 'real' && isKnown(gap) ? (pairMs(gap) ?? sinceMs) : gap.opens_ms
    const real = answer.gaps.filter(isReal)
    const planted = real.filter(
      (gap) =>
        Math.min(gap.closes_ms, untilMs) - Math.max(gap.opens_ms, sinceMs, knownMs(gap)) >=
        LASTS_MS + LATE_MS,
    )
    const lasting = [...opportunities.values()].filter(
      ({ openedMs, closedMs }) => closedMs - openedMs >= opportunityRecordedMsMin,
    )
    const falsely = lasting.filter(
      (found) => !real.some((gap) => isOf(gap, found) && overlaps(gap, found)),
    )
    const ofKind = (kind: string): string => {
      const all = answer.gaps.filter((gap) => gap.kind === kind && gap.closes_ms >= sinceMs)
      return `${all.length} ${kind}`
    }
    const inEvents = planted.filter(({ kind }) => kind === 'event').length
    const ofNo = lasting.filter(
      ({ opportunity: { kind, legs } }) =>
        kind === 'single_venue' && legs.every(({ isFirst }) => !isFirst),
    ).length
    const missed = planted.filter(
      (gap) => !lasting.some((one) => isOf(gap, one) && overlaps(gap, one)),
    )
    const others = ['fees', 'depth', 'trap', 'stale'].map(ofKind).join(', ')
    t.diagnostic(
      `${planted.length} planted, ${inEvents} of them in events, ${planted.length - missed.length} found, ${falsely.length} found falsely; others: ${others}; ${opportunities.size} opened, ${lasting.length} of them long enough, ${ofNo} on all No outcomes of an event`,
    )
    for (const gap of missed)
      t.diagnostic(
        `missed ${textOfGap(gap)} of ${gap.opens_ms} to ${gap.closes_ms}, ${isKnown(gap) ? `a pair since ${pairMs(gap)}` : 'no pair'}; ${gap.markets.map((one) => course.get(one)?.join(', '))}`,
      )
    for (const found of falsely) t.diagnostic(`falsely ${textOfFound(found)}`)
    assert.deepEqual(missed.map(textOfGap), [])
    assert.deepEqual(falsely.map(textOfFound), [])
    assert.ok(planted.length >= FLOW_MS / 10_000 && inEvents > 0, 'enough gaps were simulated')
  } finally {
    await engine.stop()
    stopTime()
    await simulator.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
