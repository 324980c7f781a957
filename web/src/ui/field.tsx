import type { ComponentChildren } from 'preact'
import { useEffect, useId, useMemo, useRef } from 'preact/hooks'

// What a field shows at once, about.
const fieldLetters = 36

interface FieldProps {
  label: string
  value: string
  onInput: (v: string) => void
  unit?: string
  list?: string[]
  hint?: string
  bad?: boolean
  numeric?: boolean
  placeholder?: string
  id?: string
}

/** Field is a labelled input with its unit; suggestions come from a list. */
export function Field({ label, value, onInput, unit, list, hint, bad, numeric, placeholder, id }: FieldProps) {
  const made = useId()
  const self = id ?? made
  // A list has hundreds of names and a slider draws the page at every step: it is made once.
  const names = useMemo(() => list?.map((v) => <option key={v} value={v} />), [list])
  return (
    <div class={'field' + (bad ? ' bad' : '')}>
      <label for={self}>{label}</label>
      <div class="entry">
        <input
          id={self}
          value={value}
          list={list && self + '-list'}
          inputMode={numeric ? 'decimal' : undefined}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={bad ? 'true' : undefined}
          aria-describedby={hint ? self + '-hint' : undefined}
          onInput={(e) => onInput(e.currentTarget.value)}
        />
        {unit && <span class="unit">{unit}</span>}
      </div>
      {list && (
        <datalist id={self + '-list'}>
          {names}
        </datalist>
      )}
      {hint && <p class="hint" id={self + '-hint'}>{hint}</p>}
    </div>
  )
}

interface SelectProps {
  label: string
  value: string
  options: (string | [string, string])[]
  off?: (v: string) => boolean
  bad?: boolean
  whole?: boolean // the value is long: it is said again where it may wrap
  onChange: (v: string) => void
  id?: string
}

/** Select is a labelled choice of one. */
export function Select({ label, value, options, off, bad, whole, onChange, id }: SelectProps) {
  const made = useId()
  const self = id ?? made
  return (
    <div class={'field' + (bad ? ' bad' : '') + (whole ? ' row' : '')}>
      <label for={self}>{label}</label>
      <select id={self} value={value} title={whole ? value : undefined} aria-invalid={bad ? 'true' : undefined} onChange={(e) => onChange(e.currentTarget.value)}>
        {options.map((o) => {
          const [v, text] = typeof o === 'string' ? [o, o] : o
          return <option key={v} value={v} disabled={off?.(v) && v !== value}>{text}</option>
        })}
      </select>
      {whole && value.length > fieldLetters && <p class="hint whole">{value}</p>}
    </div>
  )
}

/** More is a fold of fields that few questions need; it opens where one of them is refused. */
export function More({ summary, bad, children }: { summary: string; bad: boolean; children: ComponentChildren }) {
  const self = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (bad) self.current!.open = true
  }, [bad])
  return (
    <details class="more" ref={self}>
      <summary>{summary}</summary>
      <div class="fields">{children}</div>
    </details>
  )
}
