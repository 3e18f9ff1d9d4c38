// Color theme, stored in this browser. `start-theme.ts` applies it before the first paint.

import { onStored, readStored, setRootData, store } from './browser.ts'
import { Signal } from './signal.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** Must equal the name in `start-theme.ts`. */
const NAME = 'twinbook.theme'

const readTheme = (): Theme => THEMES.find((theme) => theme === readStored(NAME)) ?? THEMES[0]

export const currentTheme = new Signal<Theme>(readTheme())

export function chooseTheme(theme: Theme): void {
  store(NAME, theme === 'system' ? null : theme)
  apply(theme)
}

/** Follows the choice of other tabs. */
export function followTheme(): void {
  onStored(NAME, () => apply(readTheme()))
}

function apply(theme: Theme): void {
  setRootData('theme', theme === 'system' ? null : theme)
  currentTheme.set(theme)
}
