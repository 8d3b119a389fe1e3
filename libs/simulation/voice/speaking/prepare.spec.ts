import type { ScriptStep } from '../../../evaluation-definition/index.js';
import type { PreparedSound } from '../facts/plan.js';
import { type CallerSounds, prepareScript } from './prepare.js';

/** A sound that says what it stands for. */
const sound = (text: string): PreparedSound => ({
  pcm: new Int16Array(8),
  speechStart: 0,
  speechEnd: 8,
  words: [{ text, startMs: 0, endMs: 1 }],
});

class Sounds implements CallerSounds {
  readonly log: string[] = [];

  async synthesise({ text, voice }: { text: string; voice: string }, signal?: AbortSignal): Promise<PreparedSound> {
    this.log.push(`begin ${text}`);
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    this.log.push(`end ${text}`);
    return sound(`${voice}: ${text}`);
  }

  async soundOf(name: string, voice: string): Promise<PreparedSound> {
    return sound(`${voice}: (${name})`);
  }
}

describe('prepareScript', () => {
  let sounds: Sounds;
  beforeEach(() => {
    sounds = new Sounds();
  });
  const prepare = (steps: readonly ScriptStep[], signal?: AbortSignal) => prepareScript(steps, 'slt', sounds, signal);

  it('prepares each kind of step, with its position', async () => {
    const script: ScriptStep[] = [
      { say: 'Hello.' },
      { say: 'Wait!', bargeIn: { afterMs: 1_200 } },
      { backchannel: 'mm-hmm', afterMs: 1_500 },
      { noise: 'cough', afterMs: 0 },
      { noise: 'door' },
      { press: '12#' },
      { waitSeconds: 1.5 },
      { end: 'Done' },
    ];
    expect(await prepare(script)).toEqual([
      { type: 'say', step: 0, text: 'Hello.', parts: [sound('slt: Hello.')] },
      { type: 'say', step: 1, text: 'Wait!', parts: [sound('slt: Wait!')], bargeIn: { afterMs: 1_200 } },
      { type: 'backchannel', step: 2, name: 'mm-hmm', sound: sound('slt: (mm-hmm)'), afterMs: 1_500 },
      { type: 'noise', step: 3, name: 'cough', sound: sound('slt: (cough)'), afterMs: 0 },
      { type: 'noise', step: 4, name: 'door', sound: sound('slt: (door)') },
      { type: 'press', step: 5, keys: '12#' },
      { type: 'wait', step: 6, ms: 1_500 },
      { type: 'end', step: 7, reason: 'Done' },
    ]);
  });

  it('keeps the hesitations of a line between its parts', async () => {
    const [step] = await prepare([{ say: ['My number is', { pauseMs: 1_200 }, 'five five five.'] }]);
    expect(step).toEqual({
      type: 'say',
      step: 0,
      text: 'My number is five five five.',
      parts: [sound('slt: My number is'), { pauseMs: 1_200 }, sound('slt: five five five.')],
    });
  });

  it('synthesises one text after the other, and ends when all are ready', async () => {
    await prepare([{ say: ['a', { pauseMs: 100 }, 'b'] }, { say: 'c' }]);
    expect(sounds.log).toEqual(['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c']);
  });

  it.each<[string, ScriptStep]>([
    ['answers', { answers: [{ when: { says: { text: 'name' } }, say: 'Rossi' }] }],
    ['a condition', { say: 'Yes.', when: { says: { text: 'sure' } } }],
    ['a condition of a noise', { noise: 'door', when: { says: { text: 'sure' } } }],
  ])('refuses %s, naming the step', async (_name, step) => {
    await expect(prepare([{ say: 'Hello.' }, step])).rejects.toThrow('script[1] depends on the words of the agent');
  });

  it('rejects with the reason of an aborted signal', async () => {
    const controller = new AbortController();
    const synthesise = sounds.synthesise.bind(sounds);
    sounds.synthesise = (request, signal) => {
      setImmediate(() => controller.abort(new Error('cancelled')));
      return synthesise(request, signal);
    };
    const preparing = prepare([{ say: 'a' }, { say: 'b' }], controller.signal);
    await expect(preparing).rejects.toThrow('cancelled');
    expect(sounds.log).toEqual(['begin a']);
  });

  it('passes on why a text cannot be spoken', async () => {
    sounds.synthesise = () => Promise.reject(new Error('"…" cannot be spoken'));
    await expect(prepare([{ say: '…' }])).rejects.toThrow('cannot be spoken');
  });
});
