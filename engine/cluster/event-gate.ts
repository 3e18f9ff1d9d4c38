// A gate between the venues and the leader. After a pause of the process, in which another engine may have
// taken the lease, events wait until the lease is checked. A deposed engine would store trades that no
// reader of the log ever receives.

/** Maximum number of waiting events. Beyond it, they are passed on unchecked. */
export const waitingEventsMax = 262_144

/**
 * Passes events to `take` in order, or discards them once the lease is known to be lost. `confirm` returns null while
 * the lease is certain. Otherwise it resolves with whether the lease is still held.
 */
export function gated<Event>(
  confirm: () => Promise<boolean> | null,
  take: (event: Event) => void,
): (event: Event) => void {
  let waiting: Event[] | null = null
  let isLost = false
  const open = (isHeld: boolean) => {
    const events = waiting ?? []
    waiting = null
    isLost ||= !isHeld
    if (!isLost) for (const event of events) take(event)
  }
  return (event) => {
    const confirming = confirm()
    if (isLost) return
    if (waiting === null && confirming === null) return take(event)
    if (waiting === null) {
      waiting = []
      void confirming?.then(open)
    }
    waiting.push(event)
    if (waiting.length > waitingEventsMax) open(true)
  }
}
