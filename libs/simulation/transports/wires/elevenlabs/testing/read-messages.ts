import type { WireSide } from '../../../../voice/wire/wire.js';
import elevenlabsEntry from '../wire.js';
import type { ServerMessage } from '../../../../../../test/simulators/elevenlabs/double/messages.js';

/** What becomes of messages of the server, without a call. */
export interface ReadMessages {
  /** The first sample of each piece of audio that is not of an item that was dropped before. */
  readonly audio: number[];
  readonly drops: number;
  readonly agent: string[];
  readonly caller: string[];
  readonly tools: (readonly [name: string, json: string | null])[];
  readonly pongs: unknown[];
  /** Details of findings by their codes. */
  readonly findings: (readonly [code: string, detail: string])[];
  readonly notes: string[];
}

/** Reads messages that arrive every 20 ms, after the metadata. */
export function readMessages(messages: readonly (ServerMessage | string)[]): ReadMessages {
  const read = { audio: [] as number[], drops: 0, agent: [] as string[], caller: [] as string[] };
  const more = {
    ...{ tools: [] as [string, string | null][], pongs: [] as unknown[], notes: [] as string[] },
    findings: [] as [string, string][],
  };
  let dropped = 0;
  const side: Partial<WireSide> = {
    isLogged: false,
    ready: () => undefined,
    identified: () => undefined,
    send: (data) => {
      const { type, event_id } = JSON.parse(String(data)) as { type: string; event_id?: unknown };
      if (type === 'pong') more.pongs.push(event_id);
    },
    play: (_now, pcm, item = 0) => void (item > dropped && pcm.length > 0 && read.audio.push(pcm[0]!)),
    clear: (_now, upTo = 0) => {
      read.drops += 1;
      dropped = upTo;
      return 0;
    },
    heardOfItem: () => 0,
    said: (_now, text) => void (text !== '' && read.agent.push(text)),
    heardCaller: (_now, text) => void read.caller.push(text),
    toolCall: (_now, { name, json }) => void more.tools.push([name, json]),
    finding: (_now, { code, detail }) => void more.findings.push([code, detail]),
    event: (_now, { detail }) => void more.notes.push(detail),
  };
  const state = { initiation: {}, sendsActivity: false, signature: [], secrets: [] };
  const wire = elevenlabsEntry(state)(side as WireSide);
  const metadata = { type: 'conversation_initiation_metadata', conversation_initiation_metadata_event: {} };
  for (const [index, message] of [metadata, ...messages].entries()) {
    wire.message(20 * index, typeof message === 'string' ? message : JSON.stringify(message));
  }
  return { ...read, ...more };
}
