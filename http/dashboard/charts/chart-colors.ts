// Theme colors for canvas charts, computed from the CSS variables.

export interface ChartColors {
  readonly ink: string
  readonly muted: string
  readonly edge: string
  readonly accent: string
  readonly bid: string
  readonly ask: string
}

/** The current colors at `host`. */
export function chartColors(host: HTMLElement): ChartColors {
  const probe = document.createElement('span')
  host.append(probe)
  const color = (name: string): string => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const colors = {
    ink: color('ink'),
    muted: color('muted'),
    edge: color('edge'),
    accent: color('accent'),
    bid: color('bid'),
    ask: color('ask'),
  }
  probe.remove()
  return colors
}

/** Calls `listener` when the color scheme changes; returns a stop function. */
export function onSchemeChange(listener: () => void): () => void {
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', listener)
  return () => scheme.removeEventListener('change', listener)
}
