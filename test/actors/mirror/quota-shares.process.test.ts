// Quotas of four gateways and one engine, with delays and with unreachable engines or gateways.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Quotas } from '../../../actors/accounts/quotas.ts'
import { QuotaServer, QuotaShares } from '../../../actors/mirror/quota-shares.ts'
import { type AccountId, accountId } from '../../../engine/ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const LIMIT = 1_200
const STEP_MS = 20
const WINDOW_STEPS = 60_000 / STEP_MS
const SEEDS = process.env.TEST_LONG === '1' ? [1, 2, 5, 6] : [1]
const ACCOUNT = accountId('acc_quota')

class Rig {
  readonly clock = new ManualClock()
  /** Admitted requests by window of the engine. The last entry is the current window. */
  readonly windows: number[] = [0]
  readonly cut = new Set<number>()
  readonly gateways: readonly QuotaShares[]
  #endsAtMs = Number.POSITIVE_INFINITY
  #engine: QuotaServer

  constructor(delayMs: () => number) {
    const { clock } = this
    this.#engine = this.#openEngine()
    const pass = () => new Promise<void>((resolve) => clock.after(delayMs(), resolve))
    this.gateways = [0, 1, 2, 3].map(
      (position) =>
        new QuotaShares({
          clock,
          name: `gateway ${position}`,
          request: async (body) => {
            await pass()
            if (this.cut.has(position)) throw new Error('unreachable')
            const answer = await this.#engine.answer(body)
            await pass()
            return answer
          },
        }),
    )
  }

  /** The new leader has counted no requests. */
  replaceEngine(): void {
    this.#engine = this.#openEngine()
  }

  #openEngine(): QuotaServer {
    const { clock } = this
    const quotas = new Quotas<AccountId>(clock)
    return new QuotaServer(
      {
        countRequests: (_kind, account, count) => {
          const isFirst = count > 0 && quotas.peek(account, LIMIT).remaining === LIMIT
          if (isFirst) this.#endsAtMs = clock.monotonicMs() + 60_000
          return count > 0 ? quotas.take(account, LIMIT, count) : quotas.peek(account, LIMIT)
        },
      },
      clock,
    )
  }

  /** Returns the number of admitted requests. */
  take(position: number, times: number): number {
    if (this.clock.monotonicMs() >= this.#endsAtMs) {
      this.windows.push(0)
      this.#endsAtMs = Number.POSITIVE_INFINITY
    }
    const quotas = this.gateways[position]?.of('account')
    let passed = 0
    for (let count = 0; count < times; count += 1) {
      if (quotas?.take(ACCOUNT, LIMIT).isAllowed === true) passed += 1
    }
    this.windows[this.windows.length - 1] = (this.windows.at(-1) ?? 0) + passed
    return passed
  }

  async step(): Promise<void> {
    this.clock.advance(STEP_MS)
    await nextTurn()
  }

  stop(): void {
    for (const gateway of this.gateways) void gateway.stop()
  }
}

for (const fault of ['none', 'gateway', 'engine'] as const) {
  test(`admits between 95 % and 105 % of a quota in each window over four gateways (unreachable: ${fault})`, async () => {
    for (const seed of SEEDS) {
      const source = seededRandom('quotas', fault, seed)
      const random = () => source.next()
      const rig = new Rig(() => 1 + Math.floor(random() * 30))
      let busy = [true, true, true, true]
      for (let step = 0; step < WINDOW_STEPS * 3.5; step += 1) {
        if (step % 200 === 0) busy = busy.map(() => random() < 0.5)
        // The first gateway is never isolated.
        busy[0] = true
        const isRemoved = step > WINDOW_STEPS * 1.1 && step < WINDOW_STEPS * 1.6
        rig.cut.clear()
        if (isRemoved && fault !== 'none') {
          for (const position of fault === 'gateway' ? [3] : [0, 1, 2, 3]) rig.cut.add(position)
        }
        for (const [position, isBusy] of busy.entries()) {
          if (isBusy) rig.take(position, random() < 0.01 ? 200 : random() < 0.4 ? 1 : 0)
        }
        await rig.step()
      }
      rig.stop()
      const published = `seed ${seed}: ${rig.windows.join(', ')}`
      assert.ok(rig.windows.length >= 3, published)
      for (const passed of rig.windows) assert.ok(passed <= LIMIT * 1.05, published)
      const complete = fault === 'none' ? rig.windows.slice(0, 3) : rig.windows.slice(0, 1)
      for (const passed of complete) assert.ok(passed >= LIMIT * 0.95, published)
    }
  })
}

test('counts a client’s requests from before a leader change against the client’s quota after the change', async () => {
  const rig = new Rig(() => 2)
  let passed = 0
  for (let step = 0; step < 1_000; step += 1) {
    passed += rig.take(step % 4, 1)
    await rig.step()
  }
  assert.equal(passed, 1_000)
  for (const position of [0, 1, 2, 3]) rig.cut.add(position)
  for (let step = 0; step < 300; step += 1) await rig.step()
  rig.replaceEngine()
  rig.cut.clear()
  for (let step = 0; step < 1_000; step += 1) {
    for (const position of [0, 1, 2, 3]) passed += rig.take(position, 1)
    await rig.step()
  }
  assert.ok(passed <= LIMIT * 1.05 && passed >= LIMIT * 0.95, String(passed))
  for (let step = 0; step < 1_500; step += 1) {
    passed += rig.take(0, 1)
    await rig.step()
  }
  rig.stop()
  assert.ok(passed > LIMIT * 1.2, String(passed))
})

test('assigns a gateway’s unused part of a quota to a second gateway within two seconds', async () => {
  const rig = new Rig(() => 2)
  rig.take(0, 1)
  for (let step = 0; step < 150; step += 1) await rig.step()
  let passed = 0
  for (let step = 0; step < 500; step += 1) {
    passed += rig.take(1, 10)
    await rig.step()
  }
  rig.stop()
  assert.ok(passed >= LIMIT * 0.95 && passed < LIMIT, String(passed))
})

test('limits a disconnected gateway to its last assigned part of a quota, later to the quota divided by the number of gateways', async () => {
  const rig = new Rig(() => 2)
  for (const position of [0, 1, 2, 3]) rig.take(position, 1)
  for (let step = 0; step < 100; step += 1) await rig.step()
  rig.cut.add(0)
  let passed = rig.take(0, 10)
  assert.equal(passed, 10)
  for (let step = 0; step < WINDOW_STEPS - 100; step += 1) {
    passed += rig.take(0, 50)
    await rig.step()
  }
  assert.ok(passed <= LIMIT / 2, String(passed))
  // The windows of the isolated gateway and of the engine end within a second of each other.
  for (let step = 0; step < 200; step += 1) await rig.step()
  const [alone, others] = [rig.take(0, LIMIT), [0, 0, 0, 0]]
  for (let step = 0; step < 400; step += 1) {
    for (const position of [1, 2, 3])
      others[position] = (others[position] ?? 0) + rig.take(position, 7)
    await rig.step()
  }
  assert.equal(alone, LIMIT / 4)
  const together = others.reduce((sum, count) => sum + count, 0)
  assert.ok(together <= LIMIT * 0.8 && together >= LIMIT * 0.7, String(others))
  rig.cut.clear()
  for (let step = 0; step < WINDOW_STEPS; step += 1) await rig.step()
  assert.equal(rig.take(0, 5), 5)
  rig.stop()
})

test('divides a stopped gateway’s part of a quota among the remaining gateways at once', async () => {
  const rig = new Rig(() => 2)
  for (let step = 0; step < 100; step += 1) {
    for (const position of [0, 1, 2, 3]) rig.take(position, 1)
    await rig.step()
  }
  for (const position of [1, 2, 3]) void rig.gateways[position]?.stop()
  let passed = 400
  for (let step = 0; step < 500; step += 1) {
    passed += rig.take(0, 10)
    await rig.step()
  }
  rig.stop()
  assert.ok(passed >= LIMIT * 0.98 && passed <= LIMIT * 1.05, String(passed))
})

test('admits no more requests than the quota when all gateways use their parts at the same time', async () => {
  const rig = new Rig(() => 2)
  let passed = 0
  for (const position of [0, 1, 2, 3]) {
    passed += rig.take(position, 1)
    for (let step = 0; step < 3; step += 1) await rig.step()
  }
  for (const position of [0, 1, 2, 3]) passed += rig.take(position, LIMIT)
  rig.stop()
  assert.ok(passed <= LIMIT && passed > LIMIT / 2, String(passed))
})

test('reports 0 remaining requests when the quota refuses a request', async () => {
  const rig = new Rig(() => 2)
  rig.cut.add(0)
  const quotas = rig.gateways[0]?.of('account')
  assert.ok(quotas !== undefined)
  const answers = Array.from({ length: LIMIT }, () => quotas.take(ACCOUNT, LIMIT))
  const refused = answers.filter(({ isAllowed }) => !isAllowed)
  assert.ok(refused.length > 0 && refused.length < LIMIT)
  assert.deepEqual([...new Set(refused.map(({ remaining }) => remaining))], [0])
  rig.stop()
})

test('admits a client that uses a quarter of its quota while no gateway reaches the engine', async () => {
  for (const locations of [[0], [0, 1, 2, 3]]) {
    const rig = new Rig(() => 2)
    let requested = 0
    let passed = 0
    for (let step = 0; step < WINDOW_STEPS - 10; step += 1) {
      if (step === 800) for (const position of [0, 1, 2, 3]) rig.cut.add(position)
      // Seven requests every 1.4 s are a quarter of the limit.
      const position = locations[(step / 70) % locations.length]
      if (position !== undefined) {
        requested += 7
        passed += rig.take(position, 7)
      }
      await rig.step()
    }
    rig.stop()
    assert.equal(passed, requested, `${locations.length} gateways: ${passed} of ${requested}`)
  }
})

test('admits requests of a slow client at a disconnected gateway while other clients use up their quotas', async () => {
  const rig = new Rig(() => 2)
  let requested = 0
  let passed = 0
  for (let step = 0; step < WINDOW_STEPS - 10; step += 1) {
    if (step === 800) rig.cut.add(0)
    if (step % 100 === 0) {
      requested += 10
      passed += rig.take(0, 10)
    }
    if (step >= 800) rig.take(1, 5)
    await rig.step()
  }
  rig.stop()
  assert.equal(passed, requested)
  assert.ok((rig.windows[0] ?? 0) <= LIMIT * 1.05 && (rig.windows[0] ?? 0) >= LIMIT * 0.7)
})
