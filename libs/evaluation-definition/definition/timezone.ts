import type { Violation } from '../../json-input/index.js';

export const TIMEZONE_RULE = 'must be an IANA time zone, for example Europe/Berlin';

/** The zone of most people in countries that have several. */
const MAIN_ZONES: Readonly<Record<string, string>> = {
  AR: 'America/Buenos_Aires',
  AU: 'Australia/Sydney',
  BR: 'America/Sao_Paulo',
  CA: 'America/Toronto',
  CL: 'America/Santiago',
  CN: 'Asia/Shanghai',
  CY: 'Asia/Nicosia',
  DE: 'Europe/Berlin',
  EC: 'America/Guayaquil',
  ES: 'Europe/Madrid',
  ID: 'Asia/Jakarta',
  KZ: 'Asia/Almaty',
  MN: 'Asia/Ulaanbaatar',
  MX: 'America/Mexico_City',
  NZ: 'Pacific/Auckland',
  PT: 'Europe/Lisbon',
  RU: 'Europe/Moscow',
  UA: 'Europe/Kiev',
  US: 'America/New_York',
};

/** Node calls it a method from version 22 on. */
interface Zones {
  readonly timeZones?: readonly string[];
  readonly getTimeZones?: () => readonly string[] | undefined;
}

/** Time zone of a call in this language: that of its country or, without one, of the country where most people speak it. */
export function defaultTimezone(language: string): string {
  const locale: Intl.Locale & Zones = new Intl.Locale(language).maximize();
  const { region = '' } = locale;
  // Spanish of Latin America, or of the world.
  if (!/^[A-Z]{2}$/.test(region)) return region === '419' ? MAIN_ZONES['MX']! : 'UTC';
  return MAIN_ZONES[region] ?? (locale.getTimeZones?.() ?? locale.timeZones)?.[0] ?? 'UTC';
}

/** What the JSON Schema cannot express. */
export function timezoneViolations(value: object): Violation[] {
  if (!('timezone' in value) || typeof value.timezone !== 'string') return [];
  try {
    new Intl.DateTimeFormat('en', { timeZone: value.timezone });
    return [];
  } catch {
    return [{ path: ['timezone'], text: TIMEZONE_RULE }];
  }
}
