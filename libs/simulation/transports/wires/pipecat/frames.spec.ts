import fc from 'fast-check';
import { shareOf } from '../../../../statistics/testing/sample.js';
import { bot, bytes, frame, number, numeric, says, tone } from '../../../../../test/simulators/pipecat/messages.js';
import { audioFrame, messageFrame, readFrame } from './frames.js';

const PCM = tone(20);

describe('readFrame', () => {
  it.each([
    ['audio', bot.audio(PCM, 24_000), { type: 'audio', bytes: PCM, rate: 24_000, channels: 1 }],
    ['a message', bot.message('{"a":"ü"}'), { type: 'message', json: '{"a":"ü"}' }],
    ['an interruption', bot.interruption(), { type: 'interruption' }],
    ['an interruption without fields', frame('interruption'), { type: 'interruption' }],
    [
      'text, as of a bot that announces interruptions so (pipecat-ai/pipecat#456)',
      bot.text('INTERRUPT'),
      { type: 'text' },
    ],
    ['a transcription', bot.transcription('Hello'), { type: 'transcription' }],
    [
      'audio with pts and a field of a later version, in another order',
      frame('audio', bytes(9, 'later'), numeric(6, 12n ** 15n), numeric(5, 1), numeric(4, 8_000), bytes(3, PCM)),
      { type: 'audio', bytes: PCM, rate: 8_000, channels: 1 },
    ],
    [
      'audio without its numbers, which have their defaults then',
      frame('audio', bytes(3, PCM)),
      { type: 'audio', bytes: PCM, rate: 0, channels: 0 },
    ],
    [
      'the largest sample_rate',
      bot.audio(PCM, 2 ** 32 - 1),
      { type: 'audio', bytes: PCM, rate: 2 ** 32 - 1, channels: 1 },
    ],
    ['the second of two members', Buffer.concat([bot.text('a'), bot.interruption()]), { type: 'interruption' }],
    [
      'a member in two parts, which are one',
      Buffer.concat([frame('audio', bytes(3, PCM)), frame('audio', numeric(4, 16_000), numeric(5, 1))]),
      { type: 'audio', bytes: PCM, rate: 16_000, channels: 1 },
    ],
    [
      'fields of fixed length, which are passed over',
      Buffer.from([0x09, ...PCM.subarray(0, 8), ...bot.interruption()]),
      { type: 'interruption' },
    ],
    ['nothing', Buffer.alloc(0), { type: 'unknown' }],
    ['a member of a later version', bytes(7, 'later'), { type: 'unknown' }],
  ])('reads %s', (_what, data, expected) => {
    const read = readFrame(new Uint8Array(data));
    expect('bytes' in read ? { ...read, bytes: Buffer.from(read.bytes) } : read).toEqual(expected);
  });

  it.each([
    ['a number that is cut off', Buffer.from([0x12, 0x80])],
    ['a number of eleven bytes', Buffer.from([0x12, ...Array.from({ length: 11 }, () => 0xff)])],
    ['a length beyond the end', Buffer.from([0x12, 0x05, 0x01])],
    ['a member that is cut off', bot.audio(PCM).subarray(0, 40)],
    ['a field within a member that is cut off', frame('audio', Buffer.from([0x1a, 0x7f, 0x00]))],
    ['the field number 0', Buffer.from([0x00, 0x01])],
    ['a group', Buffer.from([0x0b, 0x0c])],
    ['groups within each other', Buffer.alloc(100_000, 0x0b)],
    ['a message that is not UTF-8', frame('message', bytes(1, Buffer.from([0xc3, 0x28])))],
    ['raw PCM without a frame (pipecat-ai/pipecat#1268)', tone(20).subarray(2)],
  ])('refuses %s', (_what, data) => {
    expect(readFrame(data)).toEqual({ type: 'invalid' });
  });

  it('never throws, and takes no time to speak of for members within members', () => {
    let nested = Buffer.alloc(0);
    for (let depth = 0; depth < 5_000; depth++)
      nested = Buffer.concat([Buffer.from([0x12]), number(nested.length), nested]);
    expect(readFrame(nested)).toMatchObject({ type: 'audio' });
  });

  it('never throws on random bytes and on frames with a change', () => {
    const whole = [bot.audio(PCM), bot.message(says.ready()), bot.interruption(), bot.text('x')];
    fc.assert(
      fc.property(fc.constantFrom(...whole), fc.nat(), fc.uint8Array({ maxLength: 30 }), (one, at, other) => {
        const changed = Buffer.concat([one.subarray(0, at % one.length), other, one.subarray((at % one.length) + 1)]);
        expect(typeof readFrame(changed).type).toBe('string');
        expect(typeof readFrame(other).type).toBe('string');
      }),
      { numRuns: shareOf(10_000) },
    );
  });
});

describe('what is sent', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 1, max: 2 ** 31 - 1 }),
        fc.string(),
        (pcm, rate, text) => {
          const read = readFrame(audioFrame(pcm, rate));
          expect(read).toMatchObject({ type: 'audio', rate, channels: 1 });
          expect(Buffer.from((read as { bytes: Uint8Array }).bytes)).toEqual(Buffer.from(pcm));
          expect(readFrame(messageFrame(text.toWellFormed()))).toEqual({ type: 'message', json: text.toWellFormed() });
        },
      ),
      { numRuns: shareOf(500) },
    );
  });
});
