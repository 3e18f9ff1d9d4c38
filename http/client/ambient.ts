// The only file of the client that accesses global timers, random numbers and `WebSocket`. Tests replace them.

export type StopTimer = () => void

export interface ClientClock {
  /** Milliseconds since an arbitrary origin; monotonic. */
  monotonicMs(): number
  after(delayMs: number, action: () => void): StopTimer
}

export type Chance = () => number

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

/** Null in a Node version without a global `WebSocket`. The caller must then pass the one of `ws`. */
export function ambientSocket(): SocketConstructor | null {
  const found: unknown = Reflect.get(globalThis, 'WebSocket')
  return isConstructor(found) ? found : null
}

function isConstructor(value: unknown): value is SocketConstructor {
  return typeof value === 'function'
}
