import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** What is dialled for a number, or why nothing is: the rest of a sentence about the number. */
export type DialledNumber = { readonly number: string } | { readonly violation: string };

/** Kinds that cost the caller more than a call to their country, or have no price that is known beforehand. */
const EXPENSIVE: ReadonlySet<string | undefined> = new Set(['PREMIUM_RATE', 'SHARED_COST', 'PERSONAL_NUMBER']);
/** Emergency numbers and harmonised helplines of all countries, also after the digit for an outside line of an exchange. */
const EMERGENCY = /^[09]?(?:[019]\d{1,2}|116\d{3})$/;
/** How networks of the world write `+` in digits. */
const INTERNATIONAL = /^(?:0011|011|00|810)/;

/** Which telephone numbers the service may dial. */
export class NumberRules {
  /** @param allowedPrefixes of E.164 with `+`, or of numbers without it; empty: nothing is dialled */
  constructor(private readonly allowedPrefixes: readonly string[]) {}

  /**
   * @param text a number without separators
   * @param isByTrunk whether a trunk carries the call to the telephone network, which needs E.164
   */
  check(text: string, isByTrunk: boolean): DialledNumber {
    if (isByTrunk && !/^\+\d{8,15}$/.test(text)) return refused('must be "+" and 8 to 15 digits for a trunk');
    if (!/^\+?\d{1,24}$/.test(text)) return refused('is not a telephone number');
    return text.startsWith('+') ? this.international(text) : this.asWritten(text);
  }

  private international(text: string): DialledNumber {
    const parsed = parsePhoneNumberFromString(text);
    if (!parsed?.isPossible()) return refused('is not a number that its country can have');
    const { number, nationalNumber } = parsed;
    if (EXPENSIVE.has(parsed.getType()))
      return refused('is a number of premium rate or shared cost: it is never dialled');
    // Networks may take the first digits for a short number. New ranges that are not known here rarely begin like this.
    if (!parsed.isValid() && /^[0189]/.test(nationalNumber)) return refused('is not assigned in its country');
    return this.allowed(text, number) ?? { number };
  }

  /** A number of an exchange, or one whose country only its host knows. */
  private asWritten(text: string): DialledNumber {
    if (EMERGENCY.test(text)) return refused('may be an emergency number: it is never dialled');
    for (const digits of [text, text.replace(INTERNATIONAL, '')]) {
      const type = parsePhoneNumberFromString(`+${digits}`)?.getType();
      if (EXPENSIVE.has(type)) return refused('may be a number of premium rate or shared cost: it is never dialled');
    }
    return this.allowed(text) ?? { number: text };
  }

  private allowed(...forms: readonly string[]): DialledNumber | undefined {
    if (this.allowedPrefixes.length === 0) return refused('is not dialled: SIP_ALLOWED_PREFIXES is not set');
    const isAllowed = forms.every((form) => this.allowedPrefixes.some((prefix) => form.startsWith(prefix)));
    return isAllowed ? undefined : refused('has none of the prefixes of SIP_ALLOWED_PREFIXES');
  }
}

const refused = (violation: string): DialledNumber => ({ violation });
