// What the dispatcher knows of the network: one POST, one outcome, never an error. The implementation
// is engine/webhooks/caller.ts; tests bring their own.

import type { ReceiverAnswer } from './webhook.ts'

/** Of every post, beside its signature. */
export const POST_HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'Twinbook-Webhooks/1',
} as const

/** What came of one POST. */
export type PostOutcome =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** What `Retry-After` asked for (seconds or a date), ms from now, 0..86,400,000; null: nothing. */
      readonly retryAfterMs: number | null
      /** What of the answer is kept for the webhook's owner. */
      readonly answer?: ReceiverAnswer
    }
  | {
      readonly kind: 'failed'
      /**
       * 'refused': the address may not be called (not public, bad port, …). 'aborted': by the signal
       * or by stop().
       */
      readonly reason: 'refused' | 'timeout' | 'network' | 'tls' | 'aborted'
      /** For the owner's eyes, at most 200 characters; names no internal address. */
      readonly detail: string
    }

export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly signal: AbortSignal
}

/** Posts to addresses that users gave us. */
export interface Caller {
  /**
   * One attempt: 5 s to connect, 15 s in all, no redirect followed, at most 64 KiB of the answer
   * read. Never rejects.
   */
  post(request: PostRequest): Promise<PostOutcome>
  /** Ends every call under way with 'aborted' and closes the connections. */
  stop(): void
}

/** Where calls may go; both false outside of trials. */
export interface CallPolicy {
  /** WEBHOOK_ALLOW_HTTP */
  readonly allowsHttp: boolean
  /** WEBHOOK_ALLOW_PRIVATE: loopback and other addresses that are not public. */
  readonly allowsPrivate: boolean
}
