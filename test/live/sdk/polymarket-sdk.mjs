// @polymarket/client pointed at simulated venues, with a count of every frame its socket receives:
// what its schemas refuse it drops without a word, and only this count shows it. The newest bindings judge each as well.

import { MarketEventSchema } from '@polymarket/bindings/subscriptions'
import { createPublicClient, forkEnvironmentConfig } from '@polymarket/client'
import { WebSocket } from 'ws'

/** Messages as they arrive, by event type, before the SDK sees them. */
export const frames = new Map()
/** Frames that are no JSON: PONG. */
export const texts = []
/** Messages that the schemas of the newest bindings refuse, and why. */
export const refused = []

/** Why a message of the market channel is none in the newest bindings; null: it is one. */
export function judgeMessage(message) {
  const [issue] = MarketEventSchema.safeParse(message).error?.issues ?? []
  return issue === undefined ? null : `${issue.path.join('.')} ${issue.message}`
}

// The SDK wants Node's own WebSocket, which is only there from Node 22 on.
globalThis.WebSocket = class extends WebSocket {
  constructor(...args) {
    super(...args)
    this.on('message', (data) => {
      const text = String(data)
      if (!/^[[{]/.test(text)) return texts.push(text)
      for (const message of [JSON.parse(text)].flat()) {
        frames.set(message.event_type, (frames.get(message.event_type) ?? 0) + 1)
        const problem = judgeMessage(message)
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
