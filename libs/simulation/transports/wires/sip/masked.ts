/** Headers whose values are credentials, and the key of SRTP. */
const SECRETS = /^((?:proxy-)?authorization:[ \t]*\w+)[^\r\n]*|(a=crypto:\d+ \S+ inline:)[^\r\n]*/gim;
/** Telephone numbers: wherever a + is, as display names, and as the user part of addresses. */
const NUMBERS = /(tel:\+?|"\+?|\+)(\d[\d().-]{4,})(?=\d{2})|(sips?:)(\d[\d().-]{4,})(?=\d{2}[^@>\s]{0,64}@)/gi;

/** A message of SIP as it may be kept: without credentials and keys, and with the last two digits of numbers only. */
export const masked = (text: string): string =>
  text
    .replace(SECRETS, (_all, header?: string, crypto?: string) => `${header ?? crypto} ***`)
    .replace(NUMBERS, (_all, before?: string, digits?: string, scheme?: string, user?: string) => {
      return `${before ?? scheme}${(digits ?? user)!.replace(/\d/g, '*')}`;
    });
