import { normalise } from '../../evaluation-definition/index.js';
import { executeTranscribedCall, VirtualClock } from '../index.js';
import { PERSONALITY, SCENARIO } from '../testing/calls.js';

describe('the check of personal data on a call that was recorded elsewhere', () => {
  it.each<[agent: string, caller: string, met: boolean | null]>([
    // Retell scrubs the transcripts of agents that store no personal data; others write their own marks.
    ['So your number is [PHONE_NUMBER].', 'Yes.', null],
    ['So your number is [phone number 1].', 'Yes.', null],
    ['Your card ends in **** 42.', 'Yes.', null],
    ['So your number is [PHONE_NUMBER], or 415-555-0142?', 'Yes.', false],
    ['What is your number?', 'It is [PHONE_NUMBER].', true],
    ['[laughs] Your table is booked.', 'Great.', true],
  ])('of %j is not met, met or undecided by what the words show', async (agent, caller, met) => {
    const said = [
      { speaker: 'agent' as const, text: agent, startMs: 0, endMs: 1_000 },
      { speaker: 'caller' as const, text: caller, startMs: 2_000, endMs: 3_000 },
    ];
    const { checks } = await executeTranscribedCall({
      definition: normalise({ checks: [{ type: 'no_personal_data', speaker: 'agent', required: false }] }),
      ...{ scenario: SCENARIO, personality: PERSONALITY, clock: new VirtualClock() },
      ...{ callId: '0b3f5b0e-4c1f-4bd8-9a39-2f0f4a1c9d11', transcript: said },
    });
    expect(checks[0]).toMatchObject({ met, ...(met === null && { undecided: 'evidence' }) });
  });
});
