// How many streams are open at the server, from its metrics, which it shows only to its own machine unless it is told
// otherwise: elsewhere the figure is left out. Not for: the connection of this tab (connection-line.ts). Upholds DASH48.

import { useEffect, useState } from 'preact/hooks'
import { requestText } from '../api.ts'
import { every } from '../browser.ts'

const LOOK_MS = 5_000

/** The value of a gauge without labels in the text form of Prometheus; null when it is not there. */
export function gaugeIn(text: string, name: string): number | null {
  for (const line of text.split('\n')) {
    const [key, value] = line.split(' ', 2)
    if (key === name && value !== undefined && value !== '') return Number(value)
  }
  return null
}

/** Open streams of all clients; null where the server does not say. */
export function useConnections(): number | null {
  const [count, setCount] = useState<number | null>(null)
  const [isShown, setShown] = useState(true)
  useEffect(() => {
    if (!isShown) return undefined
    const ending = new AbortController()
    const look = () => {
      requestText('/metrics', { signal: ending.signal }).then(
        (text) => setCount(gaugeIn(text, 'stream_connections')),
        // Not for this machine, or not now: whoever looks again sees it again.
        () => ending.signal.aborted || setShown(false),
      )
    }
    look()
    const stop = every(LOOK_MS, look)
    return () => {
      stop()
      ending.abort()
    }
  }, [isShown])
  return isShown ? count : null
}
