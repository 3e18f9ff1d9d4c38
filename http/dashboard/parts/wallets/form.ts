// Where a wallet's address is given; what is no address is said beside the field, and asks nobody. Upholds DASH64.

import { useId, useState } from 'preact/hooks'
import { setAddressHash } from '../../browser.ts'
import { html } from '../../html.ts'
import { hrefOf } from '../../route.ts'
import { addressIn, NO_ADDRESS } from './words.ts'

export function WalletForm({ address }: { readonly address: string }) {
  const [text, setText] = useState(address)
  const [isWrong, setWrong] = useState(false)
  const id = useId()
  const submit = (event: Event) => {
    event.preventDefault()
    const found = addressIn(text)
    setWrong(found === null)
    if (found !== null) setAddressHash(hrefOf('wallet', found))
  }
  const type = ({ currentTarget: input }: Event) => {
    if (input instanceof HTMLInputElement) setText(input.value)
  }
  return html`<form class="row view-filters" role="search" onSubmit=${submit} novalidate>
    <div class="field wide">
      <label for=${id}>Address of a wallet</label>
      <input id=${id} value=${text} onInput=${type} placeholder="0x…" autocomplete="off" spellcheck=${false}
        aria-invalid=${isWrong} aria-describedby=${isWrong ? `${id}-error` : null} />
      ${isWrong ? html`<p class="error" id=${`${id}-error`} role="alert">${NO_ADDRESS}</p>` : null}
    </div>
    <button class="primary">Show wallet</button>
  </form>`
}
