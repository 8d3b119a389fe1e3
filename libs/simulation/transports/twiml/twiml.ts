import { type Element, invalid, isElement, readXml } from './xml.js';

/** Twilio's own limit (error 11750). */
export const MAX_TWIML_BYTES = 64 * 1024;
const MAX_VERBS = 200;
const MAX_PARAMETERS = 100;
/** As often does Twilio repeat what has `loop="0"`, which stands for no end. */
const MAX_LOOPS = 1_000;

export interface StreamNoun {
  readonly url: string;
  readonly track: string | undefined;
  readonly statusCallback: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}

/** What a TwiML document asks for, in order. */
export type Verb =
  | { readonly verb: 'say'; readonly text: string; readonly loop: number }
  /** `keys` are tones of the keypad, for which no file is fetched. */
  | { readonly verb: 'play'; readonly url: string; readonly keys: string | undefined; readonly loop: number }
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
  /** Passes the call on: `<Dial>`, `<Refer>`, `<Enqueue>`. Targets that ring at the same time are separated by commas. */
  | { readonly verb: 'dial'; readonly name: string; readonly to: string }
  /** `onEmpty` is requested if the caller does nothing. */
  | {
      readonly verb: 'gather';
      readonly verbs: readonly Verb[];
      readonly seconds: number;
      readonly onEmpty: { readonly url: string; readonly method: HttpMethod } | undefined;
    }
  | { readonly verb: 'hangup' | 'reject' | 'start' }
  | { readonly verb: 'other'; readonly name: string };

export type HttpMethod = 'GET' | 'POST';

/**
 * Reads the TwiML of an untrusted agent.
 * @param charset of its Content-Type
 * @throws CallFailure `invalid_twiml`
 */
export function parseTwiml(body: Uint8Array, charset?: string): Verb[] {
  const root = readXml(body, charset);
  if (root.name !== 'Response') throw invalid('its root is not <Response>');
  const verbs = elementsOf(root);
  if (verbs.length > MAX_VERBS) throw invalid(`it has more than ${MAX_VERBS} verbs`);
  return verbs.map(readVerb);
}

function readVerb(element: Element): Verb {
  const { name, attributes } = element;
  switch (name) {
    case 'Say':
      return { verb: 'say', text: textOf(element), loop: timesOf(attributes) };
    case 'Play':
      return { verb: 'play', url: textOf(element), keys: attributes.digits, loop: timesOf(attributes) };
    case 'Pause':
      return { verb: 'pause', seconds: count(attributes.length, 1) };
    case 'Redirect':
      return { verb: 'redirect', url: textOf(element), method: methodOf(attributes) };
    case 'Connect':
      return readConnect(element);
    case 'Start':
      return { verb: 'start' };
    case 'Dial':
    case 'Refer': {
      const to = targetsOf(element);
      return to === '' ? { verb: 'other', name } : { verb: 'dial', name, to };
    }
    case 'Enqueue':
      // With a workflow its text is the task, not a queue.
      return { verb: 'dial', name, to: attributes.workflowSid ?? textOf(element) };
    case 'Gather':
      return readGather(element);
    case 'Hangup':
      return { verb: 'hangup' };
    case 'Reject':
      return { verb: 'reject' };
    default:
      return { verb: 'other', name };
  }
}

function readConnect(element: Element): Verb {
  const { attributes } = element;
  const noun = elementsOf(element)[0]?.name ?? 'nothing';
  return { verb: 'connect', stream: streamOf(element), noun, action: attributes.action, method: methodOf(attributes) };
}

function streamOf(element: Element): StreamNoun | undefined {
  const stream = elementsOf(element).find(({ name }) => name === 'Stream');
  if (!stream) return undefined;
  const { url = '', track, statusCallback } = stream.attributes;
  const parameters = elementsOf(stream).filter((child) => child.name === 'Parameter');
  const entries = parameters.slice(0, MAX_PARAMETERS).map(({ attributes }) => {
    return [attributes.name ?? '', attributes.value ?? ''] as const;
  });
  const named = Object.fromEntries(entries.filter(([key]) => key !== ''));
  return { url: url.trim(), track, statusCallback, parameters: named };
}

/** What may be nested in it is said and played before the caller's time begins. */
function readGather(element: Element): Verb {
  const { timeout, action = '', actionOnEmptyResult } = element.attributes;
  const verbs = elementsOf(element).filter(({ name }) => ['Say', 'Play', 'Pause'].includes(name));
  const onEmpty = actionOnEmptyResult === 'true' ? { url: action, method: methodOf(element.attributes) } : undefined;
  return { verb: 'gather', verbs: verbs.slice(0, MAX_VERBS).map(readVerb), seconds: count(timeout, 5), onEmpty };
}

const elementsOf = ({ children }: Element): Element[] => children.filter(isElement);

/** The text of an element with that of its children, as in `<Dial><Number>…</Number></Dial>`. */
const textOf = ({ children }: Element): string =>
  children
    .map((child) => (isElement(child) ? ` ${textOf(child)} ` : child))
    .join('')
    .replace(/\s+/g, ' ')
    .trim();

const targetsOf = (element: Element): string =>
  elementsOf(element).map(textOf).filter(Boolean).join(', ') || textOf(element);

const methodOf = ({ method }: Element['attributes']): HttpMethod => (/^get$/i.test(method ?? '') ? 'GET' : 'POST');

const timesOf = ({ loop }: Element['attributes']): number => Math.min(MAX_LOOPS, count(loop, 1) || MAX_LOOPS);

/** A number of times or seconds. */
const count = (text: string | undefined, otherwise: number): number =>
  text !== undefined && /^\d{1,4}$/.test(text.trim()) ? Number(text) : otherwise;
