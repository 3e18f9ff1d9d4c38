// Classic script that runs before the first paint, so that the page never shows the wrong theme. It cannot import.

try {
  const stored = localStorage.getItem('twinbook.theme')
  if (stored === 'light' || stored === 'dark') document.documentElement.dataset.theme = stored
} catch {
  // The browser denies access to storage: the page follows the system.
}
