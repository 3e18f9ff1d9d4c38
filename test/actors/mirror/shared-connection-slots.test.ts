import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ConnectionSlot } from '../../../actors/accounts/connection-slots.ts'
import { SharedConnectionSlots } from '../../../actors/mirror/shared-connection-slots.ts'
import { ticketMessage } from '../../../actors/mirror/tickets.ts'
import type { AccountsView, Caller } from '../../../actors/views.ts'
import { type AccountId, accountId, keyId } from '../../../engine/ids.ts'
import { ticketSeconds } from '../../../engine/limits.ts'
import { seededRandom } from '../../../engine/random.ts'
import { Tickets } from '../../../http/ws/session/tickets.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openQuickAccounts } from '../../support/fakes/quick-accounts.ts'
import { NOON } from '../../support/worlds/builders.ts'

const NAMES = ['g1', 'g2', 'g3', 'g4']
const MOST = 3
const ACCOUNTS = ['acc_one', 'acc_two'].map(accountId)

/** Broadcasts between these gateways arrive late. */
class Rig {
  readonly clock = new ManualClock()
  readonly dead = new Set<string>()
  readonly gateways = new Map<string, SharedConnectionSlots>()
  readonly #due = new Map<string, number>()
  readonly #open = new Map<string, ConnectionSlot[]>()

  constructor(delayMs: () => number, names: readonly string[] = NAMES) {
    for (const name of names) this.add(name, delayMs)
  }

  add(name: string, delayMs: () => number): void {
    const { clock } = this
    const notify = (body: Uint8Array) => {
      if (this.dead.has(name)) return
      for (const [other, locations] of this.gateways) {
        // The link delivers broadcasts in order.
        const link = `${name} ${other}`
        const dueMs = Math.max(clock.monotonicMs() + delayMs(), this.#due.get(link) ?? 0)
        this.#due.set(link, dueMs)
        clock.after(dueMs - clock.monotonicMs(), () => {
          if (!this.dead.has(other)) locations.receive(body)
        })
      }
    }
    const onExcess = (account: AccountId, most: number) => {
      for (const position of this.opened(name, account).splice(most)) position.release()
    }
    this.gateways.set(name, new SharedConnectionSlots({ clock, name, announce: notify, onExcess }))
  }

  opened(name: string, account: AccountId): ConnectionSlot[] {
    const key = `${name} ${account}`
    const open = this.#open.get(key) ?? []
    this.#open.set(key, open)
    return open
  }

  open(name: string, account: AccountId): boolean {
    const position = this.gateways.get(name)?.take(account, MOST) ?? null
    if (position !== null) this.opened(name, account).push(position)
    return position !== null
  }

  close(name: string, account: AccountId): void {
    this.opened(name, account).pop()?.release()
  }

  total(account: AccountId): number {
    return [...this.gateways.keys()]
      .filter((name) => !this.dead.has(name))
      .reduce((sum, name) => sum + this.opened(name, account).length, 0)
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 5) {
      this.clock.advance(5)
      await nextTurn()
    }
  }

  stop(): void {
    for (const locations of this.gateways.values()) locations.stop()
  }
}

const [account = accountId('none'), second = accountId('none')] = ACCOUNTS

test('limits an account’s streams over all gateways together, and frees slots at every gateway', async () => {
  const rig = new Rig(() => 2)
  for (const name of ['g1', 'g2', 'g3']) {
    assert.equal(rig.open(name, account), true, name)
    await rig.pass(10)
  }
  for (const name of NAMES) assert.equal(rig.open(name, account), false, name)
  assert.equal(rig.open('g4', second), true, 'of another account')
  rig.close('g2', account)
  await rig.pass(10)
  assert.equal(rig.open('g4', account), true)
  await rig.pass(10)
  for (const name of NAMES) assert.equal(rig.open(name, account), false, name)
  // A new gateway receives the counts of the running gateways a moment later.
  rig.add('g5', () => 2)
  await rig.pass(10)
  assert.equal(rig.open('g5', account), false)
  rig.stop()
})

test('ends an account’s streams beyond the limit, and no others, when several gateways admit streams at once', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const random = seededRandom('places', seed)
    const rig = new Rig(() => 1 + random.below(40))
    for (let step = 0; step < 200; step += 1) {
      for (const each of ACCOUNTS) {
        const name = NAMES[random.below(NAMES.length)] ?? 'g1'
        if (random.next() < 0.5) rig.open(name, each)
        else if (random.next() < 0.3) rig.close(name, each)
      }
      await rig.pass(5)
    }
    for (const each of ACCOUNTS) for (const name of NAMES) rig.open(name, each)
    await rig.pass(300)
    for (const each of ACCOUNTS) {
      assert.ok(rig.total(each) <= MOST, `seed ${seed}: ${rig.total(each)}`)
      for (const name of NAMES) {
        rig.open(name, each)
        await rig.pass(50)
      }
      assert.equal(rig.total(each), MOST, `seed ${seed}`)
    }
    rig.stop()
  }
})

test('frees the slots of a stopped gateway at once, and the slots of a crashed gateway after seconds', async () => {
  const rig = new Rig(() => 2)
  for (const name of ['g1', 'g1', 'g2']) rig.open(name, account)
  await rig.pass(10)
  assert.equal(rig.open('g3', account), false)
  rig.gateways.get('g2')?.stop()
  rig.dead.add('g2')
  await rig.pass(10)
  assert.equal(rig.open('g3', account), true)
  rig.dead.add('g1')
  await rig.pass(500)
  assert.equal(rig.open('g4', account), false, 'a silent gateway may still have the connection')
  await rig.pass(5_000)
  assert.equal(rig.open('g4', account), true)
  const other = rig.gateways.get('g3')
  for (const bytes of [[], [1], [0xc1], [0x93, 1, 2, 3], [0x92, 0xa1, 0x67, 0x90]]) {
    other?.receive(Uint8Array.from(bytes))
  }
  rig.stop()
})

const CALLER: Caller = {
  ...{ accountId: account, email: 'a@example.com', tier: 'pro', createdAtMs: NOON },
  ...{ requestsPerMinute: 600, socketsMax: 20, keyId: keyId('key_1'), token: null },
  scopes: ['read'],
}

test('accepts a stream ticket once at any gateway within a minute, and broadcasts a hash instead of the ticket', async () => {
  const clock = new ManualClock()
  const { accounts } = openQuickAccounts()
  const good: AccountsView = Object.assign(Object.create(accounts), { isValid: () => true })
  const published: Uint8Array[] = []
  const gateways: Tickets[] = []
  for (let count = 0; count < 3; count += 1) {
    gateways.push(
      new Tickets(clock, (changes) => {
        const bytes = ticketMessage.encode(changes)
        published.push(bytes)
        const read = ticketMessage.decode(bytes)
        assert.deepEqual(read, changes)
        for (const other of gateways) if (read !== null) other.applyUpdate(read)
      }),
    )
  }
  const [first, other, third] = gateways
  assert.ok(first !== undefined && other !== undefined && third !== undefined)
  const token = { id: 'token', generation: 2, expiresAtMs: NOON }
  for (const caller of [CALLER, { ...CALLER, keyId: null, token }]) {
    const ticket: string = first.issue(caller)
    assert.deepEqual(other.take(ticket, good), caller)
    for (const gateway of gateways) assert.equal(gateway.take(ticket, good), null)
    for (const bytes of published) assert.equal(Buffer.from(bytes).includes(ticket), false)
  }
  const late = first.issue(CALLER)
  clock.advance(ticketSeconds * 1_000)
  assert.equal(third.take(late, good), null)
  const bytes = ticketMessage.encode({ kind: 'issued', id: 'x', caller: CALLER, leftMs: 5 })
  for (let end = 0; end < bytes.length; end += 1) {
    assert.equal(ticketMessage.decode(bytes.slice(0, end)), null)
  }
})
