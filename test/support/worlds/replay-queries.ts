import type { ReplayChannel, ReplayQuery } from '../../../actors/views.ts'

/** The query of a request for channels of all markets. */
export function replayOf(
  channels: readonly ReplayChannel[],
  set: Pick<ReplayQuery, 'fromUs' | 'toUs'> & Partial<ReplayQuery>,
): ReplayQuery {
  return {
    selections: channels.map((channel) => ({ channel, platforms: null, markets: null })),
    ...{ format: 'ndjson', states: 'send', isTimed: false, isGzip: false, fromOffset: null },
    ...set,
  }
}
