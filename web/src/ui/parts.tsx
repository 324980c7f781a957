import type { ComponentChildren } from 'preact'
import { useId, useMemo } from 'preact/hooks'
import { badFigure, damaged, hasToken, setToken, type Problem, type Progress } from '../api/client'
import { useLang, type Dict } from '../i18n'
import { viProblems } from '../i18n/problems'

/** Card is one section of a page. */
export function Card({ title, children, id, aside }: { title: string; children: ComponentChildren; id?: string; aside?: ComponentChildren }) {
  const head = useId()
  return (
    <section class="card" aria-labelledby={head} id={id}>
      <header>
        <h2 id={head}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}

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

export function Select({ label, value, options, off, onChange, id }: { label: string; value: string; options: (string | [string, string])[]; off?: (v: string) => boolean; onChange: (v: string) => void; id?: string }) {
  const made = useId()
  const self = id ?? made
  return (
    <div class="field">
      <label for={self}>{label}</label>
      <select id={self} value={value} onChange={(e) => onChange(e.currentTarget.value)}>
        {options.map((o) => {
          const [v, text] = typeof o === 'string' ? [o, o] : o
          return <option key={v} value={v} disabled={off?.(v) && v !== value}>{text}</option>
        })}
      </select>
    </div>
  )
}

/** Waiting tells how far a long search is, and stops it. */
export function Waiting({ progress, onCancel, text }: { progress: Progress | undefined; onCancel?: () => void; text: string }) {
  const { t, f } = useLang()
  const share = progress && progress.all > 0 ? Math.min(1, progress.done / progress.all) : undefined
  return (
    <div class="waiting" role="status">
      <div class="row">
        <span>{text}</span>
        {share !== undefined && <span class="n">{f.percent(Math.round(share * 100) / 100)}</span>}
        {onCancel && (
          <button type="button" onClick={onCancel}>{t.cancel}</button>
        )}
      </div>
      <progress max={1} value={share} aria-label={text} />
    </div>
  )
}

/** Failed shows an error in one line with its mend, or asks for the token that the server wants. */
export function Failed({ error, onRetry }: { error: Problem; onRetry?: () => void }) {
  const { t } = useLang()
  if (error.status === 401) return <Token onRetry={onRetry} />
  return (
    <div class="failed" role="alert">
      <strong>{error.status === 0 ? t.error.offline : error.status === damaged ? t.error.damaged : t.error.title}</strong>
      {error.status === badFigure ? <p>{t.error.figure(figures[error.field as keyof typeof figures](t), error.detail)}</p> : <Detail error={error} />}
      {onRetry && <button type="button" onClick={onRetry}>{t.error.retry}</button>}
    </div>
  )
}

// The edited figures as the form names them.
const figures = { nic: (t: Dict) => t.ask.nic, mem: (t: Dict) => t.ask.memory, nodeGpus: (t: Dict) => t.ask.nodeGpus }

// A message longer than this lists names: its rest is folded away.
const longest = 240

function Detail({ error }: { error: Problem }) {
  const { lang, t, f } = useLang()
  const own = lang === 'vi' ? viProblems[error.code] : undefined
  if (own) return <p>{own(error.values, f)}</p>
  const text = error.detail
  if (text.length <= longest) return <p lang="en">{text}</p>
  const cut = text.lastIndexOf(' ', longest)
  return (
    <div lang="en">
      {text.slice(0, cut)}…
      <details>
        <summary>{t.error.more}</summary>
        {text.slice(cut)}
      </details>
    </div>
  )
}

function Token({ onRetry }: { onRetry?: () => void }) {
  const { t } = useLang()
  return (
    <form
      class="failed"
      onSubmit={(e) => {
        e.preventDefault()
        // With the token everything is asked again; the address brings the question back.
        if (setToken(String(new FormData(e.currentTarget).get('token') ?? ''))) location.reload()
        else onRetry?.()
      }}
    >
      <strong>{t.error.token}</strong>
      {hasToken() && <p>{t.error.wrongToken}</p>}
      <div class="row">
        <input name="token" type="password" aria-label={t.error.token} autocomplete="off" />
        <button type="submit">{t.error.retry}</button>
      </div>
    </form>
  )
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>
}

/** Skeleton holds the place of a picture that is being computed. */
export function Skeleton({ tall }: { tall?: boolean }) {
  return <div class={'skeleton' + (tall ? ' tall' : '')} aria-hidden="true" />
}

export interface Fact {
  name: string
  value: string
  unit?: string
  note?: string
}

/** Facts are the headline figures. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl class="facts">
      {facts.map((x) => (
        <div key={x.name}>
          <dt>{x.name}</dt>
          <dd>
            {x.value}
            {x.unit && <span class="unit"> {x.unit}</span>}
            {x.note && <small>{x.note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Notes are warnings and assumptions, in the server's English. */
export function Notes({ title, lines }: { title: string; lines: string[] | null | undefined }) {
  if (!lines?.length) return null
  return (
    <details class="notes">
      <summary>
        {title} <span class="n">({lines.length})</span>
      </summary>
      <ul lang="en">{lines.map((l) => <li key={l}>{l}</li>)}</ul>
    </details>
  )
}
