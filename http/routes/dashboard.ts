// The dashboard page, its files, and the redirect from the root. No key; counted by bytes. All texts are built once,
// with the routes.

import { EngineError } from '../../engine/errors.ts'
import { DASHBOARD_POLICY, readDashboard } from '../assets/dashboard-files.ts'
import {
  type Answer,
  file,
  fileRefusals,
  IMMUTABLE,
  REVALIDATED,
  redirect,
  withHeader,
} from '../request/reply.ts'
import { type Route, type RouteDocument, route } from '../request/route.ts'

const HTML = 'text/html; charset=utf-8'

/** `GET /`, `/dashboard`, `/dashboard/`, `/dashboard/{asset}`. */
export function dashboardRoutes(): readonly Route[] {
  const { html, files } = readDashboard()
  const page = protectedPage(html)
  const start = { ...redirect('dashboard'), caching: REVALIDATED }
  // The page uses relative URLs, which a trailing slash would break.
  const unslashed = { ...redirect('../dashboard'), caching: REVALIDATED }
  const immutable = new Map(
    [...files].map(([name, { text, contentType }]) => [name, file(text, contentType, IMMUTABLE)]),
  )
  return [
    open('/', START, () => start),
    open('/dashboard', PAGE, () => page),
    open('/dashboard/', START, () => unslashed),
    open('/dashboard/{asset}', FILE, (name) => {
      const answer = immutable.get(name)
      if (answer === undefined) throw new EngineError('NOT_FOUND', 'no such file')
      return answer
    }),
  ]
}

const START: RouteDocument = {
  group: 'System',
  summary: 'The way to the dashboard',
  answer: null,
  status: 302,
  contentType: 'text/plain',
  headers: { Location: 'where the dashboard is, from here' },
  isListed: false,
}

const PAGE: RouteDocument = {
  group: 'System',
  summary: 'The dashboard: an account, its keys, and both venues live in a browser',
  answer: null,
  contentType: 'text/html',
  headers: {
    'Content-Security-Policy': 'what the page may load: only our own files',
    'Referrer-Policy': 'what other hosts hear of the page: nothing',
  },
  refusals: fileRefusals,
  isNamed: true,
}

const FILE: RouteDocument = {
  group: 'System',
  summary: 'A file of the dashboard',
  description: 'Its name carries a hash of its content: caches may keep it for ever.',
  answer: null,
  contentType: 'text/*',
  refusals: { ...fileRefusals, 404: 'no such file' },
  isNamed: true,
}

function open(pattern: string, document: RouteDocument, answer: (asset: string) => Answer): Route {
  const hasAsset = pattern.includes('{asset}')
  return route(`GET ${pattern}`, { ...document, access: 'public', isCounted: false }, ({ path }) =>
    answer(hasAsset ? path('asset') : ''),
  )
}

function protectedPage(html: string): Answer {
  const policed = withHeader(
    file(html, HTML, REVALIDATED),
    'Content-Security-Policy',
    DASHBOARD_POLICY,
  )
  return withHeader(policed, 'Referrer-Policy', 'no-referrer')
}
