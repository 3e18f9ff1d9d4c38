// How many streams are open at the server, from its metrics, which it shows only to its own machine unless it is told
// otherwise: elsewhere the figure is left out. Not for: the connection of this tab (connection-line.ts). Upholds DASH48.

import { useEffect, useState } from 'preact/hooks'
import { requestText } from '../../api.ts'
import { usePolled } from '../polled.ts'

const LOOK_MS = 5_000

/** The value of a gauge without labels in the text form of Prometheus; null when it is not there. */
export function gaugeIn(text: string, name: string): number | null {
  for (const line of text.split('\n')) {
    const [key, value] = line.split(' ', 2)
    if (key === name && value !== undefined && value !== '') return Number(value)
  }
  return null
}

const askConnections = async (signal: AbortSignal) =>
  gaugeIn(await requestText('/metrics', { signal }), 'stream_connections')

/** Open streams of all clients; null where the server does not say, which is then not asked again. */
export function useConnections(): number | null {
  const [isShown, setShown] = useState(true)
  const { answer, error } = usePolled(askConnections, { periodMs: LOOK_MS, isWanted: isShown })
  useEffect(() => {
    if (error !== null) setShown(false)
  }, [error])
  return isShown ? answer : null
}
