// Registers a single listener per signal for any number of callbacks. Signals live as long as their
// component, while callbacks come and go.

/** Callbacks by signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `action` once when `signal` aborts, or at once if it has aborted already. The returned function
 * unregisters it without a trace. `action` must not throw.
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    action()
    return () => undefined
  }
  const actions = waiting.get(signal) ?? listen(signal)
  // Makes each registration unique: the same function may be passed twice.
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
