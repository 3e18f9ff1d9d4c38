import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { unsentMsMin } from '../../../engine/limits.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { type BodySource, StreamedAnswers } from '../../../http/request/streamed.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

/** A response whose client takes nothing while `isStuck`. */
class FakeResponse {
  isStuck = false
  state: 'open' | 'ended' | 'closed' = 'open'
  readonly chunks: string[] = []
  #onAborted: () => void = () => undefined
  #onWritable: (offset: number) => boolean = () => true

  onAborted(handler: () => void): void {
    this.#onAborted = handler
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#onWritable = handler
  }

  cork(action: () => void): void {
    action()
  }

  write(bytes: Uint8Array): boolean {
    assert.equal(this.state, 'open')
    this.chunks.push(Buffer.from(bytes).toString())
    return !this.isStuck
  }

  end(): void {
    assert.equal(this.state, 'open')
    this.state = 'ended'
  }

  /** The library reports an abort also for a connection that the service closes. */
  close(): void {
    this.state = 'closed'
    this.#onAborted()
  }

  read(): void {
    this.isStuck = false
    this.#onWritable(0)
  }

  disconnect(): void {
    this.state = 'closed'
    this.#onAborted()
  }
}

class CountingSource implements BodySource {
  nextCount = 0
  closeCount = 0
  readonly #chunks: number

  constructor(chunks: number) {
    this.#chunks = chunks
  }

  async next() {
    this.nextCount += 1
    if (this.nextCount > 5) throw new Error('broken')
    return { bytes: Buffer.from(String(this.nextCount)), isLast: this.nextCount === this.#chunks }
  }

  close(): void {
    this.closeCount += 1
  }
}

function rig(chunks: number) {
  const clock = new ManualClock()
  const answers = new StreamedAnswers({ clock, log: silentLog, metrics: new Metrics() })
  const [res, source] = [new FakeResponse(), new CountingSource(chunks)]
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
  }
  return { clock, answers, res, source, settle }
}

test('writes all chunks of a streamed response in order, ends the response, and closes the source', async () => {
  const { answers, res, source, settle } = rig(3)
  answers.send(res, source)
  await settle()
  assert.deepEqual(res.chunks, ['1', '2', '3'])
  assert.equal(res.state, 'ended')
  assert.equal(source.closeCount, 1)
})

test('requests no chunks from the source while the client does not read, and continues when the client reads', async () => {
  const { answers, res, source, settle, clock } = rig(3)
  res.isStuck = true
  answers.send(res, source)
  await settle()
  assert.equal(source.nextCount, 1)
  clock.advance(unsentMsMin - 1)
  res.read()
  await settle()
  assert.deepEqual(res.chunks, ['1', '2', '3'])
  assert.equal(clock.timerCount, 0)
})

test('closes the connection of a client that stops reading a streamed response', async () => {
  const { answers, res, source, settle, clock } = rig(3)
  res.isStuck = true
  answers.send(res, source)
  await settle()
  clock.advance(unsentMsMin)
  await settle()
  assert.equal(res.state, 'closed')
  assert.deepEqual([source.nextCount, source.closeCount], [1, 1])
})

test('stops reading the source of a streamed response when the client disconnects', async () => {
  const { answers, res, source, settle, clock } = rig(3)
  res.isStuck = true
  answers.send(res, source)
  await settle()
  res.disconnect()
  await settle()
  assert.deepEqual([source.nextCount, source.closeCount, clock.timerCount], [1, 1, 0])
})

test('closes the connection when the source of a streamed response fails, so that the client detects an incomplete response', async () => {
  const { answers, res, source, settle } = rig(9)
  answers.send(res, source)
  await settle()
  assert.equal(res.state, 'closed')
  assert.equal(res.chunks.length, 5)
  assert.equal(source.closeCount, 1)
})
