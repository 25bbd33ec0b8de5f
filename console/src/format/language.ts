/**
 * The language of a page: of its dates and numbers, and of the words in common parts. The console is in English; the
 * language of a dashboard is set by its address, once, before anything is rendered.
 */

export type Language = 'en' | 'de' | 'es' | 'fr';

interface Spoken {
  /** The locale for the browser's formats. */
  readonly locale: string;
  readonly figures: string;
  readonly day: string;
  readonly hour: string;
  readonly others: string;
  readonly loading: string;
  readonly again: string;
}

const SPOKEN: Readonly<Record<Language, Spoken>> = {
  en: {
    locale: 'en-US',
    figures: 'Figures as a table',
    day: 'Day (UTC)',
    hour: 'Hour (UTC)',
    others: 'all others',
    loading: 'Loading',
    again: 'Try again',
  },
  de: {
    locale: 'de-DE',
    figures: 'Werte als Tabelle',
    day: 'Tag (UTC)',
    hour: 'Stunde (UTC)',
    others: 'alle anderen',
    loading: 'Wird geladen',
    again: 'Erneut versuchen',
  },
  es: {
    locale: 'es-ES',
    figures: 'Valores en una tabla',
    day: 'Día (UTC)',
    hour: 'Hora (UTC)',
    others: 'todos los demás',
    loading: 'Cargando',
    again: 'Intentar de nuevo',
  },
  fr: {
    locale: 'fr-FR',
    figures: 'Valeurs en tableau',
    day: 'Jour (UTC)',
    hour: 'Heure (UTC)',
    others: 'tous les autres',
    loading: 'Chargement',
    again: 'Réessayer',
  },
};

let language: Language = 'en';

/** Sets the language of the page. */
export function speak(chosen: Language): void {
  language = chosen;
}

export function isLanguage(text: string | undefined): text is Language {
  return text !== undefined && Object.hasOwn(SPOKEN, text);
}

export function spoken(): Spoken {
  return SPOKEN[language];
}
