// The rest bench's commands to its child processes and their reports, over the channel that `fork` gives.

/** The servers: the whole service, a bare uWebSockets.js app, or the package fastify. */
export const CONTESTANTS = ['ours', 'limit', 'fastify'] as const
export type Contestant = (typeof CONTESTANTS)[number]

/** A route as the other two serve it; `:market_id` where a market is named. */
export interface ServedRoute {
  readonly pattern: string
  /** Of ordinary size among the answers of ours: the limit's answer to every request of the route. */
  readonly constant: string
  /** Finished answers by market, for fastify; empty for a list, which it does not serve. */
  readonly byMarket: Readonly<Record<string, string>>
}

export type ServerCommand =
  | {
      readonly kind: 'open'
      readonly apiKey: string
      /** Those of ours. */
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

/** A request and a text that its answer must contain. */
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
  /** As many as go: each connection asks again as soon as it was answered. */
  | (RequestPlan & {
      readonly kind: 'press'
      readonly requests: readonly RequestedPath[]
    })
  /** At planned moments. */
  | (RequestPlan & {
      readonly kind: 'plan'
      readonly perSecond: number
      readonly requests: readonly RequestedPath[]
    })

export type LoadReport =
  | {
      readonly kind: 'pressed'
      /** All answered with 200. */
      readonly answerCount: number
      /** Answers that were read and compared, the others were counted. */
      readonly comparedCount: number
    }
  | {
      readonly kind: 'planned'
      /** Histogram of nanoseconds from the planned time, compressed, in Base64. */
      readonly times: string
    }
  | { readonly kind: 'failed'; readonly why: string }
