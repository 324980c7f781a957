import type { ComponentChildren } from 'preact'
import { badFigure, damaged, hasToken, setToken, type Problem, type Progress } from '../api/client'
import { useLang, type Dict } from '../i18n'
import { inVietnamese } from '../i18n/phrases'
import { viProblems } from '../i18n/problems'

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
  const own = lang === 'vi' ? (viProblems[error.code]?.(error.values, f) ?? inVietnamese(error.detail)) : undefined
  if (own) return <p>{own}</p>
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
