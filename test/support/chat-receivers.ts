import { type Behaviour, type Received, startReceiver } from './receiver.js';

/** Chat systems that take Slack's messages. */
export type Chat = 'slack' | 'mattermost' | 'discord';

/** What a chat makes of a text: whom it notifies, and where it links to. */
export interface Shown {
  readonly mentions: readonly string[];
  readonly links: readonly string[];
}

const decoded = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([match]) => match);

/** Slack reads `<…>` before entities and never again (PostHog/posthog#95054); bare addresses and domains become links. */
function inSlack(text: string): Shown {
  const tokens = all(text, /<[^>]*>/g);
  const rest = text.replace(/<[^>]*>/g, ' ');
  return {
    mentions: tokens.filter((token) => /^<[@!#]/.test(token)),
    links: [
      ...tokens.flatMap((token) => /^<([^@!#|>][^|>]*)/.exec(token)?.[1] ?? []),
      ...all(rest, /\w+:\/\/\S+|\b[\w-]+\.[a-z]{2,}\b/giu),
    ],
  };
}

/** Markdown, in which `@name` notifies (`ProcessSlackText` of mattermost/mattermost, #7615); entities are decoded for display. */
function inMarkdown(text: string): Shown {
  const announced = text
    .replace(/<!(channel|here|all|everyone)>/g, '@$1')
    .replace(/<([^|<>\n]+)\|([^|>\n]+)>/g, '[$2]($1)');
  const markdown = decoded(announced);
  const links = all(markdown, /\]\(([^)]*)\)/g).map((match) => match.slice(2, -1));
  return {
    mentions: all(markdown, /@[\p{L}\p{N}!&]+/gu),
    links: [...links, ...all(markdown.replace(/\]\([^)]*\)/g, ']'), /\w+:\/\/\S+|\bwww\.\S+/giu)],
  };
}

export const shown = (chat: Chat, text: string): Shown => (chat === 'slack' ? inSlack(text) : inMarkdown(text));

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/** Why a chat refuses a body: status and answer. */
function refusal(chat: Chat, body: string): readonly [status: number, answer: string] | undefined {
  const payload = parsed(body);
  const text = (payload as { text?: unknown } | undefined)?.text;
  if (chat === 'slack') {
    if (typeof payload !== 'object') return [400, 'invalid_payload'];
    return typeof text === 'string' && text !== '' ? undefined : [400, 'no_text'];
  }
  if (chat === 'mattermost') {
    if (typeof text === 'string' && text !== '') return undefined;
    return [400, '{"id":"web.incoming_webhook.text.app_error","message":"No text specified.","status_code":400}'];
  }
  if (typeof text !== 'string' || text === '')
    return [400, '{"message": "Cannot send an empty message", "code": 50006}'];
  // Of thp/urlwatch#353 and loomio/loomio#11144.
  return text.length <= 2_000 ? undefined : [400, '{"content": ["Must be 2000 or fewer in length."]}'];
}

/** Starts the incoming webhook of a chat on a free loopback port: it answers as the chat does. */
export async function startChat(chat: Chat) {
  const respond: Behaviour = (response, _, count) => {
    const [status, answer] = refusal(chat, receiver.received[count - 1]?.body ?? '') ?? [200, 'ok'];
    // Slack's words are `text/html` (integrations/slack#770).
    response.writeHead(status, { 'Content-Type': chat === 'slack' ? 'text/html' : 'application/json' }).end(answer);
  };
  const receiver = await startReceiver(respond);
  return receiver;
}

/** The text of a message. */
export const textOf = ({ body }: Pick<Received, 'body'>): string => (JSON.parse(body) as { text: string }).text;
