import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Member,
  Members,
  memberMessage,
  membersMax,
  memberTimeoutMs,
} from '../../../engine/cluster/members.ts'
import { encoded, writeValue } from '../../../engine/msgpack-writer.ts'
import { FaultyLogServer } from '../../support/fakes/faulty-log.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const ENGINE: Member = { role: 'engine', name: 'one', term: 3, lagBatches: 2, lagMs: 0 }
const STANDBY: Member = { role: 'standby', name: 'two', term: null, lagBatches: 7, lagMs: 12 }
const GATEWAY: Member = { role: 'gateway', name: 'g1', term: null, lagBatches: 0, lagMs: 4 }

/** Fields of a member in the order of its encoding. */
const bytesOf = (member: object) => encoded((writer) => writeValue(writer, Object.values(member)))

function openRig() {
  const clock = new ManualClock()
  const server = new FaultyLogServer(clock)
  const join = (self: () => Member) => {
    const log = server.connect()
    return { log, members: new Members({ log, clock, self }) }
  }
  return { clock, server, join }
}

const names = ({ members }: { readonly members: Members }) => members.all().map(({ name }) => name)

test('lists cluster processes within a second, removes them after 5 s of silence, and stores the last leader', async () => {
  const { clock, join } = openRig()
  let two: Member = STANDBY
  const engine = join(() => ENGINE)
  const standby = join(() => two)
  const gateway = join(() => GATEWAY)
  clock.advance(1_000)
  clock.advance(1)
  for (const member of [engine, standby, gateway]) {
    assert.deepEqual(names(member), ['one', 'two', 'g1'])
    assert.equal(member.members.leader?.name, 'one')
  }
  const [first] = gateway.members.all()
  assert.deepEqual({ ...first, lastSeenAgoMs: 0 }, { ...ENGINE, lastSeenAgoMs: 0 })
  // The process ends without a message, as if killed.
  engine.log.setLink('down')
  clock.advance(memberTimeoutMs + 2_000)
  assert.deepEqual(names(gateway), ['two', 'g1'])
  assert.equal(gateway.members.leader?.name, 'one')
  assert.ok((gateway.members.leader?.lastSeenAgoMs ?? 0) > memberTimeoutMs)
  two = { ...STANDBY, role: 'engine', term: 4 }
  clock.advance(1_001)
  assert.deepEqual(names(gateway), ['two', 'g1'])
  assert.equal(gateway.members.leader?.term, 4)
  // The reconnected process still announces that it leads.
  engine.log.setLink('up')
  clock.advance(1_001)
  assert.deepEqual(names(gateway), ['one', 'two', 'g1'])
  assert.equal(gateway.members.leader?.name, 'two')
  await standby.members.stop()
  clock.advance(memberTimeoutMs + 1_000)
  assert.deepEqual(names(gateway), ['one', 'g1'])
})

test('ignores invalid cluster members, and limits member names by their length in bytes', () => {
  const { clock, join } = openRig()
  const { log, members } = join(() => GATEWAY)
  for (const wrong of [
    ...[{ role: 'king' }, { name: 7 }, { name: 'x'.repeat(500) }, { term: -1 }],
    ...[{ term: 'x' }, { lagBatches: 0.5 }, { lagMs: null }],
  ]) {
    assert.equal(memberMessage.decode(bytesOf({ ...STANDBY, ...wrong })), null)
    log.announce('member', bytesOf({ ...STANDBY, ...wrong }))
  }
  log.announce('member', Uint8Array.of(0xc1))
  clock.advance(1)
  assert.deepEqual(names({ members }), ['g1'])
  const notify = (from: number) => {
    for (let index = 0; index < 2 * membersMax; index += 1) {
      log.announce('member', bytesOf({ ...STANDBY, name: `x${from + index}` }))
    }
    clock.advance(1)
  }
  notify(0)
  assert.ok(members.all().length <= membersMax + 1)
  clock.advance(memberTimeoutMs + 1_000)
  notify(100_000)
  assert.ok(names({ members }).includes('x100000'), 'expired members are removed')
})
