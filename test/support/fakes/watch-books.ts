import type { VenueFeed, WatchedMarket } from '../../../engine/venues/venue.ts'

export function watchBooks(feed: VenueFeed, markets: readonly WatchedMarket[]): void {
  feed.watch(markets)
  feed.cover(markets.map(({ nativeId }) => nativeId))
}
