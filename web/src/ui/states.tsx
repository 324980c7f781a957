import type { ComponentChildren } from 'preact'
import { badFigure, damaged, hasToken, setToken, unclear, type Problem, type Progress } from '../api/client'
import { useLang } from '../i18n'
import { labelOf, refusal } from '../i18n/refusal'
import { Spelled } from './spelled'

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
      <strong><Spelled text={error.status === 0 ? t.error.offline : error.status === damaged ? t.error.damaged : t.error.title} /></strong>
      {error.status === badFigure ? (
        <p>{t.error.figure(labelOf(error.field, t), error.detail)}</p>
      ) : error.status === unclear ? (
        <p>{t.error.unclear(labelOf(error.field, t), error.detail, error.values.write as string[])}</p>
      ) : (
        <Detail error={error} />
      )}
      {onRetry && <button type="button" onClick={onRetry}>{t.error.retry}</button>}
    </div>
  )
}

// A message longer than this lists names: its rest is folded away.
const longest = 240

function Detail({ error }: { error: Problem }) {
  const speech = useLang()
  const { text, english } = refusal(error, speech)
  const lang = english ? 'en' : undefined
  if (text.length <= longest) return <p lang={lang}><Spelled text={text} /></p>
  const cut = text.lastIndexOf(' ', longest)
  return (
    <div lang={lang}>
      {text.slice(0, cut)}…
      <details>
        <summary>{speech.t.error.more}</summary>
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
