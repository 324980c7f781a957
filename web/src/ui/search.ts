import { useEffect, useRef, useState } from 'preact/hooks'
import { search, type Problem, type Progress } from '../api/client'
import { asProblem } from '../api/use'

export interface Found<Q, D> {
  doc: D
  asked: Q
}

/** Searching is a long question under way, its last answer, or what went wrong. */
export interface Searching<Q, D> {
  answer: Found<Q, D> | undefined
  error: Problem | undefined
  progress: Progress | undefined
  busy: boolean
  ask: (q: Q) => void
  cancel: () => void
}

/** useSearch asks a long question at the start, at each visit, and when ask() is called; a newer question stops the older. */
export function useSearch<Q, D>(path: string, body: (q: Q) => Promise<unknown>, question: Q, visit: number): Searching<Q, D> {
  const [answer, setAnswer] = useState<Found<Q, D>>()
  const [error, setError] = useState<Problem>()
  const [progress, setProgress] = useState<Progress>()
  const [busy, setBusy] = useState(false)
  const running = useRef<AbortController>(undefined)

  const ask = async (q: Q) => {
    running.current?.abort()
    const abort = (running.current = new AbortController())
    setBusy(true)
    setError(undefined)
    setProgress(undefined)
    try {
      const doc = await search<D>(path, await body(q), abort.signal, (name, data) => name === 'progress' && setProgress(data as Progress))
      if (running.current === abort) setAnswer({ doc, asked: q })
    } catch (e) {
      if (!abort.signal.aborted) setError(asProblem(e))
    } finally {
      if (running.current === abort) setBusy(false)
    }
  }
  const cancel = () => {
    running.current?.abort()
    setBusy(false)
  }
  useEffect(() => {
    void ask(question)
    return () => running.current?.abort()
  }, [visit])
  return { answer, error, progress, busy, ask: (q: Q) => void ask(q), cancel }
}
