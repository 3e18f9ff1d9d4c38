// Records webhook posts. A receiver answers at once, after a delay of the manual clock, or never.

import type { Clock } from '../../../engine/clock.ts'
import type { Caller, PostOutcome, PostRequest } from '../../../engine/webhooks/post.ts'

export type Answer =
  | { readonly outcome: PostOutcome; readonly afterMs?: number }
  /** Like the real caller, times out after 15 s. */
  | 'hang'

export interface Post {
  readonly atMs: number
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  isAborted: boolean
}

const ABORTED: PostOutcome = { kind: 'failed', reason: 'aborted', detail: 'aborted' }
const TIMEOUT: PostOutcome = { kind: 'failed', reason: 'timeout', detail: 'no answer in 15 s' }
const TIMEOUT_MS = 15_000

export const answered = (status: number, retryAfterMs: number | null = null): Answer => ({
  outcome: { kind: 'answered', status, retryAfterMs },
})

export class FakeCaller implements Caller {
  readonly posts: Post[] = []
  /** Default: status 200. */
  answer: (post: Post) => Answer = () => answered(200)
  onPost: (post: Post) => void = () => undefined
  openCount = 0
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  to(url: string): readonly Post[] {
    return this.posts.filter((post) => post.url === url)
  }

  post({ url, headers, body, signal }: PostRequest): Promise<PostOutcome> {
    const text = Buffer.from(body).toString('utf8')
    const atMs = this.#clock.nowMs()
    const post: Post = { atMs, url, headers, body: text, isAborted: false }
    this.posts.push(post)
    this.openCount += 1
    this.onPost(post)
    const answer = this.answer(post)
    const { outcome, afterMs } =
      answer === 'hang'
        ? { outcome: TIMEOUT, afterMs: TIMEOUT_MS }
        : { outcome: answer.outcome, afterMs: answer.afterMs ?? 0 }
    return new Promise((resolve) => {
      const end = (what: PostOutcome) => {
        stopTimer()
        signal.removeEventListener('abort', abort)
        this.openCount -= 1
        resolve(what)
      }
      const abort = () => {
        post.isAborted = true
        end(ABORTED)
      }
      signal.addEventListener('abort', abort, { once: true })
      let stopTimer: () => void = () => undefined
      if (afterMs === 0) end(outcome)
      else stopTimer = this.#clock.after(afterMs, () => end(outcome))
    })
  }

  stop(): void {}
}
