// Batches messages for connections with `batch=on`: messages published in one event-loop tick reach each of them in one
// frame: a JSON array or concatenated MessagePack messages. Connections with equal topics form a group. Its batch is
// joined once and passed to the library once, because a socket write costs as much as twenty messages in it. The layer
// lies between the stream and the library; sessions and channels do not depend on it.
//
//   publish ──► each group on the topic: pending ──┐
//                                                  ├─► end of the tick: own, then pending, joined
//   send ─────► the connection's own, after the ───┘
//               pending messages of its group

import { batchBytesMax } from '../../../engine/limits.ts'
import type { Frame } from '../encode/encoder.ts'
import type { Form } from './channel-variants.ts'
import type { Socket, Topics } from './library.ts'

/**
 * A library topic that each batched socket subscribes to and never leaves. A socket must not leave its last topic while
 * messages are pending in it: uWebSockets.js would free them unsent.
 */
const ANCHOR = 'batched'

/** Messages that wait to be sent as one frame. */
class FrameBatch {
  readonly #form: Form
  #frames: Frame[] = []
  bytes = 0

  constructor(form: Form) {
    this.#form = form
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0
  }

  /** Whether the frame would exceed its maximum size with this message. */
  isFullFor(frame: Frame): boolean {
    return !this.isEmpty && this.bytes + frame.length > batchBytesMax
  }

  /** Retains a frame without a copy; its bytes must not change. */
  add(frame: Frame): void {
    this.#frames.push(frame)
    this.bytes += frame.length
  }

  /** Returns all waiting messages in order as one frame, and clears them. */
  take(): Frame {
    const frames = this.#frames
    this.#frames = []
    this.bytes = 0
    return this.#form === 'j' ? `[${frames.join(',')}]` : Buffer.concat(frames.map(bytesOf))
  }
}

/** The sockets with equal topics. */
interface Group {
  readonly form: Form
  readonly topics: Set<string>
  readonly members: Set<BatchedSocket>
  /** Published messages that are not sent yet. */
  readonly pending: FrameBatch
  /** Members with unsent messages of their own, which are older than the pending ones. */
  readonly own: Set<BatchedSocket>
  /**
   * The group's library topic and the sum of its topics, if sockets with equal topics may join. Null: the group of a
   * single socket.
   */
  shared: { readonly name: string; readonly sum: number } | null
}

/** The groups subscribed to a topic, and their number of sockets. */
interface Subscribers {
  readonly groups: Set<Group>
  count: number
}

export class Batches implements Topics {
  readonly #library: Topics
  readonly #subscribers = new Map<string, Subscribers>()
  /** Groups that may be joined, by the sum of their topics; rarely more than one per sum. */
  readonly #shared = new Map<number, Set<Group>>()
  /** Groups with unsent messages. */
  readonly #dirty = new Set<Group>()
  /** Single-socket groups whose topics have changed. */
  readonly #unsettled = new Set<Group>()
  #isFlushPlanned = false
  #groupCount = 0

  constructor(library: Topics) {
    this.#library = library
  }

  get groupCount(): number {
    let count = 0
    for (const groups of this.#shared.values()) count += groups.size
    return count + this.#unsettled.size
  }

  /** Wraps a socket whose connection receives batches. */
  open(ws: Socket, form: Form): BatchedSocket {
    ws.subscribe(ANCHOR)
    const group: Group = {
      form,
      topics: new Set(),
      members: new Set(),
      pending: new FrameBatch(form),
      own: new Set(),
      shared: null,
    }
    const socket = new BatchedSocket({ ws, form, group, batches: this })
    group.members.add(socket)
    this.#unsettled.add(group)
    return socket
  }

  numSubscribers(topic: string): number {
    return this.#library.numSubscribers(topic) + (this.#subscribers.get(topic)?.count ?? 0)
  }

  publish(topic: string, frame: Frame, isBinary: boolean): boolean {
    const subscribers = this.#subscribers.get(topic)
    if (subscribers !== undefined) {
      // The encoder will overwrite these bytes with its next message.
      const copy = typeof frame === 'string' ? frame : Buffer.from(frame)
      for (const group of subscribers.groups) {
        if (group.pending.isFullFor(copy)) this.#flushGroup(group)
        group.pending.add(copy)
        this.#markDirty(group)
      }
      if (this.#library.numSubscribers(topic) === 0) return true
    }
    return this.#library.publish(topic, frame, isBinary)
  }

  /** Registers a member that has messages of its own, which are sent by the end of the tick. */
  queueOwn(socket: BatchedSocket): void {
    socket.group.own.add(socket)
    this.#markDirty(socket.group)
  }

  #markDirty(group: Group): void {
    this.#dirty.add(group)
    if (this.#isFlushPlanned) return
    this.#isFlushPlanned = true
    setImmediate(() => {
      this.#isFlushPlanned = false
      this.flush()
    })
  }

  /** Sends all waiting messages. */
  flush(): void {
    for (const group of this.#dirty) this.#flushGroup(group)
  }

  /** Sends the pending messages of a socket's group, so that messages of the socket's own may follow. */
  flushPending({ group }: BatchedSocket): void {
    if (!group.pending.isEmpty) this.#flushGroup(group)
  }

  #flushGroup(group: Group): void {
    this.#dirty.delete(group)
    for (const socket of group.own) socket.flushOwn()
    group.own.clear()
    if (group.pending.isEmpty) return
    const frame = group.pending.take()
    const isBinary = group.form !== 'j'
    if (group.shared !== null) this.#library.publish(group.shared.name, frame, isBinary)
    else for (const { ws } of group.members) ws.send(frame, isBinary)
  }

  /** Subscribes a socket to a topic, from the next message on. */
  subscribe(socket: BatchedSocket, topic: string): void {
    if (socket.group.topics.has(topic)) return
    const group = this.#separate(socket)
    group.topics.add(topic)
    this.#addGroup(group, topic).count += 1
  }

  /** Unsubscribes a socket from a topic. Messages published so far are still sent. */
  unsubscribe(socket: BatchedSocket, topic: string): void {
    if (!socket.group.topics.has(topic)) return
    const group = this.#separate(socket)
    group.topics.delete(topic)
    this.#count(topic, -1)
    this.#removeGroup(group, topic)
  }

  /** The socket is closed and must not be accessed. */
  leave(socket: BatchedSocket): void {
    const { group } = socket
    group.members.delete(socket)
    group.own.delete(socket)
    for (const topic of group.topics) this.#count(topic, -1)
    if (group.members.size === 0) this.#end(group)
  }

  /** Merges single-socket groups with groups that have equal topics. */
  settle(): void {
    for (const group of this.#unsettled) {
      this.#unsettled.delete(group)
      const [socket] = group.members
      if (socket === undefined) continue
      this.#flushGroup(group)
      const sum = sumOf(group.topics)
      const candidates = this.#shared.get(sum) ?? new Set()
      const match = [...candidates].find((other) => isSame(other, group))
      if (match === undefined) {
        this.#groupCount += 1
        group.shared = { name: `batch:${this.#groupCount}`, sum }
        this.#shared.set(sum, candidates.add(group))
      } else {
        // Pending messages are older than the joining socket's subscription.
        this.#flushGroup(match)
        this.#end(group)
        match.members.add(socket)
        socket.group = match
      }
      socket.ws.subscribe(socket.group.shared?.name ?? ANCHOR)
    }
  }

  /** Moves a socket to a group of its own, without pending messages. */
  #separate(socket: BatchedSocket): Group {
    const { group } = socket
    this.flushPending(socket)
    if (group.shared === null) return group
    socket.ws.unsubscribe(group.shared.name)
    if (group.members.size === 1) {
      this.#unshare(group)
      this.#unsettled.add(group)
      return group
    }
    const { form } = group
    const own = new Set(group.own.delete(socket) ? [socket] : [])
    const members = new Set([socket])
    const topics = new Set(group.topics)
    const separated: Group = {
      form,
      topics,
      members,
      pending: new FrameBatch(form),
      own,
      shared: null,
    }
    group.members.delete(socket)
    socket.group = separated
    for (const topic of topics) this.#addGroup(separated, topic)
    this.#unsettled.add(separated)
    if (own.size > 0) this.#markDirty(separated)
    return separated
  }

  #unshare(group: Group): void {
    if (group.shared === null) return
    const { sum } = group.shared
    const groups = this.#shared.get(sum)
    groups?.delete(group)
    if (groups?.size === 0) this.#shared.delete(sum)
    group.shared = null
  }

  /** Removes a group without members. */
  #end(group: Group): void {
    this.#unshare(group)
    this.#dirty.delete(group)
    this.#unsettled.delete(group)
    for (const topic of group.topics) this.#removeGroup(group, topic)
  }

  #addGroup(group: Group, topic: string): Subscribers {
    let subscribers = this.#subscribers.get(topic)
    if (subscribers === undefined) {
      subscribers = { groups: new Set(), count: 0 }
      this.#subscribers.set(topic, subscribers)
    }
    subscribers.groups.add(group)
    return subscribers
  }

  #removeGroup(group: Group, topic: string): void {
    const subscribers = this.#subscribers.get(topic)
    subscribers?.groups.delete(group)
    if (subscribers?.groups.size === 0) this.#subscribers.delete(topic)
  }

  #count(topic: string, difference: number): void {
    const subscribers = this.#subscribers.get(topic)
    if (subscribers !== undefined) subscribers.count += difference
  }
}

/** A socket that receives the published messages of a tick in one frame, and messages of its own in separate frames. */
export class BatchedSocket implements Socket {
  readonly ws: Socket
  /** Changed by {@link Batches} only. */
  group: Group
  readonly #isBinary: boolean
  readonly #own: FrameBatch
  readonly #batches: Batches

  constructor(parts: { ws: Socket; form: Form; group: Group; batches: Batches }) {
    this.ws = parts.ws
    this.group = parts.group
    this.#isBinary = parts.form !== 'j'
    this.#own = new FrameBatch(parts.form)
    this.#batches = parts.batches
  }

  /** Always 1: the library's `dropped` handler reports failures. */
  send(frame: Frame): number {
    this.#batches.flushPending(this)
    if (this.#own.isFullFor(frame)) this.flushOwn()
    this.#own.add(typeof frame === 'string' ? frame : Buffer.from(frame))
    this.#batches.queueOwn(this)
    return 1
  }

  subscribe(topic: string): boolean {
    this.#batches.subscribe(this, topic)
    return true
  }

  unsubscribe(topic: string): boolean {
    this.#batches.unsubscribe(this, topic)
    return true
  }

  getBufferedAmount(): number {
    return this.ws.getBufferedAmount() + this.#own.bytes
  }

  /** Messages sent inside are flushed at the end. */
  cork(action: () => void): ReturnType<Socket['cork']> {
    return this.ws.cork(() => {
      action()
      this.flushOwn()
    })
  }

  end(code?: number, reason?: string): ReturnType<Socket['end']> {
    this.#batches.flushPending(this)
    this.flushOwn()
    return this.ws.end(code, reason)
  }

  close(): ReturnType<Socket['close']> {
    return this.ws.close()
  }

  /** Sends waiting messages of the socket's own. */
  flushOwn(): void {
    if (!this.#own.isEmpty) this.ws.send(this.#own.take(), this.#isBinary)
  }

  /** The socket is closed. */
  leave(): void {
    this.#batches.leave(this)
  }
}

function bytesOf(frame: Frame): Uint8Array {
  return typeof frame === 'string' ? Buffer.from(frame) : frame
}

function isSame(one: Group, other: Group): boolean {
  if (one.form !== other.form || one.topics.size !== other.topics.size) return false
  for (const topic of one.topics) if (!other.topics.has(topic)) return false
  return true
}

/** Equal for equal topics, in any order. */
function sumOf(topics: ReadonlySet<string>): number {
  let sum = 0
  for (const topic of topics) {
    let hash = 0x811c_9dc5
    for (let index = 0; index < topic.length; index += 1) {
      hash = Math.imul(hash ^ topic.charCodeAt(index), 0x0100_0193)
    }
    sum = (sum + (hash >>> 0)) % Number.MAX_SAFE_INTEGER
  }
  return sum
}
