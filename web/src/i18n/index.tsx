import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { formats, type Format } from '../units'
import { en } from './en'
import { vi } from './vi'

/** Dict is every word that the page says, per language; English is the pattern. */
export type Dict = typeof en
export const languages = { en: 'English', vi: 'Tiếng Việt' } as const
export type Language = keyof typeof languages

const dicts: Record<Language, Dict> = { en, vi }

export interface Speech {
  lang: Language
  t: Dict
  f: Format
}

export const speech = (lang: Language): Speech => ({ lang, t: dicts[lang], f: formats(lang) })

/** preferred language of the browser, among those that the page speaks. */
export function preferred(wanted: readonly string[]): Language {
  for (const w of wanted) {
    const l = w.toLowerCase().split('-')[0]!
    if (l in dicts) return l as Language
  }
  return 'en'
}

export const Lang = createContext<Speech>(speech('en'))
export const useLang = (): Speech => useContext(Lang)
