// A trade that came without its wallet is known by its transaction: `<tx hash>-part-<n>`, n counting from 0 what its
// transaction has of such rows. A row of the same transaction that has the wallet finds them by these ids, also after a
// restart, and completes them. Not for: which row completes what (actors/market/trades.ts). Upholds MKT24.

/** The id of a transaction's n-th trade without a wallet. */
export function partId(txHash: string, n: number): string {
  return `${txHash}-part-${n}`
}

/** Whether a trade was stored as a part of its transaction; it stays one when its wallet becomes known. */
export function isPart(nativeId: string): boolean {
  return /-part-\d+$/.test(nativeId)
}
