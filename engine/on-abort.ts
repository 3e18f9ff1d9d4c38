// One listener a signal, however many wait for its end: signals live as long as the part that owns
// them, while what waits comes and goes.

/** What is to be done at the end of each signal; goes with its signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `action` once when `signal` aborts, unless the returned function is called first; at once when
 * it has aborted already. An action that was called off leaves nothing behind. `action` must not throw.
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    action()
    return () => undefined
  }
  const actions = waiting.get(signal) ?? listen(signal)
  // The same function may be given twice.
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
