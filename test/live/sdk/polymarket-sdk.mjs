// Connects @polymarket/client to simulated venues. Counts each frame before the SDK receives it and validates it with
// the newest bindings, because the SDK silently drops messages that its schemas reject.

import { MarketEventSchema } from '@polymarket/bindings/subscriptions'
import { createPublicClient, forkEnvironmentConfig } from '@polymarket/client'
import { WebSocket } from 'ws'

/** Number of received messages by event type. */
export const frames = new Map()
/** Messages that the newest bindings reject, with the reason. */
export const refused = []

/** Why the newest bindings reject a message of the market channel; null if they accept it. */
export function refusalOf(message) {
  const [issue] = MarketEventSchema.safeParse(message).error?.issues ?? []
  return issue === undefined ? null : `${issue.path.join('.')} ${issue.message}`
}

// Wraps the global WebSocket, which the SDK uses, to count frames.
globalThis.WebSocket = class extends WebSocket {
  constructor(...args) {
    super(...args)
    this.on('message', (data) => {
      const text = String(data)
      if (!/^[[{]/.test(text)) return
      for (const message of [JSON.parse(text)].flat()) {
        frames.set(message.event_type, (frames.get(message.event_type) ?? 0) + 1)
        const problem = refusalOf(message)
        if (problem !== null) refused.push(`${message.event_type} ${problem}`)
      }
    })
  }
}

export function clientOf(urls) {
  return createPublicClient({
    environment: forkEnvironmentConfig({
      name: 'simulator',
      clob: { rest: urls.clob, market: { ws: urls.marketWs }, user: { ws: urls.marketWs } },
      gamma: { rest: urls.gamma },
      data: { rest: urls.data },
      rtds: { ws: urls.rtdsWs },
      sports: { ws: urls.rtdsWs },
    }),
  })
}
