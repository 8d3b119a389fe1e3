import { type CheckInput, normalise } from '../../evaluation-definition/index.js';
import { agentSaying, call } from '../testing/calls.js';
import { CallView } from '../timeline/call-view.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { readMessage } from '../transports/wires/vapi/messages.js';
import { evaluateChecks } from './evaluate-checks.js';

const span = (start: number) => ({ start, end: start, turn: 1 });
const asked: TimelineEntry = { type: 'speech', speaker: 'caller', text: 'A human, please.', ...span(100) };
const dialled = (detail: string, at = 200): TimelineEntry => ({
  ...{ type: 'platform', event: 'transfer', detail },
  ...span(at),
});
const tool = (name: string, args: object | null): TimelineEntry => ({
  ...{ type: 'tool_call', name, arguments: args as Record<string, never> | null },
  ...span(200),
});
const check = async (input: object, entries: readonly TimelineEntry[]) => {
  const { checks } = normalise({ checks: [{ type: 'transfers', ...input }] });
  return (await evaluateChecks(checks, CallView.of(entries), async () => {}))[0]!;
};
const TO = { to: '+15550142' };

describe('transfers', () => {
  it.each(['+15550142', '+1 (555) 01-42', 'tel:+15550142', 'sip:+15550142@trunk.example', '0015550142'])(
    'finds the number in %s of <Dial>',
    async (target) => {
      expect(await check(TO, [asked, dialled(target)])).toMatchObject({ met: true });
      expect(await check({}, [asked, dialled(target)])).toMatchObject({ met: true });
    },
  );

  it.each([
    // As the tools of Vapi, Retell and ElevenLabs name the target.
    ['transferCall', { destination: '+15550142' }],
    ['transferCall', { destination: { type: 'number', number: '+1 555 0142' } }],
    ['transfer_call', { number: '+15550142', reason: 'asked' }],
    ['transfer_to_number', { transfer_number: '+15550142', client_message: 'One moment' }],
    ['hand_over', { phone: '+1-555-0142' }],
  ])('finds the number in the arguments of %s %j', async (name, args) => {
    const as = ['hand_over'];
    expect(await check({ ...TO, as }, [asked, tool(name, args)])).toMatchObject({ met: true });
    expect(await check({ as }, [asked, tool(name, args)])).toMatchObject({ met: true });
  });

  // twilio/twilio-python#210: several numbers ring at the same time.
  it('finds a number among those that are dialled together', async () => {
    const together = dialled('555-0143, +1 555 0142');
    expect(await check(TO, [asked, together])).toMatchObject({ met: true });
    expect(await check({ to: '+15550144' }, [asked, together])).toMatchObject({ met: false });
    expect(await check({ to: 'Sales, north' }, [asked, dialled('sales, north')])).toMatchObject({ met: true });
  });

  it.each([
    // hkjarral/AVA-AI-Voice-Agent-for-Asterisk#119, livekit/agents#3923: what the model names is not the number.
    ['transfer_call', { destination: 'sales' }],
    ['transfer_call', { participant_identity: 'sip_guest', room_name: 'room-1' }],
    // vocodedev/vocode-core#561: the number stands in the settings of the tool.
    ['transfer_call', { reason: 'asked for a human' }],
  ])('is undecided about the number if the arguments of %s %j name none', async (name, args) => {
    expect(await check(TO, [asked, tool(name, args)])).toMatchObject({ met: null, undecided: 'evidence' });
    expect(await check({}, [asked, tool(name, args)])).toMatchObject({ met: true });
  });

  it('is not met by another number, another tool, a transfer that came too early, or none', async () => {
    for (const entries of [
      [asked, dialled('+15550143')],
      [asked, tool('transfer_call', { number: '+15550143' })],
    ]) {
      expect(await check(TO, entries)).toMatchObject({ met: false });
    }
    expect(await check({}, [asked, tool('hand_over', {})])).toMatchObject({ met: false });
    const after = { text: 'human', speaker: 'caller' };
    expect(await check({ after }, [dialled('+15550142', 50), asked])).toMatchObject({ met: false });
    expect(await check({ after }, [asked, dialled('+15550142')])).toMatchObject({ met: true });
    expect(await check(TO, [asked])).toMatchObject({
      met: false,
      detail: 'The agent did not transfer the call to +15550142',
    });
  });

  it('is undecided where the platform does not tell the target', async () => {
    expect(await check(TO, [asked, tool('transfer_to_number', null)])).toMatchObject({ met: null });
    expect(await check(TO, [asked, tool('transferCall', {})])).toMatchObject({ met: null, undecided: 'evidence' });
    expect(await check(TO, [asked, dialled('')])).toMatchObject({ met: null });
    expect(await check({}, [asked, tool('transferCall', {})])).toMatchObject({ met: true });
  });

  // vocodedev/vocode-core#276, dograh-hq/dograh#704, pipecat-ai/pipecat#728: Twilio's API replaces the TwiML of the call, and the
  // agent's stream just ends.
  it('is undecided where tool calls are not known, unless another transfer was seen', async () => {
    const seen = async (input: object, entries: readonly TimelineEntry[], unknownTools: string | null) => {
      const { checks } = normalise({ checks: [{ type: 'transfers', ...input }] });
      const view = new CallView(entries, [], undefined, unknownTools);
      return (await evaluateChecks(checks, view, async () => {}))[0]!;
    };
    const why = 'The tool calls are not known';
    expect(await seen(TO, [asked], why)).toMatchObject({
      ...{ met: null, undecided: 'evidence' },
      detail: `Whether the agent transferred the call to +15550142 is not known. ${why}`,
    });
    expect(await seen(TO, [asked], null)).toMatchObject({ met: false });
    expect(await seen(TO, [asked, dialled('+15550142')], why)).toMatchObject({ met: true });
    expect(await seen(TO, [asked, dialled('+15550143')], why)).toMatchObject({ met: false });
  });

  it.each([1, 2, 3])('passes a healthy agent and fails one that only says so (seed %i)', async (seed) => {
    const checks = [{ type: 'transfers', ...TO, after: { text: 'human', speaker: 'caller' } } as CheckInput];
    const script = [{ say: 'Hello.' }, { say: 'I want a human.' }];
    const say = { say: ['I put you through.', 'One moment.', 'Gladly.'][seed - 1]! };
    const healthy = agentSaying(['Hello.', [say, { tool: 'transfer_call', arguments: { number: '+1 555 0142' } }]]);
    expect((await call({ script, checks }, { transport: healthy })).outcome).toBe('passed');
    const faulty = agentSaying(['Hello.', [say]]);
    expect((await call({ script, checks }, { transport: faulty })).outcome).toBe('failed');
  });

  // VapiAI/docs#311, matiasbattocchia/open-bsp-api#4: the agent passes the call on without a word, and answers no more.
  describe('of an agent that answers no more', () => {
    const silent = ['', '', ''];
    const transfer = { tool: 'transfer_call', arguments: { number: '+15550142' } };
    const outcomeOf = async (
      answers: Parameters<typeof agentSaying>[0],
      given: object,
      more: readonly object[] = [],
    ) => {
      const checks = [{ type: 'transfers', ...TO, ...given }, ...more] as CheckInput[];
      const script = [{ say: 'Hello.' }, { say: 'I want a human.' }, { say: 'Hello?' }];
      return (await call({ script, checks }, { transport: agentSaying(answers) })).outcome;
    };

    it.each([
      ['passes one that has left', ['Hello.', [transfer], ...silent], {}, 'passed'],
      ['passes one that has left with words', ['Hello.', [transfer, { say: 'Bye.' }], ...silent], {}, 'passed'],
      ['fails one that has not', ['Hello.', ...silent], {}, 'failed'],
      ['fails one that was still there', ['Hello.', [transfer], 'Yes?', ...silent], {}, 'failed'],
      ['fails one that left for another number', ['Hello.', [transfer], ...silent], { to: '+15550143' }, 'failed'],
      ['fails one whose transfer nothing requires', ['Hello.', [transfer], ...silent], { required: false }, 'failed'],
    ] as const)('%s', async (_what, answers, given, outcome) => {
      expect(await outcomeOf(answers as never, given)).toBe(outcome);
    });

    it('says that what it should have done later is missing', async () => {
      const later = [{ type: 'says', text: 'goodbye' }];
      expect(await outcomeOf(['Hello.', [transfer], ...silent], {}, later)).toBe('failed');
    });
  });

  it('are reported by Vapi with their number, and not for another assistant', () => {
    const update = (destination: object) => readMessage(JSON.stringify({ type: 'transfer-update', destination }));
    expect(update({ type: 'number', number: '+15550142' })).toEqual({ type: 'transfer', detail: '+15550142' });
    expect(update({ type: 'sip', sipUri: 'sip:a@b.example' })).toEqual({ type: 'transfer', detail: 'sip:a@b.example' });
    expect(update({ type: 'assistant', assistantName: 'Billing' })).toMatchObject({ type: 'note' });
    expect(readMessage('{"type":"transfer-update"}')).toEqual({ type: 'transfer', detail: '' });
  });
});
