import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Skeleton } from './states'

/** lazy loads a page when it is first shown; until then a skeleton holds its place. */
export function lazy<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  let ready: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [, wake] = useState(0)
    useEffect(() => {
      if (!ready) void load().then((m) => ((ready = m.default), wake(1)))
    }, [])
    const Ready = ready
    return Ready ? <Ready {...props} /> : <Skeleton tall />
  }
}
