import { ElevenLabsServer, server as elevenlabs } from '../../../libs/simulation/testing/elevenlabs.js';
import { RetellServer } from '../../simulators/retell/server.js';
import { delta, event, TestServers } from '../../simulators/servers.js';
import { chatCalls, chatResult, chatSays, VapiServer } from '../../../libs/simulation/testing/vapi.js';

/** Of the account at each platform. */
export const KEY = 'key_1234567890abcdef';
const ARGUMENTS = { people: 4, guest: { name: 'Rossi', notes: ['window', null, true] } };

export interface Platform {
  /** Host and port. */
  readonly host: string;
  stop(): Promise<unknown>;
}

export const hostOf = (url: string): string => new URL(url).host;
const toolCall = {
  index: 0,
  id: 'call_1',
  type: 'function',
  function: { name: 'find', arguments: JSON.stringify(ARGUMENTS) },
};

/** Healthy exchanges with words, and calls of tools with their arguments and results, by protocol. */
export const TEXT_PLATFORMS: Readonly<
  Record<string, { readonly path?: string; readonly start: () => Promise<Platform> }>
> = {
  'chat-completions': {
    path: '/v1/chat/completions',
    start: async () => {
      const servers = new TestServers();
      const url = await servers.http((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(delta({ role: 'assistant', content: 'Wel' }) + delta({ content: 'come!' }));
        response.end(delta({ tool_calls: [toolCall] }) + delta({}, 'stop') + event('[DONE]'));
      });
      return { host: hostOf(url), stop: () => servers.close() };
    },
  },
  'chat-completions, whole': {
    path: '/v1/chat/completions',
    start: async () => {
      const servers = new TestServers();
      const url = await servers.http((response) => {
        const message = { role: 'assistant', content: 'Welcome!', tool_calls: [toolCall] };
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({ id: 'c1', choices: [{ index: 0, message, finish_reason: 'stop' }], usage: null }),
        );
      });
      return { host: hostOf(url), stop: () => servers.close() };
    },
  },
  'retell-text': {
    start: async () => {
      const call = {
        role: 'tool_call_invocation',
        tool_call_id: 't1',
        name: 'find',
        arguments: JSON.stringify(ARGUMENTS),
      };
      const result = { role: 'tool_call_result', tool_call_id: 't1', content: '{"table":7}', successful: true };
      const answer = () => ({
        messages: [call, result, { role: 'agent', content: 'Welcome!', message_id: 'm1' }],
        ...{ current_state: 'booking', current_node_id: 'node-1', dynamic_variables: { people: '4' } },
      });
      const double = await RetellServer.start({ apiKey: KEY, answer });
      return { host: hostOf(double.url), stop: () => double.stop() };
    },
  },
  'vapi-chat': {
    start: async () => {
      const chat = [[chatCalls('t1', 'find', ARGUMENTS), chatResult('t1', '{"table":7}'), chatSays('Welcome!')]];
      const double = await VapiServer.start({ apiKey: KEY, chat });
      return { host: hostOf(double.url), stop: () => double.stop() };
    },
  },
  'elevenlabs-text': {
    start: async () => {
      const send = [elevenlabs.ping(1), elevenlabs.response('Welcome!')];
      const tool = elevenlabs.clientTool('t1', 'find', ARGUMENTS);
      const script = { onStart: [{ send: [elevenlabs.metadata(), ...send] }], onTurn: [[{ send: [tool, ...send] }]] };
      const double = await ElevenLabsServer.start({ apiKey: KEY, script });
      return { host: hostOf(double.url), stop: () => double.stop() };
    },
  },
};
