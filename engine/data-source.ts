/** Origin of all market data of a process. */
export const DATA_SOURCES = ['simulated', 'live', 'replay'] as const
export type DataSource = (typeof DATA_SOURCES)[number]
