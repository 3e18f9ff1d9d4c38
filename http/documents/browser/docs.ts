// Browser script of the API reference. The page is complete without the script. Keys that users enter are stored only
// in their input fields.

const SHOWN_CHARACTERS_MAX = 20_000
const SHOWN_MESSAGES_MAX = 20

const base = new URL('.', location.href.replace(/[?#].*$/, ''))

function byId<E extends Element>(id: string, kind: new () => E): E {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`)
  return found
}

const search = byId('search', HTMLInputElement)
const found = byId('found', HTMLElement)
const credential = byId('credential', HTMLInputElement)
const who = byId('who', HTMLElement)
const trouble = byId('trouble', HTMLElement)
const makeKey = byId('make-key', HTMLButtonElement)
const openLocal = byId('open-local', HTMLButtonElement)

let isIn = false

function applySearch(): void {
  const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  let count = 0
  const matching = new Set<string>()
  for (const entry of document.querySelectorAll<HTMLElement>('[data-entry]')) {
    const id = entry.dataset.entry ?? ''
    const text = `${id} ${entry.querySelector('summary')?.textContent ?? ''}`.toLowerCase()
    entry.hidden = !terms.every((term) => text.includes(term))
    if (entry.hidden) continue
    count += 1
    matching.add(id)
  }
  for (const item of document.querySelectorAll<HTMLElement>('[data-of]'))
    item.hidden = !matching.has(item.dataset.of ?? '')
  for (const group of document.querySelectorAll<HTMLElement>('[data-group]'))
    group.hidden = terms.length > 0 && group.querySelector(SHOWN) === null
  found.textContent = terms.length === 0 ? '' : `${count} found`
}

const SHOWN = '[data-entry]:not([hidden]), [data-of]:not([hidden])'

/** Opens the entry in the URL's hash. Some browsers do not open it. */
function unfold(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const entry = target?.closest('details')
  if (entry === null || entry === undefined || target === null) return
  entry.hidden = false
  if (entry.open) return
  entry.open = true
  target.scrollIntoView()
}

search.addEventListener('input', applySearch)
addEventListener('hashchange', unfold)
addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event
  const isTyping = target instanceof Element && target.matches('input, select, textarea')
  if (key !== '/' || isTyping || ctrlKey || metaKey || altKey) return
  event.preventDefault()
  search.focus()
})
unfold()

/** A token consists of three parts separated by dots. A key has no dot. */
const isToken = (text: string): boolean => text.includes('.')

/** Credential headers of a request. The server accepts the session cookie only with `X-Dashboard`. */
function allowed(access: string): Readonly<Record<string, string>> {
  const text = credential.value.trim()
  if (text === '' || (access === 'token' && !isToken(text) && isIn)) return { 'X-Dashboard': '1' }
  return isToken(text) || access === 'token'
    ? { Authorization: `Bearer ${text}` }
    : { 'X-API-Key': text }
}

const AS_USER = { 'X-Dashboard': '1' }

async function fetchJson(path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(new URL(path, base), init)
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer
  throw new Error(`${response.status} ${textAt(answer, 'detail') || response.statusText}`)
}

function valueAt(answer: unknown, ...names: readonly (string | number)[]): unknown {
  return names.reduce<unknown>((value, name) => {
    return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
  }, answer)
}

function textAt(answer: unknown, ...names: readonly (string | number)[]): string {
  const value = valueAt(answer, ...names)
  return typeof value === 'string' ? value : ''
}

function showSession(answer: unknown): void {
  const email = textAt(answer, 'user', 'email')
  isIn = valueAt(answer, 'user', 'id') !== undefined
  const offered = valueAt(answer, 'local_account') === true
  makeKey.hidden = !isIn
  openLocal.hidden = isIn || !offered
  who.textContent = isIn
    ? `You are logged in as ${email}: requests are sent as you, without a key. Make one to have it in the lines for a shell.`
    : offered
      ? 'Use the local account, or paste a key of yours.'
      : 'Log in at the dashboard, or paste a key of yours.'
}

const errorText = (error: unknown): string =>
  error instanceof Error ? error.message : 'the server does not answer'

async function act(button: HTMLButtonElement, action: () => Promise<void>): Promise<void> {
  if (button.ariaDisabled === 'true') return
  button.ariaDisabled = 'true'
  trouble.textContent = ''
  await action().catch((error: unknown) => {
    trouble.textContent = errorText(error)
  })
  button.ariaDisabled = null
}

openLocal.addEventListener('click', () =>
  act(openLocal, async () => {
    showSession(await fetchJson('v1/auth/session', { method: 'POST', headers: AS_USER }))
  }),
)

makeKey.addEventListener('click', () =>
  act(makeKey, async () => {
    const headers = { ...AS_USER, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ label: 'reference page', scopes: ['read', 'webhooks'] })
    credential.value = textAt(await fetchJson('v1/keys', { method: 'POST', headers, body }), 'key')
    who.textContent = 'The new key is filled in; it can be revoked at the dashboard, under Account.'
    drawLines()
  }),
)

void fetchJson('v1/auth/session', { headers: AS_USER })
  .then(showSession)
  .catch((error: unknown) => {
    trouble.textContent = errorText(error)
  })

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

interface FormRequest {
  readonly url: URL
  readonly init: RequestInit & { readonly headers: Readonly<Record<string, string>> }
}

const fieldsOf = (form: HTMLFormElement): readonly Field[] => [
  ...form.querySelectorAll<Field>('[data-in]'),
]

function requestOf(form: HTMLFormElement): FormRequest {
  const { method = 'GET', path = '/', access = 'caller' } = form.dataset
  const headers: Record<string, string> = { ...allowed(access) }
  const query = new URLSearchParams()
  let body: string | null = null
  let filled = path
  for (const field of fieldsOf(form)) {
    const value = field.value.trim()
    const part = field.dataset.in
    if (value === '') continue
    if (part === 'path') filled = filled.replace(`{${field.name}}`, encodeURIComponent(value))
    else if (part === 'query') query.set(field.name, value)
    else if (part === 'header') headers[field.name] = value
    else body = value
  }
  if (body !== null) headers['Content-Type'] = 'application/json'
  const url = new URL(filled.slice(1), base)
  url.search = query.toString()
  return { url, init: { method, headers, body } }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** `$KEY` or `$TOKEN` replaces a browser session, which a shell cannot use. */
function shellLine(form: HTMLFormElement): string {
  const { url, init } = requestOf(form)
  const { method = 'GET', headers, body } = init
  const isOpen = form.dataset.access === 'public'
  const written = Object.entries(headers).flatMap(([name, value]) => {
    if (name !== 'X-Dashboard') return [`-H ${quoted(`${name}: ${value}`)}`]
    if (isOpen) return []
    return [
      form.dataset.access === 'token'
        ? '-H "Authorization: Bearer $TOKEN"'
        : '-H "X-API-Key: $KEY"',
    ]
  })
  const verb = method === 'GET' ? [] : [`-X ${method}`]
  const data = typeof body === 'string' ? [`-d ${quoted(body)}`] : []
  return ['curl', ...verb, quoted(url.href), ...written, ...data].join(' ')
}

const forms = [...document.querySelectorAll<HTMLFormElement>('form[data-path]')]

function drawLine(form: HTMLFormElement): void {
  const output = form.querySelector('[data-line]')
  if (output !== null) output.textContent = shellLine(form)
}

/** Updates the commands of open forms. Closed forms are updated when they open. */
function drawLines(): void {
  for (const form of forms) if (form.closest('details')?.open === true) drawLine(form)
}

/** A request that returns a value for the parameter, and the path of the value in the response. */
const REAL: Readonly<Record<string, readonly [path: string, ...names: (string | number)[]]>> = {
  market_id: ['v1/markets?limit=1', 'markets', 0, 'id'],
  market_ids: ['v1/markets?limit=1', 'markets', 0, 'id'],
  slug: ['v1/events?limit=1&include_markets=false', 'events', 0, 'slug'],
  address: ['v1/wallets?limit=1', 'wallets', 0, 'address'],
  opportunity_id: ['v1/arbitrage?limit=1', 'opportunities', 0, 'id'],
  webhook_id: ['v1/webhooks', 'webhooks', 0, 'id'],
}

/** Replaces default values of required fields by values that exist on the server. Does not change edited fields. */
async function fillIn(form: HTMLFormElement): Promise<void> {
  for (const field of form.querySelectorAll<HTMLInputElement>('input[required]')) {
    const [path, ...names] = REAL[field.name] ?? []
    if (path === undefined || field.value !== field.defaultValue) continue
    const answer = await fetchJson(path, { headers: allowed('caller') }).catch(() => null)
    const real = textAt(answer, ...names)
    if (real === '' || field.value !== field.defaultValue) continue
    field.value = real
    drawLine(form)
  }
}

function shown(text: string, isJson: boolean): string {
  const full = isJson ? indented(text) : text
  if (full.length <= SHOWN_CHARACTERS_MAX) return full
  return `${full.slice(0, SHOWN_CHARACTERS_MAX)}\n… ${full.length - SHOWN_CHARACTERS_MAX} characters more`
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const SHOWN_HEADERS = /^(?:x-|retry-after$|etag$|content-type$)/

async function send(form: HTMLFormElement): Promise<void> {
  const output = form.querySelector('[data-answer]')
  if (output === null) return
  const { url, init } = requestOf(form)
  const line = document.createElement('p')
  const body = document.createElement('pre')
  line.textContent = 'Asking…'
  output.replaceChildren(line)
  const startMs = performance.now()
  try {
    const response = await fetch(url, init)
    const text = await response.text()
    const type = response.headers.get('content-type') ?? ''
    line.textContent = `${response.status} ${response.statusText}, ${Math.round(performance.now() - startMs)} ms`
    const shownHeaders = [...response.headers].filter(([name]) => SHOWN_HEADERS.test(name))
    const head = shownHeaders.map(([name, value]) => `${name}: ${value}`).join('\n')
    body.textContent = `${head}\n\n${shown(text, type.includes('json'))}`
    output.append(body)
  } catch (error) {
    line.textContent = errorText(error)
  }
}

for (const form of forms) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(form)
  })
  form.addEventListener('input', () => drawLine(form))
  form.closest('details')?.addEventListener('toggle', ({ currentTarget }) => {
    if (!(currentTarget instanceof HTMLDetailsElement) || !currentTarget.open) return
    drawLine(form)
    void fillIn(form)
  })
  // The URL's hash may have opened the entry before the listener was added.
  if (form.closest('details')?.open === true) drawLine(form)
  const copy = form.querySelector<HTMLButtonElement>('[data-copy]')
  copy?.addEventListener('click', () =>
    act(copy, async () => {
      await navigator.clipboard.writeText(shellLine(form))
      copy.textContent = 'Copied'
    }),
  )
}
credential.addEventListener('input', drawLines)

const stream = document.querySelector<HTMLFormElement>('form[data-stream]')
let socket: WebSocket | null = null

/** Opens a connection and sends the form's text. A ticket keeps the credential out of the URL. */
async function connect(form: HTMLFormElement, onMessage: (text: string) => void): Promise<void> {
  socket?.close()
  const answer = await fetchJson('v1/ws/ticket', { method: 'POST', headers: allowed('caller') })
  const url = new URL((form.dataset.stream ?? '').slice(1), base)
  url.protocol = url.protocol.replace('http', 'ws')
  url.searchParams.set('ticket', textAt(answer, 'ticket'))
  const opened = new WebSocket(url)
  socket = opened
  opened.addEventListener('open', () => {
    opened.send(form.querySelector('textarea')?.value ?? '')
  })
  opened.addEventListener('message', ({ data }) => onMessage(String(data)))
  opened.addEventListener('close', ({ code, reason }) => onMessage(`closed: ${code} ${reason}`))
}

if (stream !== null) {
  const output = stream.querySelector('[data-answer]')
  const list = document.createElement('pre')
  const lines: string[] = []
  const appendLine = (text: string) => {
    lines.push(text.slice(0, SHOWN_CHARACTERS_MAX / SHOWN_MESSAGES_MAX))
    if (lines.length > SHOWN_MESSAGES_MAX) lines.shift()
    list.textContent = lines.join('\n')
  }
  stream.addEventListener('submit', (event) => {
    event.preventDefault()
    output?.replaceChildren(list)
    lines.length = 0
    appendLine('Connecting…')
    connect(stream, appendLine).catch((error: unknown) => appendLine(errorText(error)))
  })
  stream.querySelector('[data-stop]')?.addEventListener('click', () => socket?.close())
}
