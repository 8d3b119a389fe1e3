import type { ServerResponse } from 'node:http';
import { LanguageModel, type LanguageModelOptions } from '../../../libs/simulation/index.js';
import { sendCompletion, type TestServers } from '../servers.js';

export interface Asked {
  readonly role: 'caller' | 'judge';
  /** For the judge: the statement. */
  readonly statement: string;
  /** For the judge: the lines of the transcript. */
  readonly lines: readonly { readonly who: string; readonly text: string }[];
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly temperature: number;
}

export type Reply = string | object | ((response: ServerResponse) => void);

/** A stub of the language model: one function plays callers and judges. */
export async function stubModel(
  servers: TestServers,
  reply: (asked: Asked) => Reply,
  options: Partial<LanguageModelOptions> = {},
) {
  const asked: Asked[] = [];
  const url = await servers.http((response, { messages, temperature }) => {
    const isJudge = messages[0].content.startsWith('You judge');
    const statement = isJudge ? (JSON.parse(/^Statement: (.*)$/m.exec(messages[1].content)![1]!) as string) : '';
    const lines = isJudge ? linesOf(messages[1].content) : [];
    const question: Asked = { role: isJudge ? 'judge' : 'caller', statement, lines, messages, temperature };
    asked.push(question);
    const answer = reply(question);
    if (typeof answer === 'function') answer(response);
    else sendCompletion(response, typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  return { url, model: new LanguageModel({ baseUrl: url, model: 'stub', timeoutMs: 2_000, ...options }), asked };
}

const linesOf = (prompt: string): Asked['lines'] =>
  prompt.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));

/** Whether the judge is asked about the simulated caller, of whom only its own words are evidence. */
export const isAboutCaller = ({ statement }: Asked): boolean => statement.startsWith('The caller keeps its role');

/** A verdict with a valid quote: all that the side which is judged said first. */
export function verdict(asked: Asked, met: boolean): object {
  const who = isAboutCaller(asked) ? 'caller' : 'agent';
  return { met, quote: asked.lines.find((line) => line.who === who)?.text ?? '', reasoning: 'The words show it.' };
}
