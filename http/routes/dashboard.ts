// The dashboard page, its files, and the redirect from the root. They need no key and count against the byte quota.

import { EngineError } from '../../engine/errors.ts'
import { DASHBOARD_POLICY, notFoundHtml, readDashboard } from '../assets/dashboard-files.ts'
import { PAGES } from '../dashboard/page-names.ts'
import {
  type Answer,
  fileRefusals,
  immutableFiles,
  page,
  REVALIDATED,
  redirect,
} from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'

const HTML = 'text/html; charset=utf-8'
const OPEN = { group: 'System', access: 'public', isCounted: false, answer: null } as const
const START = {
  ...OPEN,
  summary: 'The way to the dashboard',
  status: 302,
  contentTypes: ['text/plain'],
  headers: { Location: 'where the dashboard is, from here' },
  isListed: false,
} as const

/**
 * Answers a path below `/dashboard/` that names no file. A page's path leads to the page. For other paths browsers get a
 * page with 404, and programs the usual error.
 */
function pageAt(path: string, accept: string): Answer {
  const segments = path.split('/')
  const root = '../'.repeat(segments.length)
  if (PAGES.some((name) => name === segments[0])) {
    return { ...redirect(`${root}dashboard#/${path}`), caching: REVALIDATED }
  }
  if (!accept.includes('text/html')) throw new EngineError('NOT_FOUND', 'no such file')
  return { ...page(notFoundHtml(root), HTML, DASHBOARD_POLICY), status: 404 }
}

export function dashboardRoutes(): readonly Route[] {
  const { html, files } = readDashboard()
  const dashboard = page(html, HTML, DASHBOARD_POLICY)
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
      ({ path, header }) => {
        const asset = path('asset')
        return immutable.get(asset) ?? pageAt(encodeURIComponent(asset), header('accept'))
      },
    ),
    route(
      'GET /dashboard/*',
      { ...START, isCounted: true, refusals: { 404: 'no such file' } },
      ({ path, header }) => pageAt(path('*'), header('accept')),
    ),
  ]
}
