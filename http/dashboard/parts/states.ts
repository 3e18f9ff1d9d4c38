import { useEffect, useRef } from 'preact/hooks'
import { ApiError } from '../api.ts'
import { after, every, isTabHidden, onTabEvent } from '../browser.ts'
import { capital, durationText } from '../format.ts'
import { html, type Shown } from '../html.ts'
import { streamState } from '../stream.ts'

/** The role makes screen readers announce the text. */
export const Waiting = ({ what }: { readonly what: string }) =>
  html`<p class="state waiting" role="status">Loading ${what}…</p>`

const EMPTY_MS = 5_000

/** Calls `again` periodically while the empty list is shown. */
export function Empty({
  children,
  again,
}: {
  readonly children?: Shown
  readonly again?: () => void
}) {
  // Reloads must call the function of the latest render.
  const latest = useRef(again)
  latest.current = again
  useEffect(() => {
    if (latest.current === undefined) return undefined
    return every(EMPTY_MS, () => (isTabHidden() ? undefined : latest.current?.()))
  }, [])
  return html`<p class="state empty">${children}</p>`
}

/**
 * Retries when the connection is back, or after the server's `Retry-After`. Renders nothing if `error` is null.
 * Has a button if `retry` is given.
 */
export function Failure({
  error,
  retry,
}: {
  readonly error: unknown
  readonly retry?: () => void
}) {
  useEffect(() => {
    if (retry === undefined || !(error instanceof ApiError)) return undefined
    if (error.status === 0) return onReconnect(retry)
    const { retryAfterSeconds: wait } = error
    return wait === null ? undefined : after(wait * 1_000, retry)
  }, [error])
  if (error === null) return null
  const { title, detail } = describeError(error)
  return html`<div class="state failure" role="alert">
    <strong>${title}</strong> <span>${detail}</span>
    ${retry === undefined ? null : html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`
}

/** Calls `action` whenever the stream or the browser's network is back. Returns a cancel function. */
export function onReconnect(action: () => void): () => void {
  let wasLive = streamState.value.state === 'live'
  const stopStream = streamState.subscribe(() => {
    const isLive = streamState.value.state === 'live'
    if (isLive && !wasLive) action()
    wasLive = isLive
  })
  const stopOnline = onTabEvent('online', action)
  return () => {
    stopStream()
    stopOnline()
  }
}

export function describeError(error: unknown): { readonly title: string; readonly detail: string } {
  if (!(error instanceof ApiError)) return { title: 'This page failed.', detail: String(error) }
  if (error.status === 0) return { title: 'No connection.', detail: error.message }
  if (error.status === 401) return { title: 'Not logged in.', detail: error.message }
  if (error.status === 404) return { title: 'Not found.', detail: error.message }
  if (error.status === 429) {
    const wait = error.retryAfterSeconds
    const when = wait === null ? '' : ` Again in ${durationText(wait * 1_000)}.`
    return {
      title: 'Too many requests for this account.',
      detail: `${capital(error.message)}.${when}`,
    }
  }
  if (error.status >= 500) return { title: 'The server could not answer.', detail: error.message }
  const summary = [...error.fields.values()].map(problemText).join(' ')
  return {
    title: 'The server did not accept this.',
    detail: summary === '' ? error.message : summary,
  }
}

/** Rewords a validation message of the server for users. */
export function problemText(message: string): string {
  const text = message.replace(/^value error, |^value is not a valid email address: /i, '')
  for (const [pattern, toText] of PLAIN) {
    const found = pattern.exec(text)
    if (found !== null) return toText(found[1] ?? '', found[2] ?? '')
  }
  return sentence(text)
}

const PLAIN: readonly (readonly [RegExp, (first: string, second: string) => string])[] = [
  [/^Input should be greater than or equal to (\S+)$/, (least) => `Enter ${least} or more.`],
  [/^Input should be less than or equal to (\S+)$/, (most) => `Enter ${most} or less.`],
  [/^Input should be greater than (\S+)$/, (bound) => `Enter more than ${bound}.`],
  [/^Input should be less than (\S+)$/, (bound) => `Enter less than ${bound}.`],
  [/^Input should be a valid integer/, () => 'Enter a whole number.'],
  [/^Input should be a (?:valid|finite) number/, () => 'Enter a number.'],
  [/^Input should be a valid (?:string|boolean|list|dictionary)/, () => 'This is not accepted.'],
  [/^Input should be ('.+)$/, (choices) => `Choose ${choices.replaceAll("'", '')}.`],
  [/^String should have at least (\d+)/, (least) => `Enter ${least} or more characters.`],
  [/^String should have at most (\d+)/, (most) => `Enter at most ${most} characters.`],
  [/^String should match pattern/, () => 'This does not have the required form.'],
  [/^List should have at most (\d+)/, (most) => `Enter at most ${most}.`],
  [/^List should have at least (\d+)/, (least) => `Enter ${least} or more.`],
  [/^Field required$/, () => 'This is required.'],
]

export function sentence(text: string): string {
  const capitalized = capital(text)
  return /^$|[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`
}
