/** An element of XML 1.0. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text of this element itself. */
  readonly text: string;
}

const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const TAG = /<(\/?)([a-z][a-z-]*)((?:\s+[a-z]+="[^"<]*")*)\s*(\/?)>/y;

/** A strict parser for the subset of XML that reports use. @throws Error for malformed XML */
export function readXml(document: string): XmlElement {
  const forbidden = FORBIDDEN.exec(document);
  if (forbidden) throw new Error(`Forbidden character at ${forbidden.index}`);
  const prolog = '<?xml version="1.0" encoding="UTF-8"?>\n';
  if (!document.startsWith(prolog)) throw new Error('No XML declaration');
  const root = { name: '', attributes: {}, children: [] as XmlElement[], text: '' };
  const open: (typeof root)[] = [root];
  for (let position = prolog.length; position < document.length;) {
    const next = document.indexOf('<', position);
    const text = document.slice(position, next === -1 ? undefined : next);
    open.at(-1)!.text += decoded(text);
    if (next === -1) break;
    TAG.lastIndex = next;
    const tag = TAG.exec(document);
    if (!tag) throw new Error(`No tag at ${next}: ${document.slice(next, next + 40)}`);
    const [all, slash, name = '', attributes = '', selfClosing] = tag;
    if (slash) {
      if (open.pop()!.name !== name) throw new Error(`Unexpected </${name}>`);
    } else {
      const element = { name, attributes: attributesOf(attributes), children: [] as XmlElement[], text: '' };
      open.at(-1)!.children.push(element);
      if (!selfClosing) open.push(element);
    }
    position = next + all.length;
  }
  const [only] = root.children;
  if (open.length !== 1 || root.children.length !== 1 || !only || root.text.trim() !== '')
    throw new Error('Not one root');
  return only;
}

function attributesOf(source: string): Record<string, string> {
  const found = [...source.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value] as const);
  if (new Set(found.map(([name]) => name)).size < found.length) throw new Error('Duplicate attribute');
  // XML parsers normalise white space in attributes.
  return Object.fromEntries(found.map(([name, value]) => [name, decoded(value.replace(/[\n\t]/g, ' '))]));
}

function decoded(text: string): string {
  if (text.includes(']]>')) throw new Error('"]]>" in text');
  return text.replace(/&(?:#(\d+);)?/g, (reference, code: string | undefined) => {
    if (code === undefined) throw new Error(`Bare ampersand in ${text.slice(0, 60)}`);
    const character = String.fromCodePoint(Number(code));
    if (FORBIDDEN.test(character)) throw new Error(`Forbidden reference ${reference}`);
    return character;
  });
}
