// Counts and validates each frame before @polymarket/client receives it, because the SDK silently drops messages that
// its schemas reject.

import { MarketEventSchema } from '@polymarket/bindings/subscriptions'
import { createPublicClient, forkEnvironmentConfig } from '@polymarket/client'
import { WebSocket } from 'ws'

export const frames = new Map()
/** Each entry has the reason. */
export const refused = []

/** Returns null if the newest bindings accept the message. */
export function refusalOf(message) {
  const [issue] = MarketEventSchema.safeParse(message).error?.issues ?? []
  return issue === undefined ? null : `${issue.path.join('.')} ${issue.message}`
}

// The SDK uses the global WebSocket.
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
