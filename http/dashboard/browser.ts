// The only file of the dashboard that touches the tab around it: time, timers, other tabs, its address, the clipboard.

/** Stops a timer; calling it again does nothing. */
export type StopTimer = () => void

/** Calendar time in Unix milliseconds. */
export const nowMs = (): number => Date.now()

/** Milliseconds since some moment; never goes back. */
export const monotonicMs = (): number => performance.now()

/** Runs `action` once after `delayMs`. */
export function after(delayMs: number, action: () => void): StopTimer {
  const timer = setTimeout(action, delayMs)
  return () => clearTimeout(timer)
}

/** Runs `action` every `periodMs` until stopped. */
export function every(periodMs: number, action: () => void): StopTimer {
  const timer = setInterval(action, periodMs)
  return () => clearInterval(timer)
}

/** Runs `action` before the next picture is drawn; not at all while the tab is hidden. */
export function nextFrame(action: () => void): StopTimer {
  const frame = requestAnimationFrame(action)
  return () => cancelAnimationFrame(frame)
}

/** What the tabs of this browser say to each other under a name; `hear` is called for what the others say, where the browser can. */
export function openTabChannel(name: string, listener: () => void): () => void {
  if (!('BroadcastChannel' in globalThis)) return () => undefined
  const channel = new BroadcastChannel(name)
  channel.addEventListener('message', listener)
  return () => channel.postMessage(null)
}

/** The part of the tab's address behind `#`. */
export const addressHash = (): string => location.hash

/** Goes to another place of the dashboard; replaced, the browser's back button passes over the one before. */
export function setAddressHash(hash: string, isReplacing = false): void {
  if (isReplacing) location.replace(hash)
  else location.hash = hash
}

/** What the tab is called. */
export function setTitle(title: string): void {
  document.title = title
}

/** Whether the browser knows of a network. */
export const isTabOnline = (): boolean => navigator.onLine

/** Whether the tab is in the background. */
export const isTabHidden = (): boolean => document.hidden

/**
 * A seat at the worker that all tabs of the browser share under this name; returns how to post to it, null where the
 * browser has no such workers. `onFailure`: the worker could not be begun, and `hear` will not be called.
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
    // The page's policy takes an address of a script from its one maker of such addresses alone.
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

/** In a browser that knows trusted types, one that the policy admits; only that of the worker is ever made. */
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

/** In the worker itself: calls `attach` for each tab that comes, with the way to post to it; it returns who hears the tab. */
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
 * Where the server is: `https://host/path/` with the path that a proxy may have put before `dashboard`. The worker's own
 * file is one folder deeper than the page.
 */
export const serverBase = (): string =>
  new URL('document' in globalThis ? '.' : '..', location.href.replace(/[?#].*$/, '')).href

/** Copies a text; false where the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/**
 * What a row does at a click anywhere in it: `open`, but not where something of its own is clicked, or a text was selected.
 * The keyboard has the row's button.
 */
export const onRowClick =
  (open: () => void) =>
  ({ target }: Event): void => {
    const isOwn = target instanceof Element && target.closest('a, button, input, label') !== null
    if (!isOwn && getSelection()?.isCollapsed !== false) open()
  }

/** Calls `action` when a key is pressed alone while nothing is typed into. */
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

/** Calls `listener` whenever the address's hash, the tab's visibility or the network's presence changes. */
export function onTabEvent(
  kind: 'hashchange' | 'visibilitychange' | 'online' | 'offline' | 'pagehide' | 'pageshow',
  listener: () => void,
): StopTimer {
  const target = kind === 'visibilitychange' ? document : window
  target.addEventListener(kind, listener)
  return () => target.removeEventListener(kind, listener)
}
