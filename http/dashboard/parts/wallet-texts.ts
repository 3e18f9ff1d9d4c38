import { ApiError } from '../api.ts'
import { shortId, usdText } from '../format.ts'

const ADDRESS = /^0x[0-9a-f]{40}$/i

/** The trimmed address; null if the text is not an address. */
export function addressIn(text: string): string | null {
  const address = text.trim()
  return ADDRESS.test(address) ? address : null
}

export const NO_ADDRESS =
  'This is no address of a wallet: one has 0x and 40 digits of 0 to 9 and a to f.'

/** The owner's handle, else the venue's pseudonym, else the shortened address. */
export const nameOf = (wallet: {
  readonly handle: string | null
  readonly pseudonym: string | null
  readonly address: string
}): string => filled(wallet.handle) ?? filled(wallet.pseudonym) ?? shortId(wallet.address)

/** Text for errors about the address itself; null: another error. */
export function describeRefusal(
  error: unknown,
  venue: string,
): { readonly title: string; readonly detail: string } | null {
  if (!(error instanceof ApiError)) return null
  if (error.status === 422) return { title: 'Not an address.', detail: NO_ADDRESS }
  if (error.status === 404) {
    const detail = `This wallet has not traded on ${venue}. Is the address complete?`
    return { title: 'No trades of this wallet.', detail }
  }
  if (error.status === 400) return { title: 'Not a wallet.', detail: error.message }
  return null
}

/** Dollars with a sign. */
export const signedUsdText = (usd: number): string => `${usd > 0 ? '+' : ''}${usdText(usd)}`

/** CSS class for the color of a profit or loss. */
export const wayOf = (usd: number): string => (usd > 0 ? 'up' : usd < 0 ? 'down' : '')

const filled = (text: string | null): string | null =>
  text === null || text.trim() === '' ? null : text
