import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { isRecord } from '../../../../../engine/json-record.ts'
import type { Drift } from '../../../../../engine/venues/drift/drift.ts'
import { Subscriptions } from '../../../../../engine/venues/kalshi/book/subscriptions.ts'
import type { Reply } from '../../../../../engine/venues/kalshi/messages.ts'
import { quietDrift } from '../../../../support/fakes/quiet-drift.ts'

interface Sent {
  readonly id: number
  readonly cmd: string
  readonly action: string | null
  readonly sid: number | null
  readonly tickers: readonly string[]
}

let nowMs = 0
let sent: Sent[] = []
let suspects: string[] = []
let overflow: string[] = []
let givenUp: string[] = []
let isSendable = true
let isDelivering = false
/** The number of snapshots that the pace still allows. */
let allowed = Number.POSITIVE_INFINITY
let subscriptions: Subscriptions
let drift: Drift

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function read(text: string): Sent {
  const value: unknown = JSON.parse(text)
  assert.ok(isRecord(value) && isRecord(value.params) && typeof value.id === 'number')
  const { params } = value
  const sid = Array.isArray(params.sids) ? Number(params.sids[0]) : null
  const action = typeof params.action === 'string' ? params.action : null
  const cmd = String(value.cmd)
  return { id: value.id, cmd, action, sid, tickers: textsOf(params.market_tickers) }
}

const names = (count: number, prefix = 'M') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)
const ok = (id: number, sid: number): Reply => ({ kind: 'ok', commandId: id, sid, seq: 1 })
const subscribed = (id: number, sid: number): Reply => ({
  kind: 'subscribed',
  commandId: id,
  channel: 'orderbook_delta',
  sid,
})
const error = (id: number, code: number, more: object = {}): Reply => ({
  kind: 'error',
  commandId: id,
  sid: null,
  seq: null,
  code,
  text: '',
  ticker: null,
  ...more,
})
const take = (): Sent[] => sent.splice(0)

/** Opens a connection and delivers the snapshots of all markets. */
function openWith(tickers: readonly string[]): void {
  for (const ticker of tickers) subscriptions.add(ticker)
  subscriptions.opened()
  let sid = 1
  for (let commands = take(); commands.length > 0; commands = take()) {
    for (const command of commands) {
      subscriptions.reply(subscribed(command.id, sid))
      for (const ticker of command.tickers) subscriptions.noteSnapshot(ticker)
      sid += 1
    }
  }
}

describe('Kalshi subscriptions', () => {
  beforeEach(() => {
    nowMs = 0
    sent = []
    suspects = []
    overflow = []
    givenUp = []
    isSendable = true
    isDelivering = false
    allowed = Number.POSITIVE_INFINITY
    drift = quietDrift('b')
    subscriptions = new Subscriptions({
      send: (text) => {
        if (isSendable) sent.push(read(text))
        return isSendable
      },
      nowMs: () => nowMs,
      pace: {
        take(count, isUrgent = false) {
          if (allowed <= 0 && !isUrgent) return false
          allowed -= count
          return true
        },
      },
      isDelivering: () => isDelivering,
      trouble: () => {},
      drift,
      onSuspect: (tickers) => suspects.push(...tickers),
      onOverflow: (tickers) => overflow.push(...tickers),
      onGivenUp: (tickers) => givenUp.push(...tickers),
      resetSid: () => {},
    })
  })

  it('subscribes to all markets in order, 250 per command, with at most four commands without a reply', () => {
    for (const ticker of names(1_500)) subscriptions.add(ticker)
    subscriptions.opened()
    const commands = take()
    assert.deepEqual(
      commands.map(({ id, tickers }) => [id, tickers.length]),
      [1, 2, 3, 4].map((id) => [id, 250]),
    )
    assert.equal(commands[0]?.tickers[0], 'M0')
    subscriptions.flush()
    assert.equal(sent.length, 0, 'no reply yet')
    subscriptions.reply(subscribed(1, 7))
    const [fifth] = take()
    assert.deepEqual([fifth?.tickers.length, fifth?.tickers[0]], [250, 'M1000'])
    subscriptions.reply(ok(2, 7))
    const [sixth] = take()
    assert.deepEqual([sixth?.tickers.length, sixth?.tickers[0]], [250, 'M1250'])
    subscriptions.closed()
    subscriptions.opened()
    assert.equal(take().length, 4, 'the next connection sends as many')
  })

  it('requests no more book snapshots than the rate limit allows, except for urgent markets', () => {
    for (const ticker of names(600)) subscriptions.add(ticker)
    allowed = 100
    subscriptions.opened()
    assert.deepEqual(
      take().map(({ tickers }) => tickers.length),
      [250],
    )
    subscriptions.add('U', true)
    subscriptions.flush()
    const [urgent] = take()
    assert.deepEqual([urgent?.tickers, sent.length], [['U'], 0])
    allowed = 250
    subscriptions.flush()
    assert.equal(take()[0]?.tickers.length, 250)
  })

  it('reports a subscription that the venue does not acknowledge within ten seconds, and repeats the command', () => {
    subscriptions.add('A')
    subscriptions.opened()
    nowMs = 10_000
    assert.ok(subscriptions.checkReplies())
    nowMs = 10_001
    assert.ok(!subscriptions.checkReplies(), 'the connection should be replaced')
    const [found] = drift.entries()
    assert.deepEqual([found?.kind, found?.name], ['ws.unacknowledged', 'subscribe'])
    subscriptions.opened()
    assert.equal(sent.filter(({ cmd }) => cmd === 'subscribe').length, 2)
  })

  it('repeats a command without a reply while the connection delivers messages, and does not close the connection', () => {
    subscriptions.add('A')
    subscriptions.opened()
    assert.equal(take().length, 1)
    isDelivering = true
    nowMs = 30_000
    assert.ok(subscriptions.checkReplies())
    subscriptions.flush()
    assert.equal(sent.length, 0)
    nowMs = 30_001
    assert.ok(subscriptions.checkReplies())
    subscriptions.flush()
    assert.deepEqual(take()[0]?.tickers, ['A'])
    isDelivering = false
    nowMs = 40_002
    assert.ok(!subscriptions.checkReplies(), 'the connection should be replaced')
  })

  it('adds markets that arrive later to existing subscriptions that have capacity', () => {
    openWith(names(10))
    for (const ticker of names(300, 'N')) subscriptions.add(ticker)
    subscriptions.flush()
    const [added, made] = take()
    assert.deepEqual([added?.action, added?.sid, added?.tickers.length], ['add_markets', 1, 240])
    assert.deepEqual([made?.cmd, made?.tickers.length], ['subscribe', 60])
  })

  it('marks all markets as suspect on a sequence gap when the server has merged their subscriptions', () => {
    for (const ticker of names(500)) subscriptions.add(ticker)
    subscriptions.opened()
    const [first, second] = take()
    subscriptions.reply(subscribed(first?.id ?? 0, 7))
    subscriptions.reply(ok(second?.id ?? 0, 7))
    subscriptions.noteGap(7, 'test')
    assert.equal(suspects.length, 500)
  })

  it('marks the markets of a subscription as suspect on a sequence gap and requests their snapshots', () => {
    openWith(names(300))
    subscriptions.noteGap(2, 'test')
    subscriptions.flush()
    const [requested] = take()
    assert.deepEqual([suspects.length, requested?.sid, requested?.action], [50, 2, 'get_snapshot'])
    assert.equal(requested?.tickers.length, 50)
  })

  /** The venue merges the subscriptions, so all 5,000 markets share one sid. */
  function openMerged(): void {
    for (const ticker of names(5_000)) subscriptions.add(ticker)
    subscriptions.opened()
    for (let commands = take(); commands.length > 0; commands = take()) {
      for (const command of commands) {
        subscriptions.reply(ok(command.id, 7))
        for (const ticker of command.tickers) subscriptions.noteSnapshot(ticker)
      }
    }
  }

  it('requests all snapshots of a subscription with one command after a sequence gap', () => {
    openMerged()
    subscriptions.noteGap(7, 'test')
    for (let flushes = 0; flushes < 20; flushes += 1) {
      subscriptions.flush()
      nowMs += 100
    }
    const commands = take()
    assert.deepEqual([commands.length, commands[0]?.tickers.length], [1, 5_000])
  })

  it('requests a snapshot a second time when a sequence gap follows the first snapshot', () => {
    openMerged()
    subscriptions.noteGap(7, 'test')
    subscriptions.flush()
    take()
    for (const ticker of names(40)) subscriptions.noteSnapshot(ticker)
    subscriptions.noteGap(7, 'test')
    nowMs = 1_000
    subscriptions.flush()
    assert.deepEqual(take()[0]?.tickers, names(40))
    assert.equal(suspects.length, 10_000, 'all books may lack changes')
  })

  it('requests snapshots in commands of 500 markets after the server refused a longer list of markets', () => {
    openMerged()
    subscriptions.noteGap(7, 'test')
    subscriptions.flush()
    subscriptions.reply(error(take()[0]?.id ?? 0, 1))
    nowMs = 1_000
    subscriptions.flush()
    assert.deepEqual(
      take().map(({ tickers }) => tickers.length),
      Array.from({ length: 10 }, () => 500),
    )
  })

  it('waits up to 30 s for a snapshot while snapshots of other markets arrive', () => {
    openWith(names(2))
    subscriptions.want(['M0'])
    subscriptions.flush()
    take()
    const requestedAtMs: number[] = []
    for (nowMs = 1_000; nowMs <= 40_000; nowMs += 1_000) {
      subscriptions.noteSnapshot('M1')
      subscriptions.checkReplies()
      subscriptions.flush()
      if (take().length > 0) requestedAtMs.push(nowMs)
    }
    assert.deepEqual(requestedAtMs, [30_000])
  })

  it('repeats the request for the first snapshot of a new subscription if the snapshot does not arrive', () => {
    subscriptions.add('A')
    subscriptions.opened()
    subscriptions.reply(subscribed(take()[0]?.id ?? 0, 1))
    subscriptions.want(['A'])
    subscriptions.flush()
    assert.equal(sent.length, 0, 'the subscription itself requests it')
    nowMs = 5_000
    subscriptions.checkReplies()
    subscriptions.flush()
    const [again] = take()
    assert.deepEqual([again?.action, again?.tickers], ['get_snapshot', ['A']])
  })

  it('marks a snapshot as a verification snapshot when the book was requested for verification and for no other reason', () => {
    openWith(names(3))
    subscriptions.check(['M0', 'M1', 'M2', 'unknown'])
    subscriptions.want(['M1'])
    subscriptions.flush()
    assert.deepEqual(take()[0]?.tickers, names(3))
    assert.deepEqual([subscriptions.takeCheck('M0'), subscriptions.takeCheck('M0')], [true, false])
    assert.equal(subscriptions.takeCheck('M1'), false)
    subscriptions.noteGap(1, 'test')
    assert.equal(subscriptions.takeCheck('M2'), false)
  })

  it('requests snapshots at most once a second, and drops no request', () => {
    openWith(names(3))
    for (let ms = 0; ms <= 3_000; ms += 100) {
      nowMs = ms
      subscriptions.want(['M1'])
      subscriptions.flush()
      if (ms % 500 === 0) subscriptions.noteSnapshot('M1')
    }
    assert.equal(take().length, 4)
  })

  it('repeats a snapshot request without an answer after a reconnect', () => {
    openWith(['M0'])
    subscriptions.want(['M0'])
    subscriptions.flush()
    assert.deepEqual(
      take().map(({ action }) => action),
      ['get_snapshot'],
    )
    subscriptions.closed()
    openWith(['M0'])
    subscriptions.want(['M0'])
    subscriptions.flush()
    assert.deepEqual(
      take().map(({ action }) => action),
      ['get_snapshot'],
    )
  })

  it('repeats the request for a missing snapshot up to five times', () => {
    openWith(names(2))
    subscriptions.want(['M0', 'unknown'])
    for (nowMs = 0; nowMs < 60_000; nowMs += 500) {
      subscriptions.flush()
      assert.ok(subscriptions.checkReplies())
    }
    const requested = take()
    assert.equal(requested.length, 5)
    assert.deepEqual(requested[4]?.tickers, ['M0'])
  })

  it('recreates a subscription that the server has lost (error 25, 10 or 7)', () => {
    for (const code of [25, 10, 7]) {
      subscriptions.closed()
      openWith(names(2))
      suspects = []
      subscriptions.reply(error(0, code, { sid: 1 }))
      assert.deepEqual(suspects, ['M0', 'M1'])
      const [again] = take()
      assert.deepEqual([again?.cmd, again?.tickers], ['subscribe', ['M0', 'M1']])
    }
  })

  it('repeats a request after a second when the server is busy (error 27)', () => {
    subscriptions.add('A')
    subscriptions.opened()
    subscriptions.reply(error(take()[0]?.id ?? 0, 27))
    nowMs = 900
    subscriptions.flush()
    assert.equal(sent.length, 0)
    nowMs = 1_000
    subscriptions.flush()
    assert.deepEqual(take()[0]?.tickers, ['A'])
  })

  it('finds an invalid ticker by bisection of the command, and drops this ticker and no other', () => {
    for (const ticker of names(100)) subscriptions.add(ticker)
    subscriptions.opened()
    let sid = 0
    const served = new Set<string>()
    for (let commands = take(); commands.length > 0; commands = take()) {
      for (const command of commands) {
        if (command.tickers.includes('M37')) subscriptions.reply(error(command.id, 11))
        else {
          sid = 1
          for (const ticker of command.tickers) served.add(ticker)
          subscriptions.reply(
            command.cmd === 'subscribe' ? subscribed(command.id, sid) : ok(command.id, sid),
          )
        }
      }
    }
    assert.deepEqual(givenUp, ['M37'])
    assert.equal(served.size, 99)
    assert.equal(subscriptions.marketCount, 99)
  })

  it('moves markets to a different connection when a subscription is full (error 26)', () => {
    openWith(names(2))
    subscriptions.add('N')
    subscriptions.flush()
    subscriptions.reply(error(take()[0]?.id ?? 0, 26))
    assert.deepEqual([overflow, subscriptions.has('N')], [['N'], false])
  })

  it('removes markets from their subscription, and unsubscribes when a subscription has no markets', () => {
    openWith(names(2))
    subscriptions.remove(['M0'])
    const [removed] = take()
    assert.deepEqual([removed?.action, removed?.tickers], ['delete_markets', ['M0']])
    subscriptions.remove(['M1'])
    assert.equal(take()[0]?.cmd, 'unsubscribe')
  })

  it('removes a market from a pending subscription when the acknowledgement of the subscription arrives', () => {
    subscriptions.add('A')
    subscriptions.add('B')
    subscriptions.opened()
    const [command] = take()
    subscriptions.remove(['A'])
    subscriptions.reply(subscribed(command?.id ?? 0, 1))
    const [removed] = take()
    assert.deepEqual([removed?.action, removed?.tickers], ['delete_markets', ['A']])
  })

  it('reports commands that cannot be sent or receive no reply', () => {
    subscriptions.add('A')
    isSendable = false
    subscriptions.opened()
    assert.ok(subscriptions.checkReplies())
    isSendable = true
    subscriptions.flush()
    assert.equal(sent.length, 1)
    nowMs = 15_001
    assert.equal(subscriptions.checkReplies(), false)
  })
})
