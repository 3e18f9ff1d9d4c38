export function takeFirst<Item>(items: Set<Item>, count: number): Item[] {
  const taken: Item[] = []
  for (const item of items) {
    if (taken.length >= count) break
    items.delete(item)
    taken.push(item)
  }
  return taken
}
