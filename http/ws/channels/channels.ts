// To add a channel, write its descriptor in this folder and list it here.

import { arbitrage } from './arbitrage.ts'
import { candles } from './candles.ts'
import type { Channel } from './channel.ts'
import { depth } from './depth.ts'
import { lifecycle } from './lifecycle.ts'
import { orderbook } from './orderbook.ts'
import { prices } from './prices.ts'
import { trades } from './trades.ts'
import { whales } from './whales.ts'

/** In document order. Each update is passed to the channels in this order. */
export const CHANNELS: readonly Channel[] = [
  orderbook,
  depth,
  prices,
  trades,
  whales,
  lifecycle,
  candles,
  arbitrage,
]
export const CHANNEL_NAMES: readonly string[] = CHANNELS.map(({ name }) => name)
