import { SaxesParser } from 'saxes';
import { CallFailure } from '../../timeline/failure.js';
import { truncate } from '../../timeline/text.js';

const MAX_DEPTH = 16;

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | undefined>>;
  readonly children: (Element | string)[];
}

export const isElement = (child: Element | string): child is Element => typeof child !== 'string';

export const invalid = (what: string) => new CallFailure('invalid_twiml', what);

/**
 * Reads a well-formed XML document of an untrusted agent, as strictly as Twilio's parser does.
 * @param charset of the Content-Type, which prevails over the declaration (RFC 7303, section 3.2)
 * @returns its root
 * @throws CallFailure `invalid_twiml`
 */
export function readXml(bytes: Uint8Array, charset?: string): Element {
  const xml = decoded(bytes, charset);
  const document: Element = { name: '', attributes: {}, children: [] };
  const open = [document];
  const add = (child: Element | string) => void open.at(-1)!.children.push(child);
  const parser = new SaxesParser({ xmlns: false, forceXMLVersion: true, defaultXMLVersion: '1.0' } as const);
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length > MAX_DEPTH) throw invalid(`its elements are nested more than ${MAX_DEPTH} deep`);
    const element = { name, attributes, children: [] };
    add(element);
    open.push(element);
  });
  parser.on('closetag', () => void open.pop());
  // Entities of its own could grow without limit; TwiML has none.
  parser.on('doctype', () => {
    throw invalid('it has a document type declaration');
  });
  parser.on('error', ({ message }) => {
    throw invalid(truncate(unescapedIn(xml) ?? message.replace(/^(\d+):\d+: /, 'line $1: '), 200));
  });
  parser.write(xml).close();
  return document.children.find(isElement)!;
}

const AMPERSANDS = /<!--[^]*?(?:-->|$)|<!\[CDATA\[[^]*?(?:\]\]>|$)|&(?!#?\w+;)/g;

/** An `&` that begins no reference: the parser reports only what follows from it, such as a tag that is not closed. */
function unescapedIn(xml: string): string | undefined {
  const found = [...xml.matchAll(AMPERSANDS)].find(([match]) => match === '&');
  return found && `line ${xml.slice(0, found.index).split('\n').length}: an & that is not escaped; write &amp;`;
}

/** By the byte order mark, the Content-Type or the declaration, in this order; without any it is UTF-8. */
function decoded(bytes: Uint8Array, charset: string | undefined): string {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  const [, declared] = /^(?:\xEF\xBB\xBF)?<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)/.exec(start) ?? [];
  const marked = [['\xFF\xFE', 'utf-16le'] as const, ['\xFE\xFF', 'utf-16be'] as const];
  const [, label = charset ?? declared ?? 'utf-8'] = marked.find(([mark]) => start.startsWith(mark)) ?? [];
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    throw invalid(`its bytes are not ${truncate(label, 40)}`);
  }
}
