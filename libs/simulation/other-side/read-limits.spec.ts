import { READ_LIMITS, ReadCount, type ReadLimit } from './read-limits.js';

const PART = 65_536;

function exceeded(limit: ReadLimit, text: string): string | undefined {
  const count = new ReadCount(limit);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += PART) {
    const found = count.push(bytes.subarray(at, at + PART));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Ten minutes of mu-law, with the times of 20 characters a second as ElevenLabs sends them. */
function longMessage(): string {
  const characters = Array.from({ length: 600 * 20 }, (_, n) => 'ab ,"{'[n % 6]!);
  const times = characters.map((_, n) => n * 50);
  return JSON.stringify({
    type: 'audio',
    audio_event: {
      audio_base_64: Buffer.alloc(600 * 8_000, 0x7f).toString('base64'),
      event_id: 1,
      alignment: { chars: characters, char_start_times_ms: times, char_durations_ms: characters.map(() => 50) },
    },
  });
}

/** An item with all of its audio, as of a long answer over the Realtime API. */
const audioItem = (bytes: number): string => {
  const content = [{ type: 'audio', transcript: 'A long answer, "and more".', audio: 'A'.repeat(bytes - 1_000) }];
  return JSON.stringify({ type: 'conversation.item.created', item: { id: 'item_1', role: 'assistant', content } });
};

/** As Retell has it, in objects for each word. */
const longRecord = (): string =>
  JSON.stringify({
    transcript_object: Array.from({ length: 6_000 }, (_, turn) => ({
      role: turn % 2 === 0 ? 'agent' : 'user',
      content: 'ten words '.repeat(5),
      words: Array.from({ length: 10 }, (_, n) => ({ word: 'word', start: turn + n / 10, end: turn + n / 10 + 0.08 })),
    })),
  });

const longList = (): string =>
  JSON.stringify(
    Array.from({ length: 1_000 }, (_, n) => ({
      id: `assistant ${n}`,
      model: { provider: 'x', messages: [{ role: 'system', content: 'Say "no", {politely}.\n'.repeat(1_410) }] },
      ...Object.fromEntries(Array.from({ length: 200 }, (_, field) => [`setting${field}`, [field, null]])),
    })),
  );

/** Tokens of a long answer, one in an event, as the Chat Completions API sends them. */
const longAnswer = (): string =>
  Array.from({ length: 14_000 }, (_, n) => {
    const choices = [{ index: 0, delta: { content: `token ${n} ` }, logprobs: null, finish_reason: null }];
    const event = {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: n,
      model: 'm',
      system_fingerprint: 'fp',
      choices,
    };
    return `data: ${JSON.stringify(event)}\n\n`;
  }).join('');

describe('ReadCount', () => {
  it.each<[string, ReadLimit, () => string]>([
    ['a message with ten minutes of audio and the times of its characters', READ_LIMITS.message, longMessage],
    ['a frame of 1,254,313 bytes (elevenlabs/elevenlabs-python#482)', READ_LIMITS.message, () => audioItem(1_254_313)],
    ['an item of 3,476,354 bytes (BerriAI/litellm#15747)', READ_LIMITS.message, () => audioItem(3_476_354)],
    ['an answer in 14,000 events', READ_LIMITS.answer, longAnswer],
    ['a record with 60,000 words and their times', READ_LIMITS.record, longRecord],
    ['a list of 1,000 assistants with prompts of 31 kB', READ_LIMITS.list, longList],
  ])('admits %s', (_what, limit, text) => {
    expect(exceeded(limit, text())).toBeUndefined();
  });

  it.each(Object.values(READ_LIMITS))('refuses $name by its bytes and by its structure, with the count', (limit) => {
    const mib = limit.bytes / 1024 / 1024;
    expect(exceeded(limit, 'A'.repeat(limit.bytes))).toBeUndefined();
    expect(exceeded(limit, 'A'.repeat(limit.bytes + 1))).toBe(`${limit.name} is larger than ${mib} MiB`);
    const pairs = (structure: number) => '{'.repeat(structure);
    expect(exceeded(limit, pairs(limit.structure))).toBeUndefined();
    const count = (limit.structure + 1).toLocaleString('en');
    expect(exceeded(limit, pairs(limit.structure + 1))).toContain(`${limit.name} has ${count} structural characters`);
  });
});
