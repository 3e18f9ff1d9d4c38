/** Removes and returns the first items of a set, at most `count`. */
export function takeFirst<Item>(items: Set<Item>, count: number): Item[] {
  const taken: Item[] = []
  for (const item of items) {
    if (taken.length >= count) break
    items.delete(item)
    taken.push(item)
  }
  return taken
}
