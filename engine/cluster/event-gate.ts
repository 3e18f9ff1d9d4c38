// Holds venue events back after a pause of the process until the lease is checked, because another engine may have
// taken the lease during the pause.

/** Maximum waiting events. Above the limit, all events are passed on without waiting for the check. */
export const waitingEventsMax = 262_144

/**
 * Passes events to `take` in order, or discards them if the lease is lost. `confirm` returns null while the lease is
 * certainly held. Otherwise it returns a promise that resolves to whether the lease is held.
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
