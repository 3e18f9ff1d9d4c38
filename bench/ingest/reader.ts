// Subscriber process of the ingest bench: a bare socket that parses WebSocket frames itself, counts messages, and
// reports when a given number has arrived. Contents are read only on request: it rebuilds the books and checks for
// missing sequence numbers. Used for ours and for the bare publisher.

import type { Socket } from 'node:net'
import { type BookMessage, FollowedBooks } from '../followed-books.ts'
import { Reports, takeCommands } from '../in-child.ts'
import { openFrames, textFrame } from '../raw-frames.ts'

export type ReaderCommand =
  | {
      readonly kind: 'connect'
      readonly port: number
      /**
       * Subscribes ours to books, trades and prices of everything; null for the bare publisher, which sends without a
       * subscription.
       */
      readonly apiKey: string | null
    }
  | { readonly kind: 'await'; readonly total: number }
  | { readonly kind: 'tell' }

export type ReaderReport =
  | { readonly kind: 'connected' }
  /** This many messages have arrived. */
  | { readonly kind: 'there' }
  | {
      readonly kind: 'told'
      /** Each book as a line, by its market's unified id. */
      readonly books: readonly string[]
      readonly tradeCount: number
      readonly messageCount: number
    }
  | { readonly kind: 'failed'; readonly why: string }

const CHANNELS = ['orderbook', 'trades', 'prices'] as const
/** Prefixes of counted messages; the others are protocol messages. */
const COUNTED = ['{"type":"update"', '{"type":"trade"', '{"type":"price"']
const READ_BYTES = 262_144

const { report, fail } = new Reports<ReaderReport>()

let socket: Socket | null = null
let messageCount = 0
let awaited: number | null = null
const stored: string[] = []

function open({ port, apiKey }: ReaderCommand & { kind: 'connect' }): void {
  let syncedCount = 0
  let snapshotCount = 0
  const path = apiKey === null ? '/' : `/v1/ws?api_key=${apiKey}`
  socket = openFrames(
    { port, path, buffer: Buffer.alloc(READ_BYTES) },
    {
      onOpen() {
        if (apiKey === null) return report({ kind: 'connected' })
        for (const channel of CHANNELS) {
          const command = { action: 'subscribe', id: 1, channel, market_ids: ['*'] }
          socket?.write(textFrame(JSON.stringify(command)))
        }
      },
      onText(bytes, from, to) {
        if (apiKey === null) messageCount += 1
        else {
          const text = bytes.toString('utf8', from, to)
          if (COUNTED.some((head) => text.startsWith(head)) && syncedCount === CHANNELS.length) {
            messageCount += 1
            stored.push(text)
          } else if (text.startsWith('{"type":"snapshot"')) {
            snapshotCount += 1
            stored.push(text)
          } else if (text.startsWith('{"type":"synced"')) {
            syncedCount += 1
            if (syncedCount === CHANNELS.length) report({ kind: 'connected' })
          } else if (/^\{"type":"(?:resync|gap|error)"/.test(text)) fail(text)
        }
        if (awaited !== null && messageCount >= awaited) {
          awaited = null
          report({ kind: 'there' })
        }
      },
      onFault: fail,
      onEnd: () => fail(`cut off after ${messageCount} messages, ${snapshotCount} snapshots`),
    },
  )
}

interface Message extends BookMessage {
  readonly channel: string
}

/** Rebuilds the books; a missing sequence number on any channel is a failure. */
function tell(): void {
  const books = new FollowedBooks()
  const seqs = new Map<string, number>()
  let tradeCount = 0
  for (const text of stored) {
    const message: Message = JSON.parse(text)
    const { type, channel, market_id: id, seq } = message
    const name = `${channel} ${id}`
    const before = seqs.get(name)
    if (type !== 'snapshot' && before !== undefined && seq !== before + 1)
      return fail(`${name}: ${seq} after ${before}`)
    // The first price may be a snapshot, with its current number.
    seqs.set(name, seq)
    if (type === 'trade') tradeCount += 1
    const wrong = channel === 'orderbook' ? books.take(message) : null
    if (wrong !== null) return fail(wrong)
  }
  report({ kind: 'told', books: books.lines(), tradeCount, messageCount })
}

takeCommands((command: ReaderCommand) => {
  if (command.kind === 'connect') open(command)
  else if (command.kind === 'tell') tell()
  else if (messageCount >= command.total) report({ kind: 'there' })
  else awaited = command.total
})
