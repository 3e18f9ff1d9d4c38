// A whole engine in this process, over venues whose wires are lines of text: its time goes on while something is waited
// for, its server listens on a port of the system's. Not for: the venues' own protocols (watched-engine.ts).

import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createEngine } from '../../../engine/engine.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import type { Venue } from '../../../engine/venues/venue.ts'
import { VENUES } from '../../../engine/venues/venues.ts'
import { TOY } from '../../architecture/toy-venue/facts.ts'
import { openToy, type ToyVenue } from '../../architecture/toy-venue/toy.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { openMemoryStorage } from '../twins/memory.ts'
import { NOON } from '../worlds/builders.ts'

const SECRET = 'x'.repeat(32)
const SETTINGS = {
  ...{ host: '127.0.0.1', port: 0, venueNames: {}, corsOrigins: [], trustedProxies: [] },
  ...{ isMetricsPublic: false, retentionDays: 30, dataBytesMax: 1e10 },
  ...{ jwtSecret: SECRET, jwtSecretPrevious: null, secretsKey: SECRET },
  webhookPolicy: { allowsHttp: true, allowsPrivate: true },
}

/** What a venue's markets ask, by their ids. */
type Asks = Readonly<Record<string, string>>

/** The engine of two venues without a wire and the toy, with a key of its local account. */
export async function startWithToy(asksOf: Readonly<Partial<Record<Venue['key'], Asks>>> = {}) {
  const clock = new ManualClock(NOON)
  const storage = openMemoryStorage()
  const toys = new Map<Venue['key'], ToyVenue>()
  const engine = createEngine(SETTINGS, {
    ...{ clock, storage, random: seededRandom('third venue') },
    ...{ log: silentLog, metrics: new Metrics(), epoch: 'test', version: '0' },
    table: [...VENUES, TOY],
    venues: (parts) => {
      for (const { key } of [...VENUES, TOY]) {
        toys.set(key, openToy(parts, asksOf[key] ?? { quiet: 'Nothing?' }, key))
      }
      return [...toys.values()].map(({ venue }) => venue)
    },
  })
  const key = await engine.accounts.openLocalAccount(null)
  await engine.start()
  /** The engine's time goes on while something is waited for. */
  const settled = async <Result>(promise: Promise<Result>): Promise<Result> => {
    let isDone = false
    const note = () => {
      isDone = true
    }
    promise.then(note, note)
    await until(
      () => isDone,
      () => clock.advance(1),
    )
    return promise
  }
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const request = () =>
      fetch(`http://127.0.0.1:${engine.port}${path}`, {
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      })
    let answer = await settled(request())
    // A search is refused for a moment while its thread starts beside other work.
    for (let again = 0; again < 20 && answer.status === 503; again += 1) {
      await answer.text()
      answer = await settled(request())
    }
    const text = await answer.text()
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  /** A line on a venue's wire. */
  const say = (line: string, key: Venue['key'] = TOY.key): void => {
    const toy = toys.get(key)
    assert.ok(toy !== undefined)
    toy.say(line)
  }
  return { engine, key, ask, say, settled }
}

/** Turns of the loop until something is so; fails after very many. */
export async function until(isSo: () => boolean, between = () => {}): Promise<void> {
  for (let turn = 0; turn < 1_000_000 && !isSo(); turn += 1) {
    between()
    await nextTurn()
  }
  assert.ok(isSo())
}
