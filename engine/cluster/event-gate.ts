// A gate between the venues and the leader. After a pause of the process, in which another engine may have
// taken the lease, events wait until the lease is checked. A deposed engine would store trades that no
// reader of the log ever receives.

/** Maximum number of waiting events. Beyond it, they are passed on unchecked. */
export const waitingEventsMax = 262_144

interface GateParts {
  /** Null while the lease is certain. Otherwise resolves with whether it is still held. */
  readonly confirm: () => Promise<boolean> | null
}

/** Passes events to `take` in order, or discards them once the lease is known to be lost. */
export function gated<Event>(
  { confirm }: GateParts,
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
