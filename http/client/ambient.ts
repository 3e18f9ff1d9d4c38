// The client's only access to global timers, random numbers and `WebSocket`. Other files take them as parameters, so
// that tests can use a fake clock.

/** Stops a timer; calling it again does nothing. */
export type StopTimer = () => void

export interface ClientClock {
  /** Milliseconds since an arbitrary origin; monotonic. */
  monotonicMs(): number
  /** Runs `action` once after `delayMs`. */
  after(delayMs: number, action: () => void): StopTimer
}

/** Returns a random number in [0, 1). */
export type Chance = () => number

/** The part of the WebSocket interface that the client uses. Browsers, Node and `ws` provide it. */
export interface SocketLike {
  binaryType: string
  addEventListener(type: 'open', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { code: number; reason: string }) => void): void
  addEventListener(type: 'error', listener: (event: { message?: string }) => void): void
  send(text: string): void
  close(code?: number, reason?: string): void
  /** `ws` only: closes without waiting for the peer. */
  terminate?(): void
}

export type SocketConstructor = new (url: string) => SocketLike

/** Timers of the runtime. They keep a Node process alive, as an open connection does. */
export const ambientClock: ClientClock = {
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs)
    return () => clearTimeout(timer)
  },
}

export const ambientChance: Chance = () => Math.random()

/** The global `WebSocket`; null in a Node version without one, where the caller must pass the one of `ws`. */
export function ambientSocket(): SocketConstructor | null {
  const found: unknown = Reflect.get(globalThis, 'WebSocket')
  return isConstructor(found) ? found : null
}

function isConstructor(value: unknown): value is SocketConstructor {
  return typeof value === 'function'
}
