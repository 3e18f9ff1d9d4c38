// Which markets the tape records, as TAPE_MARKETS states.

import { parseUsd, type UsdMicros } from './units.ts'

export type TapeSelection =
  | { readonly kind: 'all' }
  /** Markets with at least this 24-hour volume at the begin of an hour, or at their first update in it. */
  | { readonly kind: 'minVolume'; readonly volume: UsdMicros }
  /** Public ids in lower case. */
  | { readonly kind: 'markets'; readonly ids: ReadonlySet<string> }

export const TAPE_MARKETS_ACCEPTS = '"*", min_volume:USD, or a comma list of market ids'
const IDS_MAX = 10_000

/** Null: the text is none of the accepted forms. */
export function readTapeSelection(text: string): TapeSelection | null {
  if (text.trim() === '*') return { kind: 'all' }
  const volumeText = /^\s*min_volume:(.*)$/i.exec(text)?.[1]
  if (volumeText !== undefined) {
    const volume = parseUsd(volumeText.trim())
    return volume === null || volume < 0 ? null : { kind: 'minVolume', volume }
  }
  const ids = text.split(',').map((id) => id.trim().toLowerCase())
  const areIds = ids.length <= IDS_MAX && ids.every((id) => /^[^\s:*]+_[^\s:*]+$/.test(id))
  return areIds ? { kind: 'markets', ids: new Set(ids) } : null
}
