// Addresses that a venue gives, for links out of the page. Upholds DASH45.

/** The address itself when it is one of the web and encrypted; null otherwise: then there is no link. */
export function safeLink(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null
  const url = new URL(address)
  return url.protocol === 'https:' ? url.href : null
}
