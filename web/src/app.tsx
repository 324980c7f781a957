import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Lang, languages, preferred, speech, type Language } from './i18n'
import { address, parse, questionOf, tabs, type State, type Tab } from './state'
import { read, savedTheme, setTheme, write, type Theme } from './theme'
import { useCatalogue } from './ui/catalogue'
import { lazy } from './ui/lazy'

const Training = lazy(() => import('./training/page'))
const Serving = lazy(() => import('./serving/page'))
const Measured = lazy(() => import('./measured/page'))

export function App() {
  const [state, setState] = useState<State>(() => parse(location.hash))
  const [lang, setLang] = useState<Language>(() => preferred([read('ridgeline.language') ?? '', ...navigator.languages]))
  const words = useMemo(() => speech(lang), [lang])
  const catalogue = useCatalogue()

  // A tab and a question that is asked are steps of history; while a question is edited it replaces the address.
  useAddress(address(state))
  const asked = useRef({ question: questionOf(state), address: '' }) // the last one, and where it led
  if (asked.current.question === questionOf(state)) asked.current.address = address(state)
  const [visit, setVisit] = useState(0)
  useEffect(() => {
    // Back, or another link in the same tab: a question other than the one that was asked is asked.
    const back = () => {
      const to = parse(location.hash)
      if (questionOf(to) !== asked.current.question) setVisit((n) => n + 1)
      asked.current = { question: questionOf(to), address: address(to) }
      setState((s) => ({ ...s, ...only(to) }))
    }
    addEventListener('popstate', back)
    return () => removeEventListener('popstate', back)
  }, [])
  useEffect(() => {
    document.documentElement.lang = lang
    document.title = `${words.t.tabs[state.tab]} – ${words.t.title}`
  }, [lang, state.tab])

  const push = (to: State) => {
    history.pushState(null, '', address(to))
    asked.current = { question: questionOf(to), address: address(to) }
    setState(to)
  }
  const go = (tab: Tab) => push({ ...state, tab })
  const step = (to: State) => {
    if (questionOf(to) === asked.current.question) return setState(to)
    history.replaceState(null, '', asked.current.address) // the edits go to the new entry alone
    push(to)
  }
  const part = <K extends Tab>(k: K) => ({
    s: state[k],
    set: (c: Partial<State[K]>) => setState((x) => ({ ...x, [k]: { ...x[k], ...c } })),
    step: (c: Partial<State[K]>) => step({ ...state, [k]: { ...state[k], ...c } }),
    visit,
  })
  return (
    <Lang.Provider value={words}>
      <a class="skip" href="#answer" onClick={(e) => (e.preventDefault(), document.getElementById('answer')!.focus())}>{words.t.skip}</a>
      <Head tab={state.tab} here={address(state)} go={go} lang={lang} setLang={(l) => (write('ridgeline.language', l), setLang(l))} />
      <main id="answer" tabIndex={-1}>
        {state.tab === 'training' && <Training {...part('training')} catalogue={catalogue} />}
        {state.tab === 'serving' && <Serving {...part('serving')} catalogue={catalogue} />}
        {state.tab === 'measured' && <Measured s={state.measured} set={part('measured').set} />}
      </main>
    </Lang.Provider>
  )
}

// The least time between two changes of the address, ms: browsers refuse them where they come thick, as from a slider.
const addressPause = 200

/** useAddress writes the address at once, and while it changes thick and fast the last one a little later. */
function useAddress(to: string): void {
  const last = useRef(0)
  useEffect(() => {
    const write = () => {
      last.current = Date.now()
      if (to !== location.hash) history.replaceState(null, '', to)
    }
    const wait = last.current + addressPause - Date.now()
    if (wait <= 0) return write()
    const timer = setTimeout(write, wait)
    return () => clearTimeout(timer)
  }, [to])
}

/** only the tab that the address speaks of changes by it. */
const only = (s: State): Partial<State> => ({ tab: s.tab, [s.tab]: s[s.tab] })

function Head({ tab, here, go, lang, setLang }: { tab: Tab; here: string; go: (t: Tab) => void; lang: Language; setLang: (l: Language) => void }) {
  const { t } = speech(lang)
  const [theme, set] = useState<Theme>(savedTheme)
  const [copied, setCopied] = useState('')
  const copy = () =>
    navigator.clipboard.writeText(new URL(here, location.href).href).then(
      () => setCopied(t.share.copied),
      () => setCopied(t.share.failed),
    )
  return (
    <header class="top">
      <div class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true"><path d="M4 26 14 9h14" /><circle cx="20" cy="18" r="2.6" /></svg>
        <div>
          <h1>{t.title}</h1>
          <p>{t.motto}</p>
        </div>
      </div>
      <nav aria-label={t.title}>
        {tabs.map((x) => (
          <a key={x} href={'#/' + x} aria-current={x === tab ? 'page' : undefined} onClick={(e) => (e.preventDefault(), go(x))}>{t.tabs[x]}</a>
        ))}
      </nav>
      <div class="tools">
        <button type="button" class="quiet" onClick={() => void copy()}>{t.share.link}</button>
        <span role="status" class="copied">{copied}</span>
        <select aria-label={t.language} id="language" value={lang} onChange={(e) => setLang(e.currentTarget.value as Language)}>
          {Object.entries(languages).map(([k, v]) => <option key={k} value={k} lang={k}>{v}</option>)}
        </select>
        <select aria-label={t.theme.name} id="theme" value={theme} onChange={(e) => (set(e.currentTarget.value as Theme), setTheme(e.currentTarget.value as Theme))}>
          {(['system', 'light', 'dark'] as const).map((k) => <option key={k} value={k}>{t.theme[k]}</option>)}
        </select>
        <a class="quiet" href="/docs">{t.docs}</a>
      </div>
    </header>
  )
}
