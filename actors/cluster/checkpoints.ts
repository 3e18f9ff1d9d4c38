// Writes checkpoints into the log: the complete state that a gateway loads into memory. A checkpoint is written every
// ten seconds or at the request of a gateway.

import { type Clock, pause, type StopTimer } from '../../engine/clock.ts'
import {
  type AnnouncedLoss,
  type CheckpointHeader,
  checkpointObject,
  encodeCheckpoint,
  type ShardPosition,
} from '../../engine/cluster/checkpoint.ts'
import type { ClusterLog } from '../../engine/cluster/cluster-log.ts'
import { perChannel } from '../../engine/events.ts'
import { MsgpackWriter } from '../../engine/msgpack-writer.ts'
import { type Opportunity, peakOf } from '../../engine/opportunity.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'
import type { Publisher } from '../../engine/publisher.ts'
import type { EventSummary } from '../../storage/contract/storage.ts'
import { type LogItem, writeItem } from '../../storage/records/log-items.ts'
import type { MatchView } from '../matches/views.ts'
import type { EngineView, MarketView } from '../views.ts'
import { type Feeder, stateOf } from './feeder.ts'
import { inBlocks } from './packed.ts'

interface CheckpointParts {
  readonly log: ClusterLog
  readonly clock: Clock
  readonly logger: Log
  readonly metrics: Metrics
  readonly term: number
  readonly view: EngineView
  readonly publisher: Publisher
  /** In ascending order of numbers, which decides the order of equal list entries. */
  readonly events: () => Iterable<EventSummary>
  readonly pairs: () => Iterable<MatchView>
  readonly opportunities: () => Iterable<Opportunity>
  readonly feeder: Feeder
  readonly shardPositions: () => readonly ShardPosition[]
}

const EVERY_MS = 10_000
const SLICE_MS = 2
/** Pause after each time slice, as a multiple of the slice. It limits the processor use to a twentieth. */
const REST_TIMES = 20
export class Checkpoints {
  readonly #parts: CheckpointParts
  readonly #abort = new AbortController()
  #making: Promise<void> | null = null
  #next: Promise<void> | null = null
  #stopTimer: StopTimer = () => undefined
  #restMs = EVERY_MS
  #earlierLosses: readonly AnnouncedLoss[] | null = null
  #bytes = 0

  constructor(parts: CheckpointParts) {
    this.#parts = parts
    const help = 'Bytes of the newest checkpoint.'
    parts.metrics.gauge('cluster_checkpoint_bytes', help, () => this.#bytes)
  }

  async start(): Promise<void> {
    await this.#try()
    this.#plan()
  }

  /** Resolves when the log has a checkpoint of this run. Rejects with LogError if the log cannot store it. */
  async first(): Promise<void> {
    if (this.#bytes === 0) await (this.#making ?? this.make())
  }

  stop(): void {
    this.#abort.abort()
    this.#stopTimer()
  }

  /** The checkpoint includes all changes before this call. Rejects with LogError if the log cannot store it. */
  make(): Promise<void> {
    if (this.#making === null) {
      this.#making = this.#make().finally(() => {
        this.#making = null
      })
      return this.#making
    }
    this.#next ??= this.#making
      .catch(() => undefined)
      .then(() => {
        this.#next = null
        return this.make()
      })
    return this.#next
  }

  #plan(): void {
    this.#stopTimer = this.#parts.clock.after(this.#restMs, () => {
      void this.#try().then(() => {
        if (!this.#abort.signal.aborted) this.#plan()
      })
    })
  }

  async #try(): Promise<void> {
    try {
      await this.make()
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'a checkpoint could not be written')
    }
  }

  async #make(): Promise<void> {
    const { log, feeder, publisher, view, clock, term } = this.#parts
    const offsets = perChannel((channel) => publisher.offset(channel))
    const [shards, version, takenAtMs] = [
      this.#parts.shardPositions(),
      feeder.version,
      clock.nowMs(),
    ]
    const { blocks, count, workedMs } = await this.#gather()
    if (this.#abort.signal.aborted) return
    const header: CheckpointHeader = {
      ...{ epoch: view.epoch, term, takenAtMs, shards, version, count },
      offsets,
      runs: view.tradeLog.runs(),
      losses: this.#losses(),
      recordsSinceMs: view.catalog.recordsSinceMs,
      names: view.venues().map(({ venue, platform }) => ({ venue, platform })),
    }
    this.#restMs = Math.max(EVERY_MS, REST_TIMES * workedMs)
    const bytes = encodeCheckpoint(header, blocks)
    await log.putObject(checkpointObject, bytes)
    this.#bytes = bytes.length
  }

  #losses(): readonly AnnouncedLoss[] {
    const { tradeLog } = this.#parts.view
    const present = tradeLog.present.number
    this.#earlierLosses ??= tradeLog
      .runs()
      .flatMap(({ number: run }) => (run === present ? [] : tradeLog.losses({ run, offset: 0 })))
    return [...this.#earlierLosses, ...tradeLog.losses({ run: present, offset: 0 })]
  }

  async #gather(): Promise<{ blocks: Uint8Array[]; count: number; workedMs: number }> {
    const { clock } = this.#parts
    const writer = new MsgpackWriter()
    const blocks: Uint8Array[] = []
    let [count, workedMs] = [0, 0]
    let startedMs = clock.monotonicMs()
    writer.begin()
    for (const item of this.#items()) {
      writeItem(writer, item)
      count += 1
      const spentMs = clock.monotonicMs() - startedMs
      if (spentMs < SLICE_MS) continue
      workedMs += spentMs
      blocks.push(Uint8Array.from(writer.end()))
      writer.begin()
      await pause(clock, 1, this.#abort.signal)
      if (this.#abort.signal.aborted) break
      startedMs = clock.monotonicMs()
    }
    blocks.push(Uint8Array.from(writer.end()))
    return { blocks, count, workedMs }
  }

  *#items(): Iterable<LogItem> {
    const { view, events, feeder, pairs, opportunities } = this.#parts
    yield* inBlocks(eventItems([...events()], feeder))
    const markets = [...view.catalog.markets(null)]
    yield* feeder.packedTexts.blocks(markets)
    // A cached row may have old figures. The later `state` item of the market replaces them.
    yield* feeder.packedRows.blocks(markets)
    yield* inBlocks(stateItems(markets, this.#parts))
    for (const { a, b, pairScore, matchedAtMs } of [...pairs()]) {
      const match = { a: a.ref.number, b: b.ref.number, matchedAtMs, ...pairScore }
      yield { kind: 'matched', match }
    }
    for (const opportunity of [...opportunities()]) yield this.#opened(opportunity)
    yield* feeder.otherState()
  }

  /** Uses the form of a stream update. Gateways ignore the stamp. */
  #opened(opportunity: Opportunity): LogItem {
    const { publisher, clock } = this.#parts
    const [first] = opportunity.legs
    if (first === undefined) throw new Error('an opportunity has legs')
    const { market } = first
    const atMs = opportunity.updatedAtMs
    const peak = peakOf(opportunity, null, clock.nowMs())
    const stamp = publisher.latest('arbitrage', market.number)
    const times = { venueTimeMs: atMs, receivedAtMs: atMs }
    const fields = {
      event: 'opened',
      opportunity,
      reason: null,
      peak,
      previousPeak: null,
    } as const
    return {
      kind: 'update',
      update: { kind: 'arbitrage', market, ...stamp, ...times, ...fields },
      book: null,
    }
  }
}

function* eventItems(events: readonly EventSummary[], feeder: Feeder): Iterable<LogItem> {
  for (const event of events) yield { kind: 'event', version: feeder.version, event }
}

function* stateItems(
  markets: readonly MarketView[],
  { view, publisher }: Pick<CheckpointParts, 'view' | 'publisher'>,
): Iterable<LogItem> {
  for (const market of markets) {
    // The market was removed while the checkpoint was being made.
    if (view.catalog.byNumber(market.ref.number) !== market) continue
    yield { kind: 'state', state: stateOf(market, publisher) }
  }
}
