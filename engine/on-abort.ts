// Registers a single listener per signal for any number of callbacks. Otherwise callbacks would accumulate on signals
// that live as long as the process.

const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `action` when `signal` aborts, or at once if it has aborted already. The returned function removes the
 * callback. `action` must not throw.
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    action()
    return () => undefined
  }
  const actions = waiting.get(signal) ?? listen(signal)
  // A new function makes each registration unique, because the same action may be registered twice.
  const call = () => action()
  actions.add(call)
  return () => void actions.delete(call)
}

function listen(signal: AbortSignal): Set<() => void> {
  const actions = new Set<() => void>()
  waiting.set(signal, actions)
  const end = () => {
    for (const action of actions) {
      actions.delete(action)
      action()
    }
  }
  signal.addEventListener('abort', end, { once: true })
  return actions
}
