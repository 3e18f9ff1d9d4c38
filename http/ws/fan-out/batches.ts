// Batches messages for connections with `batch=on`: all messages of an event-loop tick in one frame (a JSON array, or
// concatenated MessagePack messages). Connections with equal topics form a group, whose batch is built once. At the end
// of a tick, a connection's direct messages are sent before the pending messages of its group.

import type { TemplatedApp, WebSocket } from 'uWebSockets.js'
import { createHash } from 'node:crypto'
import { batchBytesMax } from '../../../engine/limits.ts'
import type { Frame } from '../encode/encoder.ts'
import type { Form } from './channel-variants.ts'

export type Topics = Pick<TemplatedApp, 'publish' | 'numSubscribers'>

/** Call nothing after the socket is closed. */
export type Socket = Pick<
  WebSocket<unknown>,
  'send' | 'subscribe' | 'unsubscribe' | 'getBufferedAmount' | 'end' | 'close'
> & { cork(action: () => void): unknown }

/**
 * A library topic that each batched socket subscribes to until it closes. When a socket leaves its last topic,
 * uWebSockets.js frees its pending messages unsent.
 */
const ANCHOR = 'batched'

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

  /** True if adding the message would exceed the maximum size of a frame. */
  isFullFor(frame: Frame): boolean {
    return !this.isEmpty && this.bytes + frame.length > batchBytesMax
  }

  /** Does not copy the frame. Its bytes must not change before `take`. */
  add(frame: Frame): void {
    this.#frames.push(frame)
    this.bytes += frame.length
  }

  take(): Frame {
    const frames = this.#frames
    this.#frames = []
    this.bytes = 0
    return this.#form === 'j' ? `[${frames.join(',')}]` : Buffer.concat(frames.map(bytesOf))
  }
}

/** Sockets with equal topics, or a single socket whose topics have changed. */
class Group {
  readonly form: Form
  readonly topics: Set<string>
  readonly members = new Set<BatchedSocket>()
  readonly pending: FrameBatch
  /** Members that have direct messages to send before the pending messages of the group. */
  readonly own = new Set<BatchedSocket>()
  /** The library topic of a group with shared topics. Null: the group has a single socket. */
  name: string | null = null

  constructor(form: Form, topics: Iterable<string> = []) {
    this.form = form
    this.topics = new Set(topics)
    this.pending = new FrameBatch(form)
  }
}

export class Batches {
  readonly #library: Topics
  readonly #subscribers = new Map<string, Set<Group>>()
  readonly #shared = new Map<string, Group>()
  readonly #dirty = new Set<Group>()
  readonly #unsettled = new Set<Group>()
  #isFlushPlanned = false

  constructor(library: Topics) {
    this.#library = library
  }

  open(ws: Socket, form: Form): BatchedSocket {
    ws.subscribe(ANCHOR)
    const group = new Group(form)
    const socket = new BatchedSocket(ws, group, this)
    group.members.add(socket)
    this.#unsettled.add(group)
    return socket
  }

  publish(topic: string, frame: Frame, isBinary: boolean): boolean {
    const groups = this.#subscribers.get(topic)
    if (groups !== undefined) {
      // The encoder will overwrite these bytes with its next message.
      const copy = typeof frame === 'string' ? frame : Buffer.from(frame)
      for (const group of groups) {
        if (group.pending.isFullFor(copy)) this.#flush(group)
        group.pending.add(copy)
        this.#markDirty(group)
      }
      if (this.#library.numSubscribers(topic) === 0) return true
    }
    return this.#library.publish(topic, frame, isBinary)
  }

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
      for (const dirty of this.#dirty) this.#flush(dirty)
    })
  }

  /** Sends the pending messages of the socket's group, so that a direct message to the socket can follow. */
  flushPending({ group }: BatchedSocket): void {
    if (!group.pending.isEmpty) this.#flush(group)
  }

  #flush(group: Group): void {
    this.#dirty.delete(group)
    for (const socket of group.own) socket.flushOwn()
    group.own.clear()
    if (group.pending.isEmpty) return
    const frame = group.pending.take()
    const isBinary = group.form !== 'j'
    if (group.name !== null) this.#library.publish(group.name, frame, isBinary)
    else for (const { ws } of group.members) ws.send(frame, isBinary)
  }

  /** The socket receives later messages only. */
  subscribe(socket: BatchedSocket, topic: string): void {
    if (socket.group.topics.has(topic)) return
    const group = this.#separate(socket)
    group.topics.add(topic)
    this.#addTopic(group, topic)
  }

  /** Messages that are already published are still sent. */
  unsubscribe(socket: BatchedSocket, topic: string): void {
    if (!socket.group.topics.has(topic)) return
    const group = this.#separate(socket)
    group.topics.delete(topic)
    this.#removeTopic(group, topic)
  }

  /** Removes a closed socket, which must not be accessed any more. */
  leave(socket: BatchedSocket): void {
    this.#remove(socket.group, socket)
  }

  /**
   * Merges single-socket groups into groups with equal topics. Returns false if the time was over before all were
   * merged.
   */
  settle(isTimeOver: () => boolean): boolean {
    for (const group of this.#unsettled) {
      const [socket] = group.members
      this.#flush(group)
      this.#unsettled.delete(group)
      if (socket === undefined) continue
      const name = nameOf(group)
      const match = this.#shared.get(name)
      if (match === undefined) {
        group.name = name
        this.#shared.set(name, group)
      } else {
        // Flush first: the joining socket must not get messages from before its subscription.
        this.#flush(match)
        this.#remove(group, socket)
        match.members.add(socket)
        socket.group = match
      }
      socket.ws.subscribe(name)
      if (isTimeOver()) return this.#unsettled.size === 0
    }
    return true
  }

  #separate(socket: BatchedSocket): Group {
    const { group } = socket
    this.flushPending(socket)
    if (group.name === null) return group
    socket.ws.unsubscribe(group.name)
    const separated = new Group(group.form, group.topics)
    separated.members.add(socket)
    socket.group = separated
    for (const topic of separated.topics) this.#addTopic(separated, topic)
    this.#unsettled.add(separated)
    if (group.own.has(socket)) this.queueOwn(socket)
    this.#remove(group, socket)
    return separated
  }

  #remove(group: Group, socket: BatchedSocket): void {
    group.own.delete(socket)
    group.members.delete(socket)
    if (group.members.size > 0) return
    if (group.name !== null) this.#shared.delete(group.name)
    this.#dirty.delete(group)
    this.#unsettled.delete(group)
    for (const topic of group.topics) this.#removeTopic(group, topic)
  }

  #addTopic(group: Group, topic: string): void {
    const groups = this.#subscribers.get(topic)
    if (groups === undefined) this.#subscribers.set(topic, new Set([group]))
    else groups.add(group)
  }

  #removeTopic(group: Group, topic: string): void {
    const groups = this.#subscribers.get(topic)
    groups?.delete(group)
    if (groups?.size === 0) this.#subscribers.delete(topic)
  }
}

/** Receives all published messages of a tick in one frame. Direct messages go in separate frames. */
export class BatchedSocket implements Socket {
  readonly ws: Socket
  group: Group
  readonly #own: FrameBatch
  readonly #batches: Batches

  constructor(ws: Socket, group: Group, batches: Batches) {
    this.ws = ws
    this.group = group
    this.#own = new FrameBatch(group.form)
    this.#batches = batches
  }

  /** Always returns 1, since the library's `dropped` handler reports failures. */
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

  /** Flushes the messages that `action` sent when `action` returns. */
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

  flushOwn(): void {
    if (!this.#own.isEmpty) this.ws.send(this.#own.take(), this.group.form !== 'j')
  }

  leave(): void {
    this.#batches.leave(this)
  }
}

function bytesOf(frame: Frame): Uint8Array {
  return typeof frame === 'string' ? Buffer.from(frame) : frame
}

/** The name does not depend on the order of the topics. */
function nameOf({ form, topics }: Group): string {
  const text = [...topics].sort().join('\n')
  return `batch:${form}:${createHash('sha256').update(text).digest('base64')}`
}
