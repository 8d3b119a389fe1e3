import { readFileSync } from 'node:fs';
import { delta, event } from '../../../../../../test/simulators/servers.js';

const FIXTURES = 'test/fixtures/compatibility/chat-completions';
export const fixture = (name: string): string => readFileSync(`${FIXTURES}/${name}`, 'utf8');

export const DONE = event('[DONE]');
export const stop = delta({}, 'stop') + DONE;
export const says = (content: unknown, finish: string | null = null) => delta({ content }, finish);
export const THE_TABLE = says('The ') + says('table');
