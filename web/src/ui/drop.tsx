import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Problem } from '../api/client'
import { asProblem } from '../api/use'
import { Failed } from './states'

interface Props {
  button: string // opens the file dialogue
  label: string // of the file field, for screen readers
  hint: string
  notJson: (name: string) => string
  take: (name: string, json: unknown) => Promise<void> | void // throws what is wrong with it
  above?: ComponentChildren
  below?: ComponentChildren
}

/** Drop takes a JSON file, dropped on it or chosen; what is wrong with the file is said here, and nothing else changes. */
export function Drop(p: Props) {
  const [over, setOver] = useState(false)
  const [error, setError] = useState<Problem>()
  const file = useRef<HTMLInputElement>(null)
  const take = async (x: File | undefined) => {
    if (!x) return
    setError(undefined)
    try {
      await p.take(x.name, await parsed(x, p.notJson))
    } catch (e) {
      setError(asProblem(e))
    }
  }
  return (
    <div
      class={'drop' + (over ? ' over' : '')}
      onDragOver={(e) => (e.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault()
        setOver(false)
        void take(e.dataTransfer?.files[0])
      }}
      onInput={() => setError(undefined)}
    >
      {p.above}
      <div class="row drophint">
        <button type="button" class="quiet" onClick={() => file.current!.click()}>{p.button}</button>
        <span class="hint">{p.hint}</span>
        <input ref={file} type="file" accept=".json,application/json" hidden aria-label={p.label} onChange={(e) => void take(e.currentTarget.files?.[0]).then(() => (file.current!.value = ''))} />
      </div>
      {p.below}
      {error && <Failed error={error} />}
    </div>
  )
}

async function parsed(file: File, notJson: (name: string) => string): Promise<unknown> {
  try {
    return JSON.parse(await file.text())
  } catch {
    throw new Problem(notJson(file.name), 400)
  }
}
