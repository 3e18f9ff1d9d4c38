// Connections that asked for `batch=on`: what is published in a turn of the loop comes to each of them in
// one frame, a JSON array or MessagePack messages one behind the other. Connections with the same topics are
// one group, for which a turn is joined once and given to the library once, since a write to a socket costs
// as much as twenty messages in it. A layer between the face and the library: sessions and channels do not
// know of it.
//
//   publish ──► each group on the topic: pending ──┐
//                                                  ├─► end of the turn: own, then pending, joined
//   send ─────► the connection's own, once what ───┘
//               is pending in its group is out

import { batchBytesMax } from '../../../engine/limits.ts'
import type { Frame } from '../encode/encoder.ts'
import type { Form } from './channel-variants.ts'
import type { Socket, Topics } from './library.ts'

/** A topic of the library that each batched socket joins and never leaves: it must not lose its last one
 * while messages are pending in it, as uWebSockets.js frees those unsent. */
const ANCHOR = 'batched'

/** Messages that wait to go out as one frame. */
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

  /** Whether with this one the frame would be larger than frames may be. */
  isFullFor(frame: Frame): boolean {
    return !this.isEmpty && this.bytes + frame.length > batchBytesMax
  }

  /** Keeps a frame whose bytes stay as they are. */
  add(frame: Frame): void {
    this.#frames.push(frame)
    this.bytes += frame.length
  }

  /** All that waits, in order, as one frame; nothing waits then. */
  take(): Frame {
    const frames = this.#frames
    this.#frames = []
    this.bytes = 0
    return this.#form === 'j' ? `[${frames.join(',')}]` : Buffer.concat(frames.map(bytesOf))
  }
}

/** The sockets that are on the same topics. */
interface Group {
  readonly form: Form
  readonly topics: Set<string>
  readonly members: Set<BatchedSocket>
  /** What was published to it and is not out. */
  readonly pending: FrameBatch
  /** Members with something of their own that is not out: older than what is pending. */
  readonly own: Set<BatchedSocket>
  /** Its topic in the library and the sum of its topics, where sockets with the same ones may join it; null: one socket's. */
  shared: { readonly name: string; readonly sum: number } | null
}

/** The groups that are on a topic, and how many sockets they are. */
interface Subscribers {
  readonly groups: Set<Group>
  count: number
}

export class Batches implements Topics {
  readonly #library: Topics
  readonly #subscribers = new Map<string, Subscribers>()
  /** Groups that may be joined, by the sum of their topics: seldom more than one each. */
  readonly #shared = new Map<number, Set<Group>>()
  /** Groups with something that is not out. */
  readonly #dirty = new Set<Group>()
  /** Groups of one socket whose topics have changed. */
  readonly #unsettled = new Set<Group>()
  #isFlushPlanned = false
  #groupCount = 0

  constructor(library: Topics) {
    this.#library = library
  }

  /** How many groups there are. */
  get groupCount(): number {
    let count = 0
    for (const groups of this.#shared.values()) count += groups.size
    return count + this.#unsettled.size
  }

  /** A socket whose connection gets batches. */
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
      // The encoder writes its next message over these bytes.
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

  /** A member has something of its own, which goes out by the end of the turn. */
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

  /** Sends all that waits. */
  flush(): void {
    for (const group of this.#dirty) this.#flushGroup(group)
  }

  /** Sends what was published to the group of a socket, after which something of the socket's own may follow. */
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

  /** Puts a socket on a topic, from the next message on. */
  subscribe(socket: BatchedSocket, topic: string): void {
    if (socket.group.topics.has(topic)) return
    const group = this.#separate(socket)
    group.topics.add(topic)
    this.#addGroup(group, topic).count += 1
  }

  /** Takes a socket off a topic, behind all that was published so far. */
  unsubscribe(socket: BatchedSocket, topic: string): void {
    if (!socket.group.topics.has(topic)) return
    const group = this.#separate(socket)
    group.topics.delete(topic)
    this.#count(topic, -1)
    this.#removeGroup(group, topic)
  }

  /** The socket is gone: nothing of it is touched. */
  leave(socket: BatchedSocket): void {
    const { group } = socket
    group.members.delete(socket)
    group.own.delete(socket)
    for (const topic of group.topics) this.#count(topic, -1)
    if (group.members.size === 0) this.#end(group)
  }

  /** Brings groups of one socket together with those that have the same topics. */
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
        // What is pending is not for a socket that comes now.
        this.#flushGroup(match)
        this.#end(group)
        match.members.add(socket)
        socket.group = match
      }
      socket.ws.subscribe(socket.group.shared?.name ?? ANCHOR)
    }
  }

  /** The group of a socket, of it alone from now on; nothing is pending in it. */
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

  /** A group without members is nowhere. */
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

/** A socket that gets what is published in frames of a turn, and what is sent to it alone in others. */
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

  /** Always 1: what cannot be sent is told by the library's `dropped` handler. */
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

  /** What is sent within goes out at its end. */
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

  /** Sends what is its own and waits. */
  flushOwn(): void {
    if (!this.#own.isEmpty) this.ws.send(this.#own.take(), this.#isBinary)
  }

  /** The socket is gone. */
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

/** The same for the same topics in any order. */
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
