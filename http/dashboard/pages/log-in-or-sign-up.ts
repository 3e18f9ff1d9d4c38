// Page for visitors without a session. Field names are those that password managers expect. Values are read on submit,
// so that values filled in by a password manager are included.

import { useEffect, useRef, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { every, monotonicMs } from '../browser.ts'
import { durationText } from '../format.ts'
import { html } from '../html.ts'
import { Figures } from '../parts/figures.ts'
import {
  described,
  type Entry,
  entryRefusal,
  Field,
  FormProblem,
  useAction,
  useForm,
} from '../parts/forms.ts'
import { useRequest } from '../parts/requests.ts'
import { Failure } from '../parts/states.ts'
import { fullVenueText, venueText } from '../parts/venues.ts'
import type { Health } from '../records.ts'
import { type Ending, logIn, openLocal, signUp } from '../session.ts'

const ENDING_TEXTS: Readonly<Record<Ending, string | null>> = {
  never: null,
  left: 'You have logged out. This browser no longer stores any data of your account.',
  deleted: 'Your account is deleted, with its keys and its webhooks.',
  expired: 'Your session has ended. Log in to return to this page.',
}

interface LogInOrSignUpProps {
  readonly ending: Ending
  readonly isLocalOffered: boolean
}

export function LogInOrSignUpPage({ ending, isLocalOffered }: LogInOrSignUpProps) {
  const text = ENDING_TEXTS[ending]
  return html`<div class="welcome">
    <div class="stack">
      <${Welcome} />
      <p class="muted">
        An account is free and needs an email and a password. It gives you this dashboard and keys for${' '}
        the <a href="docs">API</a>.
      </p>
    </div>
    <div class="stack">
      ${text === null ? null : html`<p class="notice" role="status">${text}</p>`}
      ${isLocalOffered ? html`<${LocalEntry} />` : null}
      <${EntryForms} />
    </div>
  </div>`
}

/** Opens the local account, which has no password. Only a server on the viewer's machine offers it. */
function LocalEntry() {
  const action = useAction()
  return html`<section class="card stack" aria-labelledby="local">
    <h2 id="local">On this machine</h2>
    <p class="muted">Twinbook runs here, so its local account opens without signing up.</p>
    <p><button type="button" class="primary" aria-disabled=${action.isRunning} onClick=${() => action.run(openLocal)}>
      ${action.isRunning ? 'Opening…' : 'Open the dashboard'}
    </button></p>
    <${Failure} error=${action.error} />
  </section>`
}

const ENTRIES: Readonly<Record<Entry, { readonly name: string; readonly running: string }>> = {
  'log-in': { name: 'Log in', running: 'Logging in…' },
  'sign-up': { name: 'Sign up', running: 'Signing up…' },
}
const ORDER = ['log-in', 'sign-up'] as const

function EntryForms() {
  const [entry, setEntry] = useState<Entry>('log-in')
  const tabs = useRef<HTMLDivElement>(null)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
    const other = entry === 'log-in' ? 'sign-up' : 'log-in'
    setEntry(other)
    const tab = tabs.current?.querySelector(`#tab-${other}`)
    if (tab instanceof HTMLElement) tab.focus()
  }
  return html`<section class="card entry" aria-label="Your account">
    <div class="tabs row" role="tablist" ref=${tabs} onKeyDown=${onKeyDown}>
      ${ORDER.map(
        (name) => html`<button
          key=${name} type="button" role="tab" id=${`tab-${name}`} aria-controls="entry"
          aria-selected=${String(name === entry)} tabindex=${name === entry ? 0 : -1}
          onClick=${() => setEntry(name)}
        >${ENTRIES[name].name}</button>`,
      )}
    </div>
    <div role="tabpanel" id="entry" aria-labelledby=${`tab-${entry}`}>
      <${EntryForm} key=${entry} entry=${entry} />
    </div>
  </section>`
}

function EntryForm({ entry }: { readonly entry: Entry }) {
  const { attributes, isRunning, error, refusal } = useForm(
    (rejection) => entryRefusal(rejection, entry),
    (data) => {
      if (waitSeconds > 0) return null
      const email = String(data.get('email') ?? '').trim()
      const password = String(data.get('password') ?? '')
      const missing = new Map<string, string>()
      if (email === '') missing.set('email', 'Enter your email.')
      if (password === '') missing.set('password', 'Enter a password.')
      return missing.size > 0
        ? missing
        : () => (entry === 'log-in' ? logIn : signUp)(email, password)
    },
  )
  const waitSeconds = useCountdown(refusal.waitSeconds, error)
  const { name, running } = ENTRIES[entry]
  const label = waitSeconds > 0 ? `${name} in ${waitSeconds} s` : name
  return html`<form class="stack" ...${attributes}>
    <${EntryFields} entry=${entry} fields=${refusal.fields} />
    <${FormProblem} text=${refusal.form} />
    <button type="submit" class="primary" aria-disabled=${isRunning || waitSeconds > 0}>${isRunning ? running : label}</button>
  </form>`
}

interface EntryFieldsProps {
  readonly entry: Entry
  readonly fields: ReadonlyMap<string, string>
}

function EntryFields({ entry, fields }: EntryFieldsProps) {
  const [isShown, setShown] = useState(false)
  const isNew = entry === 'sign-up'
  const email = { id: 'email', problem: fields.get('email') ?? null }
  const hint = isNew ? 'At least 8 characters.' : null
  const password = { id: 'password', hint, problem: fields.get('password') ?? null }
  return html`
    <${Field} ...${email} label="Email">
      <input
        ...${described(email)} name="email" type="text" inputmode="email" autocomplete="username"
        autocapitalize="none" spellcheck=${false} maxlength="300" required
      />
    <//>
    <${Field} ...${password} label="Password">
      <span class="row joined">
        <input
          ...${described(password)} name="password" type=${isShown ? 'text' : 'password'}
          autocomplete=${isNew ? 'new-password' : 'current-password'}
          autocapitalize="none" spellcheck=${false} required
        />
        <button
          type="button" class="quiet" aria-pressed=${String(isShown)} aria-label="Show the password"
          onClick=${() => setShown(!isShown)}
        >Show</button>
      </span>
    <//>
  `
}

/** A new `cause` restarts the countdown. */
function useCountdown(seconds: number, cause: unknown): number {
  const [leftSeconds, setLeft] = useState(0)
  useEffect(() => {
    setLeft(seconds)
    if (seconds === 0) return undefined
    const endMs = monotonicMs() + seconds * 1_000
    const left = () => Math.max(0, Math.ceil((endMs - monotonicMs()) / 1_000))
    return every(500, () => setLeft(left()))
  }, [cause, seconds])
  return leftSeconds
}

/** Requests of /health need no session and have no rate limit. */
const PERIOD_MS = 5_000
const fetchHealth = (signal: AbortSignal) => request<Health>('/health', { signal })

function Welcome() {
  const { latest: answer } = useRequest(fetchHealth, [], { periodMs: PERIOD_MS })
  return html`
    <h1>Twinbook</h1>
    <p>
      Two prediction markets, one screen: every market’s live order book, price and trades, in one form. Twinbook finds the
      questions that both venues ask, and shows what their prices differ by after fees.
    </p>
    ${picture(Object.keys(answer?.exchanges ?? {}).map(venueText))}
    ${
      answer === null
        ? null
        : html`<section aria-label="Right now"><${Figures} of=${[
            ...Object.entries(answer.exchanges).map(
              ([venue, isLive]) => [fullVenueText(venue), isLive ? 'Live' : 'Connecting'] as const,
            ),
            ['Server delay', durationText(answer.delay_ms)],
            ['Uptime', durationText(answer.uptime_s * 1_000)],
          ]} /></section>`
    }
  `
}

const picture = ([
  one = 'One venue',
  other = 'The other',
]: readonly string[]) => html`<svg class="picture" viewBox="0 0 400 120" role="img"
  aria-label="A drawing: the order books of one question at two venues, side by side, and the gap between their best prices">
  <g class="frame"><rect x="1" y="1" width="140" height="118" rx="10" /><rect x="259" y="1" width="140" height="118" rx="10" /></g>
  <g class="words"><text x="71" y="22">${one}</text><text x="329" y="22">${other}</text></g>
  <g class="bars down"><path d="M20 40H122M20 50H98M20 60H64" /><path d="M278 34H368M278 44H336" /></g>
  <g class="bars up"><path d="M20 86H52M20 96H88M20 106H110" /><path d="M278 70H306M278 80H346M278 90H362M278 100H380" /></g>
  <path d="M150 60C190 60 210 70 250 70M242 63l8 7-8 7" /><text class="gap" x="200" y="48">gap</text>
</svg>`
