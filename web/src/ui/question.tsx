import type { ComponentChildren } from 'preact'
import { useLang } from '../i18n'
import { Card } from './card'
import { Empty, Failed, Skeleton, Waiting } from './states'
import type { Searching } from './search'

/** Part is a tab's part of the state and the ways to change it. */
export interface Part<S> {
  s: S
  set: (c: Partial<S>) => void
  step: (c: Partial<S>) => void // with a step of history, as what changed is asked
  visit: number // of the address: a new one asks the question that it brought
}

/** Saying is what one kind of question says of itself. */
export interface Saying {
  find: string // on the button that asks
  empty: string // before anything was asked
  first: string // while nothing is known of how far it is
  progress: (done: string, all: string) => string
}

interface Props {
  fields: ComponentChildren
  found: Pick<Searching<unknown, unknown>, 'answer' | 'error' | 'progress' | 'busy' | 'cancel'>
  stale: boolean // the question has changed since the answer
  find: () => void
  say: Saying
  children: ComponentChildren // the answer
}

/** Question is a page that asks one long question: its form beside the answer, or beside why there is none yet. */
export function Question({ fields, found, stale, find, say, children }: Props) {
  const { t, f } = useLang()
  const { answer, error, progress, busy, cancel } = found
  return (
    <div class="page">
      <div class="side">
        <Card title={t.ask.title}>
          <form
            class="ask"
            onSubmit={(e) => {
              e.preventDefault()
              find()
            }}
          >
            {fields}
            {/* Keys: one element for both would turn into the submit button under the click that cancels. */}
            <div class="go">
              {busy ? (
                <button key="cancel" type="button" onClick={cancel}>{t.cancel}</button>
              ) : (
                <button key="find" type="submit" class="primary">{say.find}</button>
              )}
            </div>
          </form>
        </Card>
      </div>
      <div class="main">
        {busy && <Waiting progress={progress} text={progress ? say.progress(f.int(progress.done), f.int(progress.all)) : say.first} onCancel={cancel} />}
        {error && !busy && <Failed error={error} onRetry={find} />}
        {!answer && !busy && !error && <Empty>{say.empty}</Empty>}
        {!answer && busy && <Skeleton tall />}
        {answer !== undefined && stale && !busy && !error && (
          <p class="stale" role="status">
            {t.stale} <button type="button" onClick={find}>{say.find}</button>
          </p>
        )}
        {children}
      </div>
    </div>
  )
}
