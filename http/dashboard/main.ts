import { render } from 'preact'
import { App, loadOthersLater, loadPage } from './app.ts'
import { html } from './html.ts'
import { currentRoute, followAddress } from './route.ts'
import { resumeSession } from './session.ts'
import { followTheme } from './theme.ts'
import { followWatchlist } from './watchlist.ts'

const page = document.getElementById('page')
if (page === null) throw new Error('the page has no element for the dashboard')
followTheme()
followWatchlist()
resumeSession()
followAddress()
if (currentRoute.value.page !== 'unknown') void loadPage(currentRoute.value.page)
page.textContent = ''
render(html`<${App} />`, page)
loadOthersLater()
