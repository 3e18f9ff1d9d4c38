/** Sets an entry as the newest of a map, and removes the oldest entries above `countMax`. */
export function putLast<Key, Value>(
  map: Map<Key, Value>,
  [key, value]: readonly [Key, Value],
  countMax: number,
): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= countMax) return
    map.delete(oldest)
  }
}
