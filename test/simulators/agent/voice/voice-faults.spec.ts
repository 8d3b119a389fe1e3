import { NOT_UNDERSTOOD } from './spoken-dialogue.js';
import { burst, melodies, melody, sequence, silence } from './testing/melody.js';
import { CALL_SID, ScriptedPeer, STREAM_SID } from './testing/scripted-peer.js';
import type { AnswerStamp } from './voice-agent.js';
import { VOICE_FAULT_NAMES, type VoiceFaultName } from './voice-faults.js';

const BOOK = "Hello, I'd like to book a table, please.";
const FACTS = 'When are you open, where are you, and can I park there?';
const BYE = 'Thank you, goodbye.';
const KNOWN = melodies([BOOK, FACTS, BYE], ['cough']);
const TODAY = Date.UTC(2026, 11, 4, 10);

/** What both agents do, and what a caller sees of it. */
interface Observed {
  readonly peer: ScriptedPeer;
  readonly stamps: readonly AnswerStamp[];
  /** When the caller stopped to speak, or began to barge in. */
  readonly at: number;
}

function call(fault: VoiceFaultName | undefined) {
  const stamps: AnswerStamp[] = [];
  const peer = new ScriptedPeer({ ...KNOWN, today: TODAY, fault, onAnswer: (stamp) => stamps.push(stamp) });
  return { peer, stamps };
}

/** A caller who says one line and waits for 20 s. */
function afterLine(fault: VoiceFaultName | undefined, line: string, rest = 20_000): Observed {
  const { peer, stamps } = call(fault);
  peer.untilAgentIsSilent(1_000).say(melody(line)).untilSaid();
  const at = peer.now;
  return { peer: peer.run(rest), stamps, at };
}

/** A caller who makes a sound 1.5 s into a long answer. */
function during(fault: VoiceFaultName | undefined, sound: Int16Array): Observed {
  const { peer, stamps } = call(fault);
  peer.untilAgentIsSilent(1_000).say(melody(FACTS)).untilSaid().untilAgentSpeaks().run(1_500);
  const at = peer.now;
  return { peer: peer.say(sound).run(3_000), stamps, at };
}

/** Audible spans of the agent, with pauses shorter than `pauseMs` inside. */
function spans({ peer, at }: Observed, pauseMs = 200) {
  const found: { start: number; end: number }[] = [];
  for (let ms = Math.ceil(at / 10) * 10; ms + 10 <= peer.now; ms += 10) {
    if (!peer.isHeard(ms, ms + 10)) continue;
    const last = found[found.length - 1];
    if (last && ms - last.end <= pauseMs) last.end = ms + 10;
    else found.push({ start: ms, end: ms + 10 });
  }
  return found;
}

const levelOf = ({ peer, at }: Observed): number => {
  const loud = [...peer.hearing(at, peer.now)].filter((sample) => Math.abs(sample) > 20);
  return 10 * Math.log10(loud.reduce((sum, sample) => sum + sample ** 2, 0) / loud.length / 32_768 ** 2);
};

const firstMedia = ({ peer, at }: Observed): Buffer =>
  Buffer.from(peer.messages('media').find(({ atMs }) => atMs >= at)?.message.media?.payload ?? '', 'base64');

const bytesOf = ({ peer, at }: Observed): number =>
  peer
    .messages('media')
    .filter(({ atMs }) => atMs >= at)
    .reduce((sum, { message }) => sum + Buffer.from(message.media!.payload, 'base64').length, 0);

const hesitating = (line: string): Int16Array =>
  sequence(melody(line).slice(0, 8_000), silence(1_200), melody(line).slice(8_000));

/** For each fault, a figure that it changes; the healthy agent has the first value, the faulty one the second. */
const SEEN: Readonly<Record<VoiceFaultName, (fault: VoiceFaultName | undefined) => unknown>> = {
  'slow-answer': (fault) => {
    const { peer, at } = afterLine(fault, BOOK);
    return peer.onsetAfter(at) - at > 3_000;
  },
  'interrupts-caller': (fault) => {
    const { peer, stamps } = call(fault);
    peer.untilAgentIsSilent(1_000).say(melody(BOOK)).untilSaid();
    const interrupts = peer.isHeard(peer.now - 1_000, peer.now);
    peer.run(5_000);
    expect(stamps.map(({ heard }) => heard)).toEqual([BOOK]);
    return interrupts;
  },
  'cuts-hesitation': (fault) => {
    const { peer } = call(fault);
    const start = peer.untilAgentIsSilent(1_000).now;
    peer.say(hesitating(BOOK)).run(2_000);
    return peer.isHeard(start + 1_000, peer.now);
  },
  'ignores-barge-in': (fault) => {
    const { peer, at } = during(fault, melody(BOOK));
    return peer.isHeard(at + 500, at + 2_000);
  },
  'yields-to-any-sound': (fault) => {
    const { peer, at } = during(fault, melody('cough'));
    return !peer.isHeard(at + 500, at + 2_000);
  },
  'dead-air': (fault) => {
    const all = spans(afterLine(fault, FACTS));
    return all.some(({ start }, index) => index > 0 && start - all[index - 1]!.end >= 2_500);
  },
  'choppy-sound': (fault) => spans(afterLine(fault, BOOK), 40).length > 5,
  'too-quiet': (fault) => levelOf(afterLine(fault, BOOK)) < -40,
  'clipped-sound': (fault) => {
    const { peer, at } = afterLine(fault, BOOK);
    return peer.hearing(at, peer.now).filter((sample) => Math.abs(sample) >= 32_000).length > 1_000;
  },
  'wrong-encoding': (fault) =>
    bytesOf(afterLine(fault, BOOK)) > 5 * 8 * 60 * 'With pleasure.For how many people?'.length,
  'wrong-rate': (fault) => {
    const whole = spans(afterLine(fault, BOOK), 600)[0]!;
    return whole.end - whole.start > 3_000;
  },
  'wav-header': (fault) => firstMedia(afterLine(fault, BOOK)).subarray(0, 4).toString('latin1') === 'RIFF',
  'no-clear': (fault) => {
    const { peer, at } = during(fault, melody(BOOK));
    expect(peer.messages('media').filter(({ atMs }) => atMs > at + 500 && atMs < at + 2_000)).toEqual([]);
    return peer.isHeard(at + 500, at + 2_000) && peer.messages('clear').length === 0;
  },
  'wrong-stream-sid': (fault) => {
    const { peer } = afterLine(fault, BOOK);
    const sids = new Set(peer.sent.map(({ message }) => message.streamSid));
    expect([...sids]).toEqual([fault ? CALL_SID : STREAM_SID]);
    return !peer.isHeard(0, peer.now);
  },
  'nameless-marks': (fault) => {
    const { peer } = afterLine(fault, BYE);
    expect(peer.closedAt).toBeLessThan(peer.now);
    return peer.messages('mark').every(({ message }) => message.mark?.name === undefined);
  },
  'ignores-keys': (fault) => {
    const { peer } = call(fault);
    peer.untilAgentIsSilent(1_000).press('1').run(2_000);
    return !peer.isHeard(peer.now - 1_000, peer.now);
  },
  'hangs-up-mid-sentence': (fault) => {
    const { peer } = call(fault);
    peer.untilAgentIsSilent(1_000).say(melody(BOOK)).untilSaid().untilAgentSpeaks().untilAgentIsSilent(1_000);
    peer.say(melody(FACTS)).untilSaid().run(20_000);
    return peer.closedAt !== undefined && peer.isHeard(peer.closedAt - 20, peer.closedAt);
  },
  'never-hangs-up': (fault) => afterLine(fault, BYE).peer.closedAt === undefined,
  'talks-for-a-minute': (fault) => {
    const [answer] = spans(afterLine(fault, BOOK, 80_000), 600);
    return answer!.end - answer!.start > 60_000;
  },
};

describe('faults of the telephone', () => {
  it.each(VOICE_FAULT_NAMES)('%s is seen by the caller, and not in the healthy agent', (fault) => {
    expect({ healthy: SEEN[fault](undefined), faulty: SEEN[fault](fault) }).toEqual({ healthy: false, faulty: true });
  });

  it('answers the right line in every call, whatever the fault', () => {
    const deaf: VoiceFaultName[] = ['wrong-stream-sid'];
    for (const fault of VOICE_FAULT_NAMES.filter((name) => !deaf.includes(name))) {
      const { stamps } = afterLine(fault, BOOK, 8_000);
      expect({ fault, heard: stamps.map(({ heard }) => heard) }).toEqual({ fault, heard: [BOOK] });
    }
  });

  it('answers a hesitation twice if it cuts the sentence', () => {
    const { peer, stamps } = call('cuts-hesitation');
    peer.untilAgentIsSilent(1_000).say(hesitating(BOOK)).untilSaid().run(3_000);
    expect(stamps.length).toBeGreaterThanOrEqual(1);
    expect([BOOK, NOT_UNDERSTOOD]).toContain(stamps[0]!.heard);
  });

  it('yields to any short sound with the fault alone', () => {
    const { peer, at } = during('yields-to-any-sound', burst(200));
    expect(peer.isHeard(at + 500, at + 1_500)).toBe(false);
    expect(during(undefined, burst(200)).peer.messages('clear')).toEqual([]);
  });
});
