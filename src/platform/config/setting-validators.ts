import { EnvError, makeValidator } from 'envalid';

/** Invalid settings; the message has one line per setting, for administrators. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

export const wholeNumber = (lowest: number, highest: number) =>
  makeValidator<number>((input) => {
    const value = Number(input);
    if (!/^\d+$/.test(input) || value < lowest || value > highest) {
      throw new EnvError(`must be a whole number from ${lowest} to ${highest}`);
    }
    return value;
  })();

export const address = (...protocols: string[]) =>
  makeValidator<string>((input) => {
    const url = URL.canParse(input) ? new URL(input) : undefined;
    if (!url || !protocols.includes(url.protocol)) {
      throw new EnvError(`must be an address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    }
    return input;
  });

/** An address that paths are appended to. */
export const publicAddress = makeValidator<string>((input) => {
  const url = URL.canParse(input) ? new URL(input) : undefined;
  if (!url || !/^https?:\/\/[^/?#\\\s@]+(\/[^?#\\\s]*)?$/i.test(input)) {
    throw new EnvError('must be an address such as https://tests.example.com, without credentials, query and fragment');
  }
  return url.href.replace(/\/+$/, '');
});

/** Servers of language models decide about their keys; those that run locally accept any. */
export const bearerToken = makeValidator<string>((input) => {
  if (!/^[\x21-\x7e]{1,4096}$/.test(input)) throw new EnvError('must have 1 to 4096 visible ASCII characters');
  return input;
});
