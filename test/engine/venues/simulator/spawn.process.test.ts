import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../../engine/clock.ts'
import { parseReady } from '../../../../engine/venues/simulator/child-options.ts'
import { type SpawnOptions, spawnSimulator } from '../../../../engine/venues/simulator/spawn.ts'

const OPTIONS: SpawnOptions = {
  seed: 1,
  marketsPerVenue: 40,
  v2Share: 0.5,
  messagesPerSecond: 50,
  faults: [],
  clock: systemClock,
  logLevel: 'silent',
  host: '127.0.0.1',
  worldFolder: null,
  activityEndsS: null,
  gapsPerMinute: 0,
}
const CHILD = fileURLToPath(
  new URL('../../../../engine/venues/simulator/child.ts', import.meta.url),
)

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('runs the simulator as a child process, and the child process exits on stop', async () => {
  const simulator = await spawnSimulator(OPTIONS)
  const answer = await fetch(`${simulator.urls.gamma}/sim/state`).catch(() => null)
  assert.ok(isRunning(simulator.pid))
  await simulator.stop()
  assert.equal(answer?.status, 200)
  assert.ok(!isRunning(simulator.pid))
  await simulator.stop()
})

test('exits the simulator’s child process when the parent process disconnects', async () => {
  const { clock: _, ...plain } = OPTIONS
  const child = fork(CHILD, [JSON.stringify(plain)], {
    execArgv: ['--import', import.meta.resolve('tsx')],
  })
  const [message] = await once(child, 'message')
  assert.ok(parseReady(message) !== null)
  const exit = once(child, 'exit')
  child.disconnect()
  const [code] = await exit
  assert.equal(code, 0)
})

test('rejects the start with the exit reason when the child process cannot start', async () => {
  // No process can listen on an address of another machine.
  const options = { ...OPTIONS, host: '203.0.113.1' }
  await assert.rejects(spawnSimulator(options), /did not start: it ended with code 1/)
})

test('reports the exit of a child process that was ready before', async () => {
  const lost = new EventEmitter()
  const onLost = (reason: string) => lost.emit('lost', reason)
  const simulator = await spawnSimulator({ ...OPTIONS, onLost })
  const reported = once(lost, 'lost')
  process.kill(simulator.pid, 'SIGKILL')
  const [reason] = await reported
  assert.match(String(reason), /SIGKILL/)
  await simulator.stop()
})
