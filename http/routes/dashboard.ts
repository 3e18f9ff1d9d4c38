// The dashboard page, its files, and the redirect from the root. They need no key and count against the byte quota.

import { DASHBOARD_POLICY, readDashboard } from '../assets/dashboard-files.ts'
import {
  fileOf,
  fileRefusals,
  immutableFiles,
  page,
  REVALIDATED,
  redirect,
} from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'

const OPEN = { group: 'System', access: 'public', isCounted: false, answer: null } as const
const START = {
  ...OPEN,
  summary: 'The way to the dashboard',
  status: 302,
  contentTypes: ['text/plain'],
  headers: { Location: 'where the dashboard is, from here' },
  isListed: false,
} as const

export function dashboardRoutes(): readonly Route[] {
  const { html, files } = readDashboard()
  const dashboard = page(html, 'text/html; charset=utf-8', DASHBOARD_POLICY)
  const start = { ...redirect('dashboard'), caching: REVALIDATED }
  // A trailing slash would break the relative URLs of the page.
  const unslashed = { ...redirect('../dashboard'), caching: REVALIDATED }
  const immutable = immutableFiles(files)
  return [
    route('GET /', START, () => start),
    route(
      'GET /dashboard',
      {
        ...OPEN,
        summary: 'The dashboard: an account, its keys, and both venues live in a browser',
        contentTypes: ['text/html'],
        headers: {
          'Content-Security-Policy': 'what the page may load: only our own files',
          'Referrer-Policy': 'what other hosts hear of the page: nothing',
        },
        refusals: fileRefusals,
        isNamed: true,
      },
      () => dashboard,
    ),
    route('GET /dashboard/', START, () => unslashed),
    route(
      'GET /dashboard/{asset}',
      {
        ...OPEN,
        summary: 'A file of the dashboard',
        description: 'Its name carries a hash of its content: caches may keep it for ever.',
        contentTypes: ['text/*'],
        refusals: { ...fileRefusals, 404: 'no such file' },
        isNamed: true,
      },
      ({ path }) => fileOf(immutable, path('asset')),
    ),
  ]
}
