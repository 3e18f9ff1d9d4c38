// Commands and reports of the rest bench's child processes, over the `fork` channel.

/** The servers: the whole service, a bare uWebSockets.js app, or the package fastify. */
export const CONTESTANTS = ['ours', 'limit', 'fastify'] as const
export type Contestant = (typeof CONTESTANTS)[number]

/** A route as the other two serve it, with `:market_id` in place of the market. */
export interface ServedRoute {
  readonly pattern: string
  /** One of our responses, of typical size: the limit's response to every request of the route. */
  readonly constant: string
  /** Prepared responses by market, for fastify; empty for a list, which it does not serve. */
  readonly byMarket: Readonly<Record<string, string>>
}

export type ServerCommand =
  | {
      readonly kind: 'open'
      readonly apiKey: string
      /** Headers of our responses. */
      readonly headers: readonly (readonly [name: string, value: string])[]
      readonly routes: readonly ServedRoute[]
    }
  | { readonly kind: 'look' }

export type ServerReport =
  | { readonly kind: 'listening'; readonly port: number }
  | {
      readonly kind: 'looked'
      /** User and system time of the whole process since its start. */
      readonly processorMicros: number
    }

/** A request and a text that its response must contain. */
export interface RequestedPath {
  readonly path: string
  readonly says: string
}

interface RequestPlan {
  readonly origin: string
  readonly apiKey: string
  readonly connections: number
  readonly seconds: number
}

export type LoadCommand =
  /** Closed loop: each connection sends the next request after each response. */
  | (RequestPlan & {
      readonly kind: 'press'
      readonly requests: readonly RequestedPath[]
    })
  /** Open loop: at planned moments. */
  | (RequestPlan & {
      readonly kind: 'plan'
      readonly perSecond: number
      readonly requests: readonly RequestedPath[]
    })

export type LoadReport =
  | {
      readonly kind: 'pressed'
      /** All had status 200. */
      readonly answerCount: number
      /** Responses that were compared; the others were only counted. */
      readonly comparedCount: number
    }
  | {
      readonly kind: 'planned'
      /** Histogram of nanoseconds from the planned time, compressed, in Base64. */
      readonly times: string
    }
  | { readonly kind: 'failed'; readonly why: string }
