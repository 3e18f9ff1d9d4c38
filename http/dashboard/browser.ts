// The only file of the dashboard that touches the tab around it: time, timers, what the tab remembers, its address,
// the clipboard. Not for: requests (api.ts) or the stream (stream.ts). Upholds DASH2.

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

/** What this tab remembers until it is closed; other tabs do not see it. Null: nothing. */
export function recall(name: string): string | null {
  try {
    return sessionStorage.getItem(name)
  } catch {
    // A browser that keeps nothing: the tab works until it is reloaded.
    return null
  }
}

/** Null forgets. */
export function remember(name: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, text)
  } catch {
    // As above.
  }
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

/** Where the server is: `https://host/path/` with the path that a proxy may have put before `dashboard`. */
export const serverBase = (): string => new URL('.', location.href.replace(/[?#].*$/, '')).href

/** Copies a text; false where the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Calls `listener` whenever the address's hash, the tab's visibility or the network's presence changes. */
export function onTabEvent(
  kind: 'hashchange' | 'visibilitychange' | 'online' | 'offline',
  listener: () => void,
): StopTimer {
  const target = kind === 'visibilitychange' ? document : window
  target.addEventListener(kind, listener)
  return () => target.removeEventListener(kind, listener)
}
