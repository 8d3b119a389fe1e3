import { readFileSync } from 'node:fs';
import path from 'node:path';
import { decodeMulaw, encodeMulaw } from '../../audio/index.js';
import { normalise } from '../../evaluation-definition/index.js';
import { type CallResult, executeCall, virtualCalls, type VoiceOptions } from '../index.js';
import { twilioWire } from '../testing/wires.js';
import { voiceGuide } from '../../../test/simulators/agent/testing/guide-agent.js';
import type { InProcessMediaAgentFactory } from '../voice/call/in-process-agent.js';
import { prepared, speech } from '../voice/testing/virtual-calls.js';

const { script, checks } = voiceGuide(readFileSync(path.resolve(__dirname, '../../../docs/guides/checks.md'), 'utf8'));
/** The others need the agent's words. */
const audible = checks.filter(({ type }) => type !== 'speaking_rate');

const SOUNDS: VoiceOptions['sounds'] = {
  synthesise: async ({ text }) => ({ ...prepared(text.length * 50), words: [] }),
  soundOf: async () => prepared(350),
};
const ANSWER_MS = 8_000;

interface Behaviour {
  /** Sound of the caller after which the agent stops. */
  readonly yieldsAfterMs?: number;
  readonly clears?: boolean;
  /** Silence after which it answers: longer than the caller's hesitation, or not. */
  readonly endOfTurnMs?: number;
  readonly dbfs?: number;
  /** Silence after each 200 ms of its audio. */
  readonly gapMs?: number;
  readonly hearsKeys?: boolean;
}

/** What the agent does wrong, by the name of the check that finds it. */
const FAULTS: Readonly<Record<string, Behaviour>> = {
  'Stops within a second when the caller barges in': { yieldsAfterMs: Infinity },
  'Is not stopped by a cough or an mm-hmm': { yieldsAfterMs: 100 },
  'Lets the caller finish': { endOfTurnMs: 600 },
  'Does not talk over the caller': { yieldsAfterMs: Infinity, endOfTurnMs: 600 },
  'Is neither too quiet nor distorted': { dbfs: -48 },
  'Does not stutter': { gapMs: 60 },
  'Keeps to the protocol of Twilio': { clears: false },
  'Reacts to the keys 1 and hash': { hearsKeys: false },
};

/** An agent on Twilio Media Streams that hears by level and answers everything with a tone. */
const agentWith =
  (behaviour: Behaviour): InProcessMediaAgentFactory =>
  (socket) => {
    const { yieldsAfterMs = 500, clears = true, endOfTurnMs = 1_500, dbfs = -20, gapMs = 0 } = behaviour;
    let streamSid = '';
    let loudMs = 0;
    let heardUntil = -Infinity;
    let owes = false;
    let playsUntil = 0;
    /** Audio that is sent later: what one message carries is played without gaps. */
    let parts: { readonly at: number; readonly ms: number }[] = [];
    const send = (message: object) => socket.send(JSON.stringify({ streamSid, ...message }));
    const media = (ms: number) =>
      send({ event: 'media', media: { payload: Buffer.from(encodeMulaw(speech(ms, dbfs))).toString('base64') } });
    const answer = (now: number, ms: number) => {
      owes = false;
      playsUntil = now + ms;
      const length = gapMs === 0 ? ms : 200;
      for (let at = 0; at < ms; at += length + gapMs) parts.push({ at: now + at, ms: length });
    };
    const hear = (now: number, payload: string) => {
      const isLoud = decodeMulaw(Buffer.from(payload, 'base64')).some((sample) => Math.abs(sample) > 1_000);
      loudMs = isLoud ? loudMs + 20 : 0;
      if (!isLoud) return;
      heardUntil = now;
      owes ||= playsUntil <= now || loudMs >= Math.min(yieldsAfterMs, 500);
      if (playsUntil <= now || loudMs < yieldsAfterMs) return;
      if (clears) send({ event: 'clear' });
      playsUntil = now;
      parts = [];
    };
    return {
      onMessage: (now, data) => {
        const { event, media, start, dtmf } = JSON.parse(String(data));
        if (event === 'start') {
          streamSid = start.streamSid;
          answer(now, 1_000);
        } else if (event === 'media') hear(now, media.payload);
        else if (event === 'dtmf' && dtmf.digit === '#' && (behaviour.hearsKeys ?? true)) answer(now, 1_000);
      },
      tick: (now) => {
        for (; parts[0] && parts[0].at <= now; parts.shift()) media(parts[0].ms);
        if (owes && now >= heardUntil + endOfTurnMs && playsUntil <= now) answer(now, ANSWER_MS);
      },
    };
  };

function call(behaviour: Behaviour): Promise<CallResult> {
  const [accountSid, callSid, streamSid] = ['AC', 'CA', 'MZ'].map((prefix) => prefix + '0'.repeat(32));
  const wire = twilioWire({
    accountSid: accountSid!,
    callSid: callSid!,
    streamSid: streamSid!,
    customParameters: {},
    secrets: [],
  });
  return executeCall({
    definition: normalise({ script, checks: audible }),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls({ wire, agent: agentWith(behaviour) }),
    voice: { sounds: SOUNDS, voice: 'any' },
  });
}

describe('the examples of the guide to checks of voice calls', () => {
  it('pass with the healthy voice agent', async () => {
    const result = await call({});
    expect(result.checks.filter(({ met }) => met !== true)).toEqual([]);
    expect(result.outcome).toBe('passed');
  });

  it('each have a planted voice fault', () => {
    expect(Object.keys(FAULTS)).toEqual(audible.map(({ name }) => name));
  });

  it.each(Object.entries(FAULTS))('find a planted fault: %s', async (name, behaviour) => {
    const result = await call(behaviour);
    expect(result.checks.find((check) => check.name === name)).toMatchObject({ met: false });
    expect(result.outcome).toBe('failed');
  });
});
