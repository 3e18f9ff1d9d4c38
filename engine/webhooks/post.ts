// The interface through which deliveries call receivers. engine/webhooks/caller.ts implements it.

import type { ReceiverAnswer } from './webhook.ts'

export const POST_HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'Twinbook-Webhooks/1',
} as const

export type PostOutcome =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** The delay that `Retry-After` requests, in ms from now, 0..86,400,000. Null: none. */
      readonly retryAfterMs: number | null
      /** The part of the response that is stored for the webhook's owner. */
      readonly answer?: ReceiverAnswer
    }
  | {
      readonly kind: 'failed'
      /**
       * 'refused': the address may not be called (not public, forbidden port, …). 'aborted': ended by the signal or by
       * stop().
       */
      readonly reason: 'refused' | 'timeout' | 'network' | 'tls' | 'aborted'
      /** Shown to the owner, at most 200 characters. Contains no internal address. */
      readonly detail: string
    }

export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly signal: AbortSignal
}

export interface Caller {
  /**
   * Sends one POST: at most 5 s to connect and 15 s in total. Redirects are not followed, and at most 64 KiB of the
   * response are read. Never rejects.
   */
  post(request: PostRequest): Promise<PostOutcome>
  stop(): void
}

/** Which addresses may be called. Both fields are true only in trials. */
export interface CallPolicy {
  /** WEBHOOK_ALLOW_HTTP */
  readonly allowsHttp: boolean
  /** WEBHOOK_ALLOW_PRIVATE: loopback and other addresses that are not public. */
  readonly allowsPrivate: boolean
}
