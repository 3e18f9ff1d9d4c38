// The only file of the client that touches the surroundings: timers, chance and the WebSocket that a
// browser (or a Node that has one) brings along. Everything is a parameter elsewhere, so that tests
// move the clock by hand.

/** Stops a timer; calling it again does nothing. */
export type StopTimer = () => void

/** Time, as the engine's clock gives it too. */
export interface ClientClock {
  /** Milliseconds since some moment; never goes back. */
  monotonicMs(): number
  /** Runs `action` once after `delayMs`. */
  after(delayMs: number, action: () => void): StopTimer
}

/** A float in [0, 1). */
export type Chance = () => number

/** What the client needs of a WebSocket: the browser's, Node's own, and `ws` all have it. */
export interface SocketLike {
  binaryType: string
  addEventListener(type: 'open', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { code: number; reason: string }) => void): void
  addEventListener(type: 'error', listener: (event: { message?: string }) => void): void
  send(text: string): void
  close(code?: number, reason?: string): void
  /** `ws` only: ends without waiting for the peer. */
  terminate?(): void
}

export type SocketConstructor = new (url: string) => SocketLike

/** The machine's timers. They keep a Node process alive, as an open connection would. */
export const ambientClock: ClientClock = {
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs)
    return () => clearTimeout(timer)
  },
}

/** The machine's chance. */
export const ambientChance: Chance = () => Math.random()

/** The surroundings' WebSocket; null in a Node without one, where `ws` must be handed in. */
export function ambientSocket(): SocketConstructor | null {
  const found: unknown = Reflect.get(globalThis, 'WebSocket')
  return isConstructor(found) ? found : null
}

function isConstructor(value: unknown): value is SocketConstructor {
  return typeof value === 'function'
}
