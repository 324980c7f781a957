// Dark or light: what the reader chose, else what the system says. Runs before
// the page is drawn, so that it never flashes.

export type Theme = 'system' | 'light' | 'dark'

const key = 'ridgeline.theme'

export function savedTheme(): Theme {
  const v = read(key)
  return v === 'light' || v === 'dark' ? v : 'system'
}

export function setTheme(t: Theme): void {
  if (t === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = t
  write(key, t)
}

/** read and write a preference; a browser that forbids storage has none. */
export function read(k: string): string | null {
  try {
    return localStorage.getItem(k)
  } catch {
    return null
  }
}

export function write(k: string, v: string): void {
  try {
    localStorage.setItem(k, v)
  } catch {
    // The choice then lasts as long as the page.
  }
}

setTheme(savedTheme())
