// Reconnects and resumes any number of times, and records every loss. Shares no code with http/client/.

import { type Message, RebuiltBooks, StreamClient } from './stream-client.ts'

/** A subscription in the form of a command. */
export interface ActiveSubscription {
  readonly channels: readonly string[]
  readonly target: Readonly<Record<string, unknown>>
  /** True for an unfiltered `*`, whose position must not be below the offset of a heartbeat. */
  readonly isAll: boolean
}

interface Position {
  readonly epoch: string
  readonly offset: number
}

export class ResumingClient {
  readonly books = new RebuiltBooks()
  /** Newest seq by channel and market, for channels that send every message. */
  readonly seqs = new Map<string, number>()
  readonly defects: string[] = []
  readonly counts = { connections: 0, fresh: 0, resumed: 0, repeats: 0, replayed: 0, gaps: 0 }
  readonly #listening: ActiveSubscription
  readonly #query: string | undefined
  readonly #positions = new Map<string, Position>()
  /** Channels with an unanswered command, whose position does not advance. */
  readonly #waiting = new Set<string>()
  readonly #outOfSync = new Set<string>()
  #client: StreamClient | null = null
  #read = 0

  constructor(listening: ActiveSubscription, query?: string) {
    this.#listening = listening
    this.#query = query
  }

  get isConnected(): boolean {
    return this.#client !== null
  }

  get client(): StreamClient | null {
    return this.#client
  }

  async connect(port: number): Promise<void> {
    const client = await StreamClient.open(port, this.#query)
    this.#client = client
    this.#read = 0
    this.counts.connections += 1
    for (const channel of this.#listening.channels) this.#subscribe(client, channel)
  }

  #subscribe(client: StreamClient, channel: string): void {
    // A wildcard subscription cannot request the missing book of one market, so it starts again.
    if (channel === 'orderbook' && this.#outOfSync.size > 0) {
      this.#positions.delete(channel)
      this.#outOfSync.clear()
      this.books.books.clear()
    }
    const since = this.#positions.get(channel)
    const command = { action: 'subscribe', id: channel, channel, ...this.#listening.target }
    if (since === undefined) this.counts.fresh += 1
    this.#waiting.add(channel)
    client.send(since === undefined ? command : { ...command, since })
  }

  async disconnect(): Promise<void> {
    this.take()
    const client = this.#client
    this.#client = null
    await client?.close()
  }

  get isSettled(): boolean {
    return this.#waiting.size === 0
  }

  take(): void {
    const messages = this.#client?.messages ?? []
    for (; this.#read < messages.length; this.#read += 1) {
      const message = messages[this.#read]
      if (message !== undefined) this.#takeOne(message)
    }
  }

  #takeOne(message: Message): void {
    const channel = String(message.channel)
    switch (message.type) {
      case 'synced':
      case 'resumed':
        this.#positions.set(channel, positionOf(message))
        this.#waiting.delete(channel)
        if (message.type === 'synced') return
        this.counts.resumed += 1
        this.counts.replayed += Number(message.replayed)
        return
      case 'resume_limited':
        this.#positions.set(channel, positionOf(message))
        if (this.#client !== null) this.#subscribe(this.#client, channel)
        return
      case 'resync':
        this.#outOfSync.add(String(message.market_id))
        return this.books.read(message)
      case 'gap':
        this.counts.gaps += 1
        return
      case 'heartbeat':
        return this.#compare(message)
      case 'error':
        this.defects.push(JSON.stringify(message))
        return
      case 'update':
      case 'snapshot':
        return this.#takeBook(message)
      case 'trade':
      case 'lifecycle':
        return this.#takeCounted(message)
    }
  }

  #takeBook(message: Message): void {
    const id = String(message.market_id)
    const isRepeat =
      message.type === 'update' &&
      this.books.books.has(id) &&
      Number(message.seq) <= (this.books.seqs.get(id) ?? 0)
    if (message.type === 'snapshot') this.#outOfSync.delete(id)
    if (isRepeat) this.counts.repeats += 1
    else this.books.read(message)
    this.#move(message)
  }

  #takeCounted(message: Message): void {
    const key = `${message.channel} ${message.market_id}`
    const seq = Number(message.seq)
    const last = this.seqs.get(key)
    if (last !== undefined && seq <= last) this.counts.repeats += 1
    else {
      if (last !== undefined && seq !== last + 1) this.defects.push(`${key}: ${seq} after ${last}`)
      this.seqs.set(key, seq)
    }
    this.#move(message)
  }

  #move(message: Message): void {
    const channel = String(message.channel)
    const existing = this.#positions.get(channel)
    if (this.#waiting.has(channel) || existing === undefined) return
    const position = positionOf(message)
    if (position.offset < existing.offset)
      this.defects.push(`${channel} goes back to ${position.offset}`)
    this.#positions.set(channel, position)
  }

  #compare({ offsets }: Message): void {
    if (!this.#listening.isAll || typeof offsets !== 'object' || offsets === null) return
    for (const [channel, { offset }] of this.#positions) {
      const published: unknown = Reflect.get(offsets, channel)
      if (this.#waiting.has(channel) || typeof published !== 'number' || published <= offset)
        continue
      this.defects.push(`a heartbeat says ${channel} ${published}, we have ${offset}`)
    }
  }
}

function positionOf(message: Message): Position {
  return { epoch: String(message.epoch), offset: Number(message.offset) }
}
