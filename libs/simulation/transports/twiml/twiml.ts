import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { CallFailure } from '../../timeline/failure.js';
import { truncate } from '../../timeline/text.js';

/** Twilio's own limit (error 11750). */
export const MAX_TWIML_BYTES = 64 * 1024;
const MAX_VERBS = 200;
const MAX_DEPTH = 16;
const MAX_PARAMETERS = 100;
/** As often does Twilio repeat what has `loop="0"`, which stands for no end. */
const MAX_LOOPS = 1_000;

export interface StreamNoun {
  readonly url: string;
  readonly name: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}

/** What a TwiML document asks for, in order. */
export type Verb =
  | { readonly verb: 'say'; readonly text: string; readonly loop: number }
  | { readonly verb: 'play'; readonly url: string; readonly loop: number }
  | { readonly verb: 'pause'; readonly seconds: number }
  | { readonly verb: 'redirect'; readonly url: string; readonly method: HttpMethod }
  /** `stream` is undefined for a noun that is not supported. */
  | {
      readonly verb: 'connect';
      readonly stream: StreamNoun | undefined;
      readonly noun: string;
      readonly action: string | undefined;
      readonly method: HttpMethod;
    }
  | { readonly verb: 'start'; readonly stream: StreamNoun | undefined }
  | { readonly verb: 'dial'; readonly to: string }
  | { readonly verb: 'gather' }
  | { readonly verb: 'hangup' | 'reject' }
  | { readonly verb: 'other'; readonly name: string };

export type HttpMethod = 'GET' | 'POST';

/** Elements as the parser returns them: one property with the children, and attributes at `:@`. */
type Node = Readonly<Record<string, unknown>>;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: MAX_DEPTH,
  // Numeric references too: Twilio's helper for Python writes all characters beyond ASCII so.
  htmlEntities: true,
});

/**
 * Reads the TwiML of an untrusted agent.
 * @throws CallFailure `invalid_twiml`
 */
export function parseTwiml(xml: string): Verb[] {
  // Entities of its own could grow without limit; TwiML has none.
  if (/<!(DOCTYPE|ENTITY)/i.test(xml)) throw invalid('it has a document type declaration');
  const response = documentOf(xml).find((node) => nameOf(node) === 'Response');
  if (!response) throw invalid('its root is not <Response>');
  const verbs = elementsOf(response);
  if (verbs.length > MAX_VERBS) throw invalid(`it has more than ${MAX_VERBS} verbs`);
  return verbs.map(readVerb);
}

/** What XML 1.0 cannot contain (section 2.2), not even as a reference; in comments and CDATA there are no references. */
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const REFERENCES = /<!--[^]*?(?:-->|$)|<!\[CDATA\[[^]*?(?:\]\]>|$)|&#(?:x([0-9a-f]+)|([0-9]+));/gi;

/** The first such character, in words. */
function forbiddenIn(xml: string): string | undefined {
  const [character] = FORBIDDEN.exec(xml) ?? [];
  if (character !== undefined) return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const [reference, hex, decimal] of xml.matchAll(REFERENCES)) {
    const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
    // NaN in a comment.
    if (code > 0x10ffff || (code >= 0 && FORBIDDEN.test(String.fromCodePoint(code)))) return reference;
  }
  return undefined;
}

function documentOf(xml: string): Node[] {
  const forbidden = forbiddenIn(xml);
  if (forbidden !== undefined) throw invalid(`it contains ${truncate(forbidden, 20)}, which XML cannot contain`);
  const found = XMLValidator.validate(xml);
  if (found !== true) throw invalid(`line ${found.err.line}: ${found.err.msg}`);
  try {
    return parser.parse(xml) as Node[];
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : 'it is not XML');
  }
}

const invalid = (what: string) => new CallFailure('invalid_twiml', what);

function readVerb(node: Node): Verb {
  const name = nameOf(node) ?? '';
  const attributes = attributesOf(node);
  switch (name) {
    case 'Say':
      return { verb: 'say', text: textOf(node), loop: timesOf(attributes) };
    case 'Play':
      return { verb: 'play', url: textOf(node), loop: timesOf(attributes) };
    case 'Pause':
      return { verb: 'pause', seconds: count(attributes.length, 1) };
    case 'Redirect':
      return { verb: 'redirect', url: textOf(node), method: methodOf(attributes) };
    case 'Connect':
      return readConnect(node);
    case 'Start':
      return { verb: 'start', stream: streamOf(node) };
    case 'Dial':
      return { verb: 'dial', to: textOf(node) };
    case 'Gather':
      return { verb: 'gather' };
    case 'Hangup':
      return { verb: 'hangup' };
    case 'Reject':
      return { verb: 'reject' };
    default:
      return { verb: 'other', name };
  }
}

function readConnect(node: Node): Verb {
  const attributes = attributesOf(node);
  const noun = nameOf(elementsOf(node)[0] ?? {}) ?? 'nothing';
  return { verb: 'connect', stream: streamOf(node), noun, action: attributes.action, method: methodOf(attributes) };
}

function streamOf(node: Node): StreamNoun | undefined {
  const stream = elementsOf(node).find((child) => nameOf(child) === 'Stream');
  if (!stream) return undefined;
  const { url = '', name } = attributesOf(stream);
  const parameters = elementsOf(stream)
    .filter((child) => nameOf(child) === 'Parameter')
    .slice(0, MAX_PARAMETERS)
    .map(attributesOf);
  const entries = parameters.map(({ name: key = '', value = '' }) => [key, value] as const);
  return { url: url.trim(), name, parameters: Object.fromEntries(entries.filter(([key]) => key !== '')) };
}

const nameOf = (node: Node): string | undefined => Object.keys(node).find((key) => key !== ':@' && key !== '#text');

const childrenOf = (node: Node): Node[] => {
  const children = node[nameOf(node) ?? ''];
  return Array.isArray(children) ? (children as Node[]) : [];
};

const elementsOf = (node: Node): Node[] => childrenOf(node).filter((child) => nameOf(child) !== undefined);

const attributesOf = (node: Node): Readonly<Record<string, string | undefined>> =>
  (node[':@'] as Record<string, string> | undefined) ?? {};

/** The text of an element with that of its children, as in `<Dial><Number>…</Number></Dial>`. */
const textOf = (node: Node): string =>
  childrenOf(node)
    .map((child) => (typeof child['#text'] === 'string' ? child['#text'] : textOf(child)))
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();

const methodOf = ({ method }: Readonly<Record<string, string | undefined>>): HttpMethod =>
  /^get$/i.test(method ?? '') ? 'GET' : 'POST';

const timesOf = ({ loop }: Readonly<Record<string, string | undefined>>): number =>
  Math.min(MAX_LOOPS, count(loop, 1) || MAX_LOOPS);

/** A number of times or seconds. */
const count = (text: string | undefined, otherwise: number): number =>
  text !== undefined && /^\d{1,4}$/.test(text.trim()) ? Number(text) : otherwise;
