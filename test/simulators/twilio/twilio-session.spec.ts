import { NOT_UNDERSTOOD } from '../agent/voice/spoken-dialogue.js';
import { burst, melodies, melody, sequence, silence } from '../agent/voice/testing/melody.js';
import { ScriptedPeer } from '../agent/voice/testing/scripted-peer.js';
import type { AnswerStamp, VoiceAgentOptions } from '../agent/voice/voice-agent.js';

const BOOK = "Hello, I'd like to book a table, please.";
const FACTS = 'When are you open, where are you, and can I park there?';
const BYE = 'Thank you, goodbye.';
const COUGH = 'cough';

const KNOWN = melodies([BOOK, FACTS, BYE, 'For four people, please.'], [COUGH]);
/** Friday, 4 December 2026. */
const TODAY = Date.UTC(2026, 11, 4, 10);

function call(options: Partial<VoiceAgentOptions> = {}) {
  const stamps: AnswerStamp[] = [];
  const peer = new ScriptedPeer({ ...KNOWN, today: TODAY, onAnswer: (stamp) => stamps.push(stamp), ...options });
  return { peer, stamps };
}

describe('TwilioAgentSession', () => {
  it('greets, and answers 700 ms after the end of a line', () => {
    const { peer, stamps } = call();
    peer.untilAgentIsSilent();
    const end = peer.now + melody(BOOK).length / 8;
    peer.say(melody(BOOK)).untilSaid().untilAgentSpeaks();
    expect(stamps).toEqual([
      { heard: BOOK, callerEndMs: expect.closeTo(end, 0), firstByteMs: expect.any(Number), leadMs: expect.any(Number) },
    ]);
    expect(stamps[0]!.firstByteMs - end).toBeGreaterThanOrEqual(700);
    expect(stamps[0]!.firstByteMs - end).toBeLessThanOrEqual(720);
    expect(peer.onsetAfter(end)).toBeGreaterThanOrEqual(stamps[0]!.firstByteMs);
    expect(peer.onsetAfter(end)).toBeLessThan(stamps[0]!.firstByteMs + 10);
  });

  it.each([200, 800, 2_500])('answers after a planted delay of %i ms', (responseMs) => {
    const { peer, stamps } = call({ responseMs });
    peer.untilAgentIsSilent().say(melody(BOOK)).untilSaid().untilAgentSpeaks();
    const { callerEndMs, firstByteMs } = stamps[0]!;
    expect(firstByteMs - callerEndMs).toBeGreaterThanOrEqual(responseMs);
    expect(firstByteMs - callerEndMs).toBeLessThanOrEqual(responseMs + 20);
  });

  it('waits for the end of a sentence that stops in the middle', () => {
    const { peer, stamps } = call();
    const whole = melody(BOOK);
    peer.untilAgentIsSilent().say(sequence(whole.slice(0, 8_000), silence(1_200), whole.slice(8_000)));
    peer.untilSaid().untilAgentSpeaks();
    expect(stamps.map(({ heard }) => heard)).toEqual([BOOK]);
  });

  it('asks again after 2 s when it has not understood', () => {
    const { peer, stamps } = call();
    peer.untilAgentIsSilent().say(burst(1_500)).untilSaid().untilAgentSpeaks();
    expect(stamps[0]!.heard).toBe(NOT_UNDERSTOOD);
    expect(stamps[0]!.firstByteMs - stamps[0]!.callerEndMs).toBeGreaterThanOrEqual(2_000);
  });

  it('stops and clears within 300 ms when the caller barges in, and then answers it', () => {
    const { peer, stamps } = call();
    peer.untilAgentIsSilent().say(melody(FACTS)).untilSaid().untilAgentSpeaks().run(1_500);
    const start = peer.now;
    expect(peer.bufferedMs).toBeGreaterThan(2_000);
    peer.say(melody(BOOK)).run(400);
    expect(peer.messages('clear')).toHaveLength(1);
    expect(peer.messages('clear')[0]!.atMs - start).toBeLessThanOrEqual(300);
    expect(peer.isHeard(start + 300, start + 400)).toBe(false);
    peer.untilSaid().untilAgentSpeaks();
    expect(stamps.map(({ heard }) => heard)).toEqual([FACTS, BOOK]);
  });

  it.each([
    ['a known noise', melody(COUGH)],
    ['any short sound', burst(240)],
  ])('keeps speaking through %s, and does not take it for a turn', (_name, noise) => {
    const { peer, stamps } = call();
    peer.untilAgentIsSilent().say(melody(FACTS)).untilSaid().untilAgentSpeaks().run(1_500).say(noise).run(1_000);
    expect(peer.messages('clear')).toEqual([]);
    peer.untilAgentIsSilent().say(noise).run(4_000);
    expect(stamps).toHaveLength(1);
  });

  it('marks the end of each answer and ends the call after its goodbye was played', () => {
    const { peer } = call();
    peer.untilAgentIsSilent().say(melody(BYE)).untilSaid().untilAgentSpeaks();
    expect(peer.closedAt).toBeUndefined();
    peer.runUntil(() => peer.closedAt !== undefined);
    expect(peer.bufferedMs).toBe(0);
    expect(peer.messages('mark').map(({ message }) => message.mark)).toEqual([
      { name: 'answer-1' },
      { name: 'answer-2' },
    ]);
  });

  it('does the same in every call', () => {
    const transcript = () => {
      const { peer } = call();
      peer.untilAgentIsSilent().say(melody(BOOK)).untilSaid().untilAgentSpeaks().untilAgentIsSilent();
      return JSON.stringify(peer.sent);
    };
    expect(transcript()).toBe(transcript());
  });

  it('ignores messages that are malformed or unknown', () => {
    const { peer } = call();
    const session = peer['session'];
    for (const text of ['', '{', 'null', '[]', '{"event":7}', '{"event":"media"}', '{"event":"dtmf"}']) {
      expect(() => session.onMessage(peer.now, text)).not.toThrow();
    }
    peer.untilAgentIsSilent();
    expect(peer.isHeard(0, peer.now)).toBe(true);
  });
});
