const html = (text: string): string => text.replace(/[^a-z]/gi, (char) => `&#${char.charCodeAt(0)};`);
const unicode = (text: string): string =>
  text.replace(/[^a-z0-9]/gi, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A secret in sixteen encodings, in which it must not be found where it does not belong. */
export function formsOfSecret(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    secret.toLowerCase(),
    secret.toUpperCase(),
    [...secret].reverse().join(''),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(secret),
    bytes.toString('hex').replace(/../g, '%$&'),
    JSON.stringify(secret).slice(1, -1),
    unicode(secret),
    html(secret),
    bytes.toString('base64').replace(/=+$/, ''),
    // In the middle of a longer text.
    Buffer.from(` ${secret}`).toString('base64'),
    Buffer.from(`: ${secret}`).toString('base64'),
  ];
}
