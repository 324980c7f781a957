import { useLang } from '../i18n'
import { inVietnamese } from '../i18n/phrases'

/** Told is a sentence that the server words: in the page's language where that is known, else marked as English. */
export function Told({ text }: { text: string }) {
  const { lang } = useLang()
  const said = lang === 'vi' ? inVietnamese(text) : undefined
  return lang === 'vi' && !said ? <span lang="en">{text}</span> : <>{said ?? text}</>
}
