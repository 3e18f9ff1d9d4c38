// Log-in times must not reveal which e-mails exist. Medians are compared because single times depend on the machine's
// load.

import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { Accounts } from '../../../actors/accounts/accounts.ts'
import { openPasswordPool } from '../../../engine/passwords/passwords.ts'
import { seededRandom } from '../../../engine/random.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { QUICK_SECRET } from '../../support/fakes/quick-accounts.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'

const isLong = process.env.TEST_LONG === '1'

function openAccounts() {
  const clock = new ManualClock()
  const passwords = openPasswordPool()
  const storage = openMemoryStorage().accounts
  const accounts = new Accounts({ storage, clock, passwords, jwtSecret: QUICK_SECRET })
  let logins = 0
  /** Each call uses a new address and a new e-mail, so that no log-in is throttled. */
  const logIn = async (email: string, password: string): Promise<number> => {
    logins += 1
    const address = `10.${logins >> 16}.${(logins >> 8) & 255}.${logins & 255}`
    const startedAtMs = performance.now()
    await accounts.logIn({ email, password, address }).catch(() => undefined)
    return performance.now() - startedAtMs
  }
  return { accounts, clock, logIn, close: () => passwords.close() }
}

function median(values: readonly number[]): number {
  return [...values].sort((one, two) => one - two)[Math.floor(values.length / 2)] ?? 0
}

test('takes equally long to reject a wrong password for a known e-mail and for an unknown e-mail', async (t) => {
  const { accounts, clock, logIn, close } = openAccounts()
  const samples = isLong ? 200 : 7
  await accounts.signUp({ email: 'known@example.com', password: 'correct horse', address: 'x' })
  const existing: number[] = []
  const unknown: number[] = []
  await logIn('warm@example.com', 'up')
  // A fixed order could put garbage collections on the same kind of log-in each time.
  const random = seededRandom('timing')
  while (existing.length < samples || unknown.length < samples) {
    clock.advance(900_000)
    const round = existing.length + unknown.length
    const isKnown = random.below(2) === 0
    const email = isKnown ? 'known@example.com' : `nobody${round}@example.com`
    const into = isKnown ? existing : unknown
    into.push(await logIn(email, `wrong ${round}`))
  }
  await close()
  const [one, two] = [median(existing), median(unknown)]
  t.diagnostic(`${samples} each: known ${one.toFixed(1)} ms, unknown ${two.toFixed(1)} ms`)
  assert.ok(Math.min(one, two) > 5, 'a hash was computed for both')
  const ratio = Math.max(one, two) / Math.min(one, two)
  if (isLong) assert.ok(ratio < 1.05, `${ratio}`)
})

test('does not block the event loop while fifty concurrent log-ins are hashed', async (t) => {
  const { accounts, clock, logIn, close } = openAccounts()
  const people = isLong ? 50 : 8
  for (let index = 0; index < people; index += 1) {
    clock.advance(60_000)
    const email = `p${index}@example.com`
    await accounts.signUp({ email, password: 'correct horse', address: `s${index}` })
  }
  const quiet: number[] = []
  const busy: number[] = []
  for (let wave = 0; wave < (isLong ? 9 : 1); wave += 1) {
    let [startedAtMs, tookMs] = [performance.now(), 0]
    busy.push(
      await loopDelayMs(async () => {
        const one = (index: number) => logIn(`p${index}@example.com`, 'correct horse')
        await Promise.all(Array.from({ length: people }, (_, index) => one(index)))
        tookMs = performance.now() - startedAtMs
      }),
    )
    startedAtMs = performance.now()
    quiet.push(await loopDelayMs(() => new Promise((done) => setTimeout(done, tookMs))))
  }
  await close()
  const [without, during] = [median(quiet), median(busy)]
  t.diagnostic(
    `event-loop delay p99, median of ${busy.length}: ${without.toFixed(1)} ms without, ${during.toFixed(1)} ms during log-ins`,
  )
  // A hash takes at least 65 ms.
  if (isLong) assert.ok(during < without + 20, `${during} ms beside ${without} ms`)
})

/** Returns the 99th percentile of the event-loop delay during `work`, in milliseconds. */
async function loopDelayMs(during: () => Promise<unknown>): Promise<number> {
  const resolution = 10
  const histogram = monitorEventLoopDelay({ resolution })
  histogram.enable()
  await during()
  histogram.disable()
  return Math.max(0, histogram.percentile(99) / 1e6 - resolution)
}
