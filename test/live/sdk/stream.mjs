// What the plain WebSocket clients share: a socket, a naive book, waiting, and counting.

import assert from 'node:assert/strict'
import { WebSocket } from 'ws'
import { sleep } from './harness.mjs'

/** How long streams are watched at least; ten times as long is given up. */
export const WATCH_MS = Number(process.env.SDK_WATCH_MS ?? 12_000)
/** Messages of each kind that must have come. */
export const MESSAGES_MIN = 20

/** Opens a socket; texts go to `take` in order. A refused handshake resolves to its status. */
export function open(url, headers, take) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers })
    const client = { socket, pings: [], send: (value) => socket.send(JSON.stringify(value)) }
    socket.on('message', (data) => take(String(data)))
    socket.on('ping', (body) => client.pings.push(String(body)))
    socket.on('unexpected-response', (_, response) => resolve({ status: response.statusCode }))
    socket.on('open', () => resolve(client))
    socket.on('error', reject)
  })
}

/** Waits for a condition; `what` says how far it got when it never comes. */
export async function until(isEnough, what) {
  const from = Date.now()
  while (!isEnough()) {
    assert.ok(Date.now() - from < 10 * WATCH_MS, `${what()} in ${10 * WATCH_MS} ms`)
    await sleep(50)
  }
}

/** Sizes by price in micros, quoted for one outcome; slow and plain on purpose. */
export class Book {
  sides = { bid: new Map(), ask: new Map() }

  set(side, price, size) {
    if (size > 0) this.sides[side].set(price, size)
    else this.sides[side].delete(price)
  }

  /** As the truth shows it: [[price, size]], best first. */
  rows() {
    const { bid, ask } = this.sides
    return {
      bids: [...bid].sort((one, other) => other[0] - one[0]),
      asks: [...ask].sort((one, other) => one[0] - other[0]),
    }
  }
}

export const count = (counts, name) => counts.set(name, (counts.get(name) ?? 0) + 1)
export const shown = (counts) =>
  [...counts]
    .sort()
    .map(([name, number]) => `${name} ${number}`)
    .join(', ')
