// The account, its limits, and the requests left in the current minute. The dashboard has a separate quota;
// its state comes from the last response.

import { useEffect, useState } from 'preact/hooks'
import { type AnswerFacts, watchFacts } from '../../api.ts'
import { after, nowMs } from '../../browser.ts'
import { countText } from '../../format.ts'
import { html } from '../../html.ts'
import type { Me } from '../../records.ts'
import { whoAmI } from '../../session.ts'
import { useRequest } from '../request-state.ts'
import { Unanswered } from '../states.ts'
import { Time } from '../time.ts'

/** The server's value for "no limit". */
const UNLIMITED = 2_147_483_647
/** Length of a quota window. */
const WINDOW_MS = 60_000

export function AccountLimits() {
  const result = useRequest(whoAmI, [])
  const left = useLeft()
  return html`<section class="card stack" aria-labelledby="who">
    <h2 id="who">Profile</h2>
    <${Unanswered} result=${result} what="your account" />
    ${result.kind === 'answered' ? html`<${Facts} me=${result.answer} left=${left} />` : null}
  </section>`
}

interface Left {
  readonly limit: number
  readonly requests: number
  readonly atMs: number
}

function Facts({ me, left }: { readonly me: Me; readonly left: Left | null }) {
  const { user, limits } = me
  const { requests_per_minute: limit, websocket_connections: connections } = limits
  return html`<dl class="account-facts">
    <div><dt>Email</dt><dd class="email">${user.email}</dd></div>
    <div><dt>Plan</dt><dd><span class="tag">${user.tier}</span></dd></div>
    <div><dt>Member since</dt><dd><${Time} atMs=${user.created_at * 1_000} style="day" /></dd></div>
    <div><dt>Requests per minute</dt><dd>${limitText(limit)}</dd></div>
    <div><dt>Dashboard requests left this minute</dt><dd>${
      left === null
        ? html`<span class="muted">all</span>`
        : html`<meter min="0" max=${left.limit} low=${left.limit / 5} value=${left.requests} aria-label="Requests left for this dashboard"
            >${left.requests}</meter> <span data-left>${countText(left.requests)}</span>
            <small class="muted"> as of${' '}<${Time} atMs=${left.atMs} style="clock" /></small>`
    }</dd></div>
    <div><dt>Stream connections</dt><dd>${limitText(connections)}</dd></div>
  </dl>`
}

export const limitText = (limit: number): string =>
  limit >= UNLIMITED ? 'no limit' : countText(limit)

/**
 * Quota state of the last response; null after a whole window without a response, since this tab has then
 * used nothing.
 */
function useLeft(): Left | null {
  const [left, setLeft] = useState<Left | null>(null)
  useEffect(() => {
    let stop: () => void = () => undefined
    watchFacts(({ limit, remaining }: AnswerFacts) => {
      if (limit === null || remaining === null) return
      stop()
      setLeft({ limit, requests: remaining, atMs: nowMs() })
      stop = after(WINDOW_MS, () => setLeft(null))
    })
    return () => {
      stop()
      watchFacts(() => undefined)
    }
  }, [])
  return left
}
