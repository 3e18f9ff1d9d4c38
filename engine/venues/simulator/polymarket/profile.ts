// Gamma's `/public-profile` (engine/venues/polymarket/README.md, Gamma): who an address is, the wallet's own
// or its owner's; both are answered with the wallet's. Not for: what the wallet did (wallet-routes.ts).
// Upholds SIMWALLET14.

import { formatTime } from '../../../units.ts'
import type { SimWallets } from '../model.ts'
import { json, type RestAnswer } from '../rest.ts'

/** 400 for what is no address, 404 for one that never traded. */
export function publicProfile(wallets: SimWallets, query: URLSearchParams): RestAnswer {
  const address = query.get('address') ?? ''
  if (!/^0x[0-9a-f]{40}$/i.test(address)) {
    return json({ type: 'validation error', error: 'invalid address' }, 400)
  }
  const ledger = wallets.wallet(address)
  if (ledger === null) return json({ type: 'not found error', error: 'profile not found' }, 404)
  const { wallet, firstMs, eoa } = ledger
  return json({
    createdAt: formatTime(firstMs),
    proxyWallet: wallet.address,
    profileImage: '',
    displayUsernamePublic: wallet.name !== '',
    bio: '',
    pseudonym: wallet.pseudonym,
    name: wallet.name,
    users: [{ id: String(Number.parseInt(eoa.slice(2, 9), 16)), creator: false, mod: false }],
    xUsername: '',
    verifiedBadge: false,
  })
}
