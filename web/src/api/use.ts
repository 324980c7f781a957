import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from './client'

/** Loaded is a question under way, its answer, or what went wrong; the last answer stays while the next is fetched. */
export interface Loaded<T> {
  value?: T
  error?: Problem
  busy: boolean
}

/**
 * useLoaded asks again whenever key changes, once it has rested for `rest` ms, and aborts
 * what was under way: the answer shown is never older than one that came later. An empty key asks nothing.
 */
export function useLoaded<T>(key: string, ask: (signal: AbortSignal) => Promise<T>, rest = 0): Loaded<T> {
  const [state, set] = useState<Loaded<T>>({ busy: key !== '' })
  const latest = useRef(ask)
  latest.current = ask
  useEffect(() => {
    if (key === '') {
      set({ busy: false })
      return
    }
    const abort = new AbortController()
    set((s) => ({ ...s, busy: true }))
    const timer = setTimeout(() => {
      latest
        .current(abort.signal)
        .then((value) => !abort.signal.aborted && set({ value, busy: false }))
        .catch((e: unknown) => !abort.signal.aborted && set((s) => ({ value: s.value, error: asProblem(e), busy: false })))
    }, rest)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [key])
  return state
}

export function asProblem(e: unknown): Problem {
  return e instanceof Problem ? e : new Problem(e instanceof Error ? e.message : String(e), 0)
}
