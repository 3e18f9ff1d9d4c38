// What every page is given.

import type { Place } from '../route.ts'

/** The part of the address that is the page's own. */
export interface PageProps {
  readonly place: Place
}
