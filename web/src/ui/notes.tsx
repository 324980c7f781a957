import type { Note } from '../api/note'
import { useLang } from '../i18n'
import { viNotes } from '../i18n/notes'
import { inVietnamese } from '../i18n/phrases'

/** Notes are warnings and assumptions, with what they are about where that is a part: worded here where their kind is known and the page is not in the server's English. */
export function Notes({ title, lines, notes }: { title: string; lines: (string | { where: string; text: string })[] | null | undefined; notes?: Note[] | null }) {
  const { lang, f } = useLang()
  if (!lines?.length) return null
  const own = (line: string): string | undefined => {
    const note = lang === 'vi' ? notes?.find((x) => x.text === line) : undefined
    return (note && viNotes[note.code]?.(note.values ?? {}, f)) ?? (lang === 'vi' ? inVietnamese(line) : undefined)
  }
  return (
    <details class="notes">
      <summary>
        {title} <span class="n">({lines.length})</span>
      </summary>
      <ul>
        {lines.map((l) => {
          const { where, text } = typeof l === 'string' ? { where: '', text: l } : l
          const said = own(text)
          return (
            <li key={where + text} lang={said || where ? undefined : 'en'}>
              {where && where + ': '}
              {said ?? (where && lang !== 'en' ? <span lang="en">{text}</span> : text)}
            </li>
          )
        })}
      </ul>
    </details>
  )
}
