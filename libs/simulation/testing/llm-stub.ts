import type { ServerResponse } from 'node:http';
import { LanguageModel, type LanguageModelOptions } from '../index.js';
import { sendCompletion, type TestServers } from './servers.js';

interface Asked {
  readonly role: 'caller' | 'judge';
  /** For the judge: the statement. */
  readonly statement: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly temperature: number;
}

type Reply = string | object | ((response: ServerResponse) => void);

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
    const question: Asked = { role: isJudge ? 'judge' : 'caller', statement, messages, temperature };
    asked.push(question);
    const answer = reply(question);
    if (typeof answer === 'function') answer(response);
    else sendCompletion(response, typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  return { model: new LanguageModel({ baseUrl: url, model: 'stub', timeoutMs: 2_000, ...options }), asked };
}
