// Time from sending a message until the actor handles it. Three cases: an idle system, where the actor runs within the
// call; a burst of thousands of messages; and a steady stream. In the last two the time starts at the message's planned
// moment, so that a late sender cannot hide a slow system.
// Excluded: the actor's real work (this actor records the time, about 0.1 µs), routing, sockets.

import type { Histogram } from 'hdr-histogram-js'
import { type Actor, type ActorRef, type ReceiveResult, System } from '../actors/system.ts'
import { systemClock } from '../engine/clock.ts'
import { mailboxMessagesMax } from '../engine/limits.ts'
import { silentLog } from '../engine/process/log.ts'
import { Metrics } from '../engine/process/metrics.ts'
import {
  type Bench,
  type BenchSetting,
  check,
  hashOf,
  newTimes,
  record,
  timeInRotation,
  timesRow,
} from './harness.ts'

const ACTORS = 100
const BATCH = 100

export const bench: Bench = {
  name: 'mailbox',
  question:
    'How long from telling an actor something to its turn: idle, in a burst, at a steady rate?',
  excludes: 'the work of a real turn, routing, sockets',
  async run(setting) {
    const idle = timeIdle(setting)
    const burst = await timeBursts(setting)
    const steady: Case[] = []
    for (const perSecond of setting.isSmall ? [20_000] : [1_000, 20_000, 100_000]) {
      steady.push(await timeSteady(perSecond, setting.isSmall ? 100 : 2_000))
    }
    const cases = [idle, burst, ...steady]
    return {
      rows: cases.map(({ what, times }) => timesRow(what, times)),
      state: {
        hash: hashOf(cases.map(({ what, sums }) => `${what} ${sums.join(' ')}`)),
        checked: `${cases.length} cases: every message had its turn, once, in its actor's order`,
        isRepeatable: true,
      },
    }
  },
}

interface Case {
  readonly what: string
  readonly times: Histogram
  /** The sum of each actor. */
  readonly sums: readonly number[]
}

interface Note {
  /** Sequence number per actor. */
  readonly number: number
  readonly plannedAtMs: number
}

/** Only records when it was run. */
class NotingActor implements Actor<Note> {
  readonly name = 'noting'
  readonly #times: Histogram | null
  received = 0
  sum = 0
  isInOrder = true

  constructor(times: Histogram | null) {
    this.#times = times
  }

  receive({ number, plannedAtMs }: Note): ReceiveResult {
    if (this.#times !== null) record(this.#times, systemClock.monotonicMs() - plannedAtMs)
    this.isInOrder &&= number === this.received
    this.received += 1
    this.sum += number
  }

  restart(): void {
    check(false, 'a turn threw')
  }

  onOverflow(): void {
    check(false, 'a mailbox was full')
  }
}

function open(times: Histogram | null) {
  const system = new System({
    clock: systemClock,
    log: silentLog,
    metrics: new Metrics(),
    mustHold: () => false,
  })
  const actors = Array.from({ length: ACTORS }, () => new NotingActor(times))
  const actorRefs = actors.map((actor) => system.spawn(actor))
  return { system, actors, actorRefs }
}

function finish(
  what: string,
  times: Histogram,
  actors: readonly NotingActor[],
  published: number,
): Case {
  const received = actors.reduce((sum, actor) => sum + actor.received, 0)
  check(received === published, `${what}: ${received} turns for ${published} messages`)
  check(
    actors.every(({ isInOrder }) => isInOrder),
    `${what}: a message came out of order`,
  )
  return { what, times, sums: actors.map(({ sum }) => sum) }
}

/** Sends message `index` to the actors in rotation, numbered per actor. */
function tell(actorRefs: readonly ActorRef<Note>[], index: number, plannedAtMs: number): void {
  actorRefs[index % ACTORS]?.send({ number: Math.floor(index / ACTORS), plannedAtMs })
}

function timeIdle({ isSmall }: BenchSetting): Case {
  const times = newTimes()
  const { actors, actorRefs } = open(null)
  const operationCount = isSmall ? 5_000 : 1_000_000
  const batch = (from: number, count: number) => {
    for (let index = from; index < from + count; index += 1) tell(actorRefs, index, 0)
  }
  timeInRotation([{ times, batch }], { operationCount, batchCount: BATCH })
  return finish('idle: tell with its turn', times, actors, operationCount)
}

/** Messages sent within one event-loop tick, like those of one large frame: all wait for its end. */
async function timeBursts({ isSmall }: BenchSetting): Promise<Case> {
  const times = newTimes()
  const { system, actors, actorRefs } = open(times)
  const [burstCount, size] = isSmall ? [2, 2_000] : [50, 20_000]
  check(size / ACTORS < mailboxMessagesMax, 'a burst fits into the mailboxes')
  const teller = system.spawn<Note>({
    name: 'teller',
    receive({ number, plannedAtMs }): ReceiveResult {
      for (let step = 0; step < size; step += 1) tell(actorRefs, number * size + step, plannedAtMs)
    },
    restart: () => check(false, 'the teller threw'),
    onOverflow: () => check(false, 'the teller had too much to do'),
  })
  for (let burst = 0; burst < burstCount; burst += 1) {
    teller.send({ number: burst, plannedAtMs: systemClock.monotonicMs() })
    await allReceived(actors, (burst + 1) * size)
  }
  return finish(`burst of ${size} at one moment`, times, actors, burstCount * size)
}

/** Each message has a planned moment; overdue ones are sent at once. */
async function timeSteady(perSecond: number, durationMs: number): Promise<Case> {
  const times = newTimes()
  const { actors, actorRefs } = open(times)
  const total = Math.floor((perSecond * durationMs) / 1_000)
  const startedMs = systemClock.monotonicMs()
  for (let published = 0; published < total; ) {
    const elapsedMs = systemClock.monotonicMs() - startedMs
    const due = Math.min(total, 1 + Math.floor((elapsedMs * perSecond) / 1_000))
    for (; published < due; published += 1)
      tell(actorRefs, published, startedMs + (published * 1_000) / perSecond)
    await nextTurn()
  }
  await allReceived(actors, total)
  return finish(`steady ${perSecond} messages/s, from the planned time`, times, actors, total)
}

async function allReceived(actors: readonly NotingActor[], count: number): Promise<void> {
  while (actors.reduce((sum, actor) => sum + actor.received, 0) < count) await nextTurn()
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
