// All access to browser globals: time, timers, other tabs, URL, clipboard.

export type StopTimer = () => void

/** Unix milliseconds. */
export const nowMs = (): number => Date.now()

/** Milliseconds since an arbitrary origin; monotonic. */
export const monotonicMs = (): number => performance.now()

export function after(delayMs: number, action: () => void): StopTimer {
  const timer = setTimeout(action, delayMs)
  return () => clearTimeout(timer)
}

export function every(periodMs: number, action: () => void): StopTimer {
  const timer = setInterval(action, periodMs)
  return () => clearInterval(timer)
}

/** Runs `action` before the next frame. Browsers draw no frames while the tab is hidden. */
export function nextFrame(action: () => void): StopTimer {
  const frame = requestAnimationFrame(action)
  return () => cancelAnimationFrame(frame)
}

/** Returns a function that calls `listener` in all other tabs of this browser. Does nothing without BroadcastChannel. */
export function openTabChannel(name: string, listener: () => void): () => void {
  if (!('BroadcastChannel' in globalThis)) return () => undefined
  const channel = new BroadcastChannel(name)
  channel.addEventListener('message', listener)
  return () => channel.postMessage(null)
}

export const addressHash = (): string => location.hash

/** `isReplacing` replaces the current entry of the browser history. */
export function setAddressHash(hash: string, isReplacing = false): void {
  if (isReplacing) location.replace(hash)
  else location.hash = hash
}

/** Null if nothing is stored or the browser denies access to storage. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

/** Stores in this browser, for all tabs. Null removes the value. Does nothing if the browser denies access. */
export function store(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name)
    else localStorage.setItem(name, value)
  } catch {
    // The value is used until the tab closes.
  }
}

/** Calls `listener` when another tab changes the stored value. */
export function onStored(name: string, listener: () => void): void {
  addEventListener('storage', ({ key }) => (key === name || key === null ? listener() : undefined))
}

/** Sets a `data-` attribute of the root element. Null removes it. */
export function setRootData(name: string, value: string | null): void {
  const { dataset } = document.documentElement
  if (value === null) delete dataset[name]
  else dataset[name] = value
}

export function setTitle(title: string): void {
  document.title = title
}

export const isTabOnline = (): boolean => navigator.onLine

export const isTabHidden = (): boolean => document.hidden

/**
 * Returns a function that sends to the shared worker; null if the browser has no shared workers. If the worker does not
 * start, `onFailure` runs and `onMessage` is never called.
 */
export function openWorker<To, From>(
  name: string,
  onMessage: (message: From) => void,
  onFailure: () => void,
): ((request: To) => void) | null {
  const address = document.querySelector<HTMLMetaElement>('meta[name=stream-worker]')?.content
  if (address === undefined || !('SharedWorker' in globalThis)) return null
  const url = new URL(address, serverBase()).href
  try {
    // The Content-Security-Policy accepts script URLs only from its Trusted Types policy.
    const worker: SharedWorker = Reflect.construct(SharedWorker, [
      scriptAddress(url),
      { name, type: 'module' },
    ])
    worker.addEventListener('error', onFailure)
    worker.port.addEventListener('message', ({ data }: MessageEvent<From>) => onMessage(data))
    worker.port.start()
    return (request) => worker.port.postMessage(request)
  } catch {
    return null
  }
}

interface ScriptAddresses {
  createScriptURL(url: string): unknown
}

let addresses: ScriptAddresses | null = null

/** Wraps the worker's URL in a Trusted Type if the browser supports Trusted Types. */
function scriptAddress(url: string): unknown {
  const types: unknown = Reflect.get(globalThis, 'trustedTypes')
  if (!isPolicyMaker(types)) return url
  addresses ??= types.createPolicy('twinbook-worker', { createScriptURL: (text) => text })
  return addresses.createScriptURL(url)
}

function isPolicyMaker(types: unknown): types is {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): ScriptAddresses
} {
  return typeof types === 'object' && types !== null && 'createPolicy' in types
}

/**
 * Runs in the worker. Calls `attach` for each connecting tab, with a function that sends to the tab. `attach` returns
 * the handler of the tab's messages.
 */
export function onTab<To, From>(
  attach: (post: (message: From) => void) => (request: To) => void,
): void {
  addEventListener('connect', (event) => {
    const [port] = event instanceof MessageEvent ? event.ports : []
    if (port === undefined) return
    const onRequest = attach((message) => port.postMessage(message))
    port.addEventListener('message', ({ data }: MessageEvent<To>) => onRequest(data))
    port.start()
  })
}

/**
 * Base URL of the server with the path prefix of a proxy: `https://host/path/`. The worker's file is one folder deeper
 * than the page.
 */
export const serverBase = (): string =>
  new URL('document' in globalThis ? '.' : '..', location.href.replace(/[?#].*$/, '')).href

/** Saves a text as a file in the browser's download folder. */
export function saveFile(name: string, type: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  link.download = name
  link.click()
  // The browser reads the file after the click has been handled.
  after(SAVED_MS, () => URL.revokeObjectURL(link.href))
}

const SAVED_MS = 60_000

/** False if the browser denies access to the clipboard. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Click handler of a table row. Ignores clicks on controls in the row and clicks that end a text selection. */
export const onRowClick =
  (open: () => void) =>
  ({ target }: Event): void => {
    const isOwn = target instanceof Element && target.closest('a, button, input, label') !== null
    if (!isOwn && getSelection()?.isCollapsed !== false) open()
  }

/** Calls `action` when the key is pressed without modifiers and no input has the focus. */
export function onKey(key: string, action: () => void): StopTimer {
  const listener = (event: KeyboardEvent) => {
    const { target, ctrlKey, metaKey, altKey } = event
    const isTyping = target instanceof Element && target.matches('input, select, textarea')
    if (event.key !== key || isTyping || ctrlKey || metaKey || altKey) return
    event.preventDefault()
    action()
  }
  document.addEventListener('keydown', listener)
  return () => document.removeEventListener('keydown', listener)
}

export function onTabEvent(
  kind: 'hashchange' | 'visibilitychange' | 'online' | 'offline' | 'pagehide' | 'pageshow',
  listener: () => void,
): StopTimer {
  const target = kind === 'visibilitychange' ? document : window
  target.addEventListener(kind, listener)
  return () => target.removeEventListener(kind, listener)
}
