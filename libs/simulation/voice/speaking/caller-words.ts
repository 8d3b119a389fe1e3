/** What a caller says beside its lines, in one language. */
interface CallerWords {
  /** While it thinks. */
  readonly fillers: readonly string[];
  /** With which it interrupts the agent, before it goes on with what it wants. */
  readonly interruptions: readonly string[];
  /** The backchannel `yeah`; the others are not words. */
  readonly yeah: string;
}

const BY_LANGUAGE: Readonly<Record<string, CallerWords>> = {
  en: {
    fillers: ['Um', 'Let me see'],
    interruptions: ['Sorry, one moment.', 'Sorry, may I stop you there?', 'Wait, just a second.'],
    yeah: 'Yeah',
  },
  de: {
    fillers: ['Ähm', 'Mal sehen'],
    interruptions: ['Entschuldigung, einen Moment.', 'Darf ich kurz unterbrechen?', 'Warten Sie kurz.'],
    yeah: 'Ja',
  },
  es: {
    fillers: ['Eh', 'A ver'],
    interruptions: ['Perdone, un momento.', 'Perdone, ¿puedo interrumpirle?', 'Espere un segundo.'],
    yeah: 'Sí',
  },
  fr: {
    fillers: ['Euh', 'Voyons'],
    interruptions: ['Pardon, un instant.', 'Excusez-moi de vous interrompre.', 'Attendez une seconde.'],
    yeah: 'Oui',
  },
  it: {
    fillers: ['Ehm', 'Vediamo'],
    interruptions: ['Scusi, un momento.', 'Scusi se la interrompo.', 'Aspetti un secondo.'],
    yeah: 'Sì',
  },
  nl: {
    fillers: ['Eh', 'Even kijken'],
    interruptions: ['Sorry, een moment.', 'Mag ik u even onderbreken?', 'Wacht even.'],
    yeah: 'Ja',
  },
  pt: {
    fillers: ['Hum', 'Deixa ver'],
    interruptions: ['Desculpe, um momento.', 'Desculpe interromper.', 'Espere um segundo.'],
    yeah: 'Sim',
  },
};

/** The languages of fillers and backchannels, as ISO 639-1. */
export const CALLER_WORD_LANGUAGES = Object.keys(BY_LANGUAGE);

/** Whether the caller has fillers and backchannels in a language. @param language BCP 47 */
export const hasCallerWords = (language: string): boolean => callerWords(language) !== undefined;

/** @param language BCP 47 @returns undefined for a language in which the caller has no such words */
export function callerWords(language: string): CallerWords | undefined {
  const primary = language.toLowerCase().split('-')[0] ?? '';
  return Object.hasOwn(BY_LANGUAGE, primary) ? BY_LANGUAGE[primary] : undefined;
}

/**
 * The word that a backchannel is in another language than English; undefined where its recording serves, which is
 * English or not a word.
 * @param language BCP 47
 */
export function backchannelWord(name: string, language: string): string | undefined {
  const words = callerWords(language);
  return name === 'yeah' && words !== BY_LANGUAGE['en'] ? words?.yeah : undefined;
}
