// The log of a cluster, secured with CLUSTER_KEY. Batches and objects carry an authentication code. Records, requests,
// responses and announcements are encrypted. Forged data, repeated or late messages, and records older than the known
// version are skipped and counted.

import { type Clock, nextTick } from '../clock.ts'
import type { Log } from '../process/log.ts'
import type { Metrics } from '../process/metrics.ts'
import {
  type AnnouncementSubject,
  type Answer,
  type Append,
  answersMax,
  type Bucket,
  type BucketName,
  type ClusterLog,
  type LinkState,
  LogError,
  type LogSubscription,
  type RequestSubject,
  type ShardName,
  type ShardReader,
} from './cluster-log.ts'
import { ClusterSeal, nameOf, type Opened } from './seal.ts'
import { type Refuse, type RefusedKind, SealedBucket } from './sealed-bucket.ts'

/** Maximum difference between a message's time and the local clock. */
export const sealedMessageAgeMsMax = 60_000
/** Maximum number of a sender's later messages that may arrive before a message. */
const REORDERED_MAX = 1_024
const SENDERS_MAX = 4_096
/** A process has a share of a subject's answers until this time after its last request. */
const SHARE_MS = 1_000
const WARN_EVERY_MS = 60_000

interface SealedParts {
  readonly clusterKey: string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

export class SealedLog implements ClusterLog {
  readonly #inner: ClusterLog
  readonly #seal: ClusterSeal
  readonly #parts: SealedParts
  readonly #startedMs: number
  readonly #buckets = new Map<BucketName, Promise<Bucket>>()
  readonly #warnedAtMs = new Map<RefusedKind, number>()

  constructor(inner: ClusterLog, parts: SealedParts) {
    this.#inner = inner
    this.#parts = parts
    this.#seal = new ClusterSeal(parts.clusterKey)
    this.#startedMs = parts.clock.monotonicMs()
  }

  get link(): LinkState {
    return this.#inner.link
  }

  onLink(listener: (link: LinkState) => void): void {
    this.#inner.onLink(listener)
  }

  head(shard: ShardName): Promise<number> {
    return this.#inner.head(shard)
  }

  publish(shard: ShardName, batch: Append): Promise<number> {
    const bytes = this.#seal.signed(`batch.${shard}`, batch.bytes)
    return this.#inner.publish(shard, { ...batch, bytes })
  }

  read(shard: ShardName, from: number, reader: ShardReader): LogSubscription {
    const context = `batch.${shard}`
    return this.#inner.read(shard, from, {
      onBatch: ({ sequence, bytes: signed, behind }) => {
        const bytes = this.#seal.checked(context, signed)
        if (bytes !== null) return reader.onBatch({ sequence, bytes, behind })
        this.#refuse('batch', 'forged')
        return reader.onRefused?.({ sequence, behind })
      },
    })
  }

  bucket(name: BucketName): Promise<Bucket> {
    const existing = this.#buckets.get(name)
    if (existing !== undefined) return existing
    const seal = { seal: this.#seal, clock: this.#parts.clock }
    const opening = this.#inner
      .bucket(name)
      .then((inner) => new SealedBucket(inner, { ...seal, name, refuse: this.#refuse }))
    this.#buckets.set(name, opening)
    opening.catch(() => this.#buckets.delete(name))
    return opening
  }

  async putObject(name: string, bytes: Uint8Array): Promise<void> {
    const signed = await this.#seal.signedInParts(`object.${name}`, bytes, this.#yieldToEventLoop)
    await this.#inner.putObject(name, signed)
  }

  async getObject(name: string): Promise<Uint8Array | null> {
    const signed = await this.#inner.getObject(name)
    if (signed === null) return null
    const bytes = await this.#seal.checkedInParts(`object.${name}`, signed, this.#yieldToEventLoop)
    if (bytes === null) this.#refuse('object', 'forged')
    return bytes
  }

  async request(subject: RequestSubject, body: Uint8Array): Promise<Uint8Array> {
    const { bytes, name } = this.#seal.seal(`ask.${subject}`, this.#parts.clock.nowMs(), body)
    const answer = this.#seal.open(answerTo(name), await this.#inner.request(subject, bytes))
    if (answer !== null) return answer.body
    this.#refuse('answer', 'forged')
    throw new LogError('unanswered', 'the answer was not made with this CLUSTER_KEY')
  }

  answer(subject: RequestSubject, answer: Answer): LogSubscription {
    const { clock } = this.#parts
    const replayFilter = this.#openReplayFilter()
    const slots = new AnswerSlots(clock)
    return this.#inner.answer(subject, async (bytes) => {
      const request = this.#seal.open(`ask.${subject}`, bytes)
      // Checked before a slot is taken, so that forged requests cannot use up the slots.
      if (!this.#isAccepted('request', request, replayFilter)) {
        throw new Error('the request was not made with this CLUSTER_KEY, or it is old')
      }
      if (!slots.take(request.sender)) throw new Error('too many requests are under way')
      try {
        const body = await answer(request.body)
        return this.#seal.seal(answerTo(nameOf(request)), clock.nowMs(), body).bytes
      } finally {
        slots.release(request.sender)
      }
    })
  }

  announce(subject: AnnouncementSubject, body: Uint8Array): void {
    const { bytes } = this.#seal.seal(`tell.${subject}`, this.#parts.clock.nowMs(), body)
    this.#inner.announce(subject, bytes)
  }

  subscribe(subject: AnnouncementSubject, listener: (body: Uint8Array) => void): LogSubscription {
    const replayFilter = this.#openReplayFilter()
    return this.#inner.subscribe(subject, (bytes) => {
      const announcement = this.#seal.open(`tell.${subject}`, bytes)
      if (this.#isAccepted('announcement', announcement, replayFilter)) listener(announcement.body)
    })
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  readonly #yieldToEventLoop = (): Promise<void> => nextTick(this.#parts.clock)

  #openReplayFilter(): ReplayFilter {
    return new ReplayFilter(this.#parts.clock)
  }

  /** Whether a message is authentic, at most a minute old, sent since this process began, and not accepted before. */
  #isAccepted(
    kind: RefusedKind,
    message: Opened | null,
    replayFilter: ReplayFilter,
  ): message is Opened {
    if (message === null) {
      this.#refuse(kind, 'forged')
      return false
    }
    const { clock } = this.#parts
    const ageMs = clock.nowMs() - message.stamp
    // Messages from before the start of this process are rejected, because they may have been accepted before.
    const isEarlier = ageMs > Math.ceil(clock.monotonicMs() - this.#startedMs)
    if (isEarlier || Math.abs(ageMs) > sealedMessageAgeMsMax) {
      this.#refuse(kind, 'old')
      return false
    }
    if (replayFilter.take(message)) return true
    this.#refuse(kind, 'repeat')
    return false
  }

  readonly #refuse: Refuse = (kind, why) => {
    const { metrics, log, clock } = this.#parts
    const help =
      'Messages, records and batches over NATS that were refused: forged, old or repeated.'
    metrics.count('cluster_refused_total', help, { kind, why }).inc()
    const nowMs = clock.monotonicMs()
    const warnedAtMs = this.#warnedAtMs.get(kind)
    if (warnedAtMs !== undefined && nowMs - warnedAtMs < WARN_EVERY_MS) return
    this.#warnedAtMs.set(kind, nowMs)
    const line =
      'data from NATS was rejected: another CLUSTER_KEY, another version of Twinbook, a wrong clock, or an attacker'
    log.warn({ kind, why }, line)
  }
}

const answerTo = (name: string): string => `answer.${name}`

/**
 * Divides {@link answersMax} among the processes that sent a request within the last second. A process that starts to
 * send gets its share at once. Running answers of other processes may then exceed their reduced shares until they end.
 */
class AnswerSlots {
  readonly #clock: Clock
  readonly #senders = new Map<string, { busy: number; atMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  take(sender: string): boolean {
    const nowMs = this.#clock.monotonicMs()
    for (const [other, { busy, atMs }] of this.#senders) {
      if (busy === 0 && nowMs - atMs > SHARE_MS) this.#senders.delete(other)
    }
    const state = this.#senders.get(sender) ?? { busy: 0, atMs: nowMs }
    state.atMs = nowMs
    this.#senders.set(sender, state)
    if (state.busy >= Math.max(1, Math.floor(answersMax / this.#senders.size))) return false
    state.busy += 1
    return true
  }

  release(sender: string): void {
    const state = this.#senders.get(sender)
    if (state !== undefined) state.busy -= 1
  }
}

class ReplayFilter {
  readonly #clock: Clock
  readonly #senders = new Map<
    string,
    { newest: number; atMs: number; readonly taken: Set<number> }
  >()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Records a message. False if the message was recorded before, or cannot be tracked. */
  take({ sender, number }: Opened): boolean {
    const nowMs = this.#clock.monotonicMs()
    let senderState = this.#senders.get(sender)
    if (senderState === undefined) {
      if (this.#senders.size >= SENDERS_MAX) this.#evictIdle(nowMs)
      if (this.#senders.size >= SENDERS_MAX) return false
      senderState = { newest: 0, atMs: nowMs, taken: new Set() }
      this.#senders.set(sender, senderState)
    }
    const oldest = senderState.newest - REORDERED_MAX
    if (number <= oldest || senderState.taken.has(number)) return false
    senderState.atMs = nowMs
    senderState.newest = Math.max(senderState.newest, number)
    senderState.taken.add(number)
    if (senderState.taken.size > 2 * REORDERED_MAX) {
      for (const each of senderState.taken) if (each <= oldest) senderState.taken.delete(each)
    }
    return true
  }

  #evictIdle(nowMs: number): void {
    for (const [sender, { atMs }] of this.#senders) {
      if (nowMs - atMs > 2 * sealedMessageAgeMsMax) this.#senders.delete(sender)
    }
  }
}
