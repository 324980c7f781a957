import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
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

/**
 * useFollowing asks at once whenever key changes. While one question is under way only the newest waits
 * behind it: what follows a hand is answered as it moves, and not only once it rests. An empty key asks
 * nothing and forgets the last answer.
 */
export function useFollowing<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, set] = useState<Loaded<T>>({ busy: key !== '' })
  const wanted = useRef({ key, ask })
  wanted.current = { key, ask }
  const flight = useRef<AbortController>(undefined)
  const stop = () => {
    flight.current?.abort()
    flight.current = undefined
  }
  // A layout effect: an ordinary one would wait until the page is painted.
  useLayoutEffect(() => {
    if (key === '') {
      stop()
      set({ busy: false })
    } else if (flight.current) set((s) => ({ ...s, busy: true }))
    else void follow((flight.current = new AbortController()).signal)
  }, [key])
  useEffect(() => stop, [])

  const follow = async (signal: AbortSignal) => {
    set((s) => ({ ...s, busy: true }))
    for (let last = false; !last; ) {
      const asked = wanted.current
      const got: { value?: T; error?: Problem } = await asked.ask(signal).then(
        (value) => ({ value }),
        (e: unknown) => ({ error: asProblem(e) }),
      )
      if (signal.aborted) return
      last = wanted.current.key === asked.key
      set((s) => ({ value: s.value, ...got, busy: !last }))
    }
    flight.current = undefined
  }
  return state
}

export function asProblem(e: unknown): Problem {
  return e instanceof Problem ? e : new Problem(e instanceof Error ? e.message : String(e), 0)
}
