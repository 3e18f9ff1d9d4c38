const INVISIBLE = /\p{Cf}|\p{Variation_Selector}|\u034f|\u115f|\u1160|\u3164|\uffa0/gu
const ASCII_DOMAIN = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/
/** Reserved for accounts that this process creates. */
const RESERVED_DOMAIN = 'localhost'

const CONFUSABLES: Readonly<Record<string, string>> = {
  ...{ а: 'a', α: 'a', ɑ: 'a', ь: 'b', с: 'c', ϲ: 'c', ԁ: 'd', е: 'e', ҽ: 'e', ɡ: 'g', һ: 'h' },
  ...{ і: 'i', ι: 'i', ı: 'i', ј: 'j', κ: 'k', к: 'k', ӏ: 'l', м: 'm', ո: 'n', η: 'n', о: 'o' },
  ...{ ο: 'o', օ: 'o', р: 'p', ρ: 'p', ԛ: 'q', г: 'r', ѕ: 's', т: 't', τ: 't', υ: 'u', ս: 'u' },
  ...{ ν: 'v', ѵ: 'v', ԝ: 'w', ω: 'w', х: 'x', χ: 'x', у: 'y', γ: 'y' },
}

/** NFKC in lower case, without invisible characters. */
export function normalizedEmail(email: string): string {
  return email.normalize('NFKC').replace(INVISIBLE, '').toLowerCase()
}

/** Why an address of valid form cannot have an account. Null: it can. */
export function emailRefusal(email: string): string | null {
  const domain = normalizedEmail(email).split('@').at(-1) ?? ''
  if (!ASCII_DOMAIN.test(domain)) {
    return 'The part after the @-sign must be a domain in ASCII (international domains as xn--…).'
  }
  return domain === RESERVED_DOMAIN ? 'The domain localhost is reserved.' : null
}

/** Equal for addresses that look alike. For an ASCII address the result is the address itself. */
export function emailSkeleton(email: string): string {
  const plain = normalizedEmail(email).normalize('NFKD').replace(/\p{M}/gu, '')
  return Array.from(plain, (letter) => CONFUSABLES[letter] ?? letter).join('')
}
