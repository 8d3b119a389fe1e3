import { readFileSync } from 'node:fs';
import { Random } from '../../audio/index.js';
import { shareOf } from '../../statistics/testing/sample.js';
import { readTranscription } from './read-transcription.js';

const read = (body: unknown, durationMs = 3_000) =>
  readTranscription(typeof body === 'string' ? body : JSON.stringify(body), durationMs);

describe('a text that is only a mark', () => {
  it.each([
    ['AreevAI/flowcat#27', ' [BLANK_AUDIO]\n'],
    ['nikoelt/WhisperAttack#4', ' (speaking in foreign language)\n'],
    ['nikoelt/WhisperAttack#41', '♪♪♪'],
    ['nikoelt/WhisperAttack#41', '(buzzing) (clicks)'],
    ['VocaHQ/vocamac#77', '[NO_SPEECH]'],
    ['VocaHQ/vocamac#77', '(silence)'],
    ['sandrohanea/whisper.net#365', '[[BLANK_AUDIO]]'],
    ['goodroot/hyprwhspr#51', '(keyboard clicking)'],
    ['bugbakery/transcribee#25', '*Musik*'],
    ['ggml-org/whisper.cpp#2649', '[LAUGH] [SIGH].'],
    ['ggml-org/whisper.cpp#2137', '♪ We wish you a merry Christmas ♪'],
    ['ggml-org/whisper.cpp#2137', '（音楽）【拍手】'],
    ['linto-ai/whisper-timestamped#105', '<|nospeech|>'],
    ['own', '([inaudible])'],
    ['own', '…'],
  ])('has no words (%s): %s', (_, text) => {
    expect(read({ text })?.text).not.toMatch(/[\p{L}\p{N}]/u);
  });
});

describe('a mark inside of a text', () => {
  it.each([
    ['human37/open-wispr#73', 'We are open (gentle music) until six (gentle music)', 'We are open until six'],
    ['own', '[Music] We are open until six [applause].', 'We are open until six'],
    ['modelscope/FunASR', '<|en|><|HAPPY|><|Speech|><|withitn|>We close at nine.', 'We close at nine.'],
    ['QwenAudio/SenseVoice#48', '<|en|><|Speech|>Hello.<|en|><|Speech|>We close at nine.', 'Hello. We close at nine.'],
    ['ggml-org/whisper.cpp#2137', 'こんにちは（音楽）「七時」です', 'こんにちは 「七時」です'],
    ['soniox', '[00:00] Good evening, how can I help?', 'Good evening, how can I help?'],
  ])('is cut out, and all words are known (%s): %s', (_, text, spoken) => {
    expect(read({ text })).toEqual({ text: spoken });
  });

  it.each([
    ['a telephone number in brackets', 'Call (800) 555-0142 or (555) 0143, please, before seven.'],
    ['a letter in brackets', 'Choose option (a) or plan [B], please.'],
    ['a stand-in of this service', 'a[U+202E]b'],
    ['placeholders of personal data', 'Call [phone number 1] or [e-mail address 12]'],
    ['placeholders of account numbers', 'It is [IBAN 1], with [card number 2]'],
    ['words that a mark may have (SYSTRAN/faster-whisper#1170)', 'MUSIC'],
    ['words that a mark may have (nikoelt/WhisperAttack#41)', 'Music on'],
    ['fillers, where a server has them', 'Uh, we are um open.'],
  ])('is not %s', (_, text) => {
    expect(read({ text })).toEqual({ text });
  });

  it.each([
    ['says so', 'Your total is [inaudible] euros', 'Your total is euros', 2_000],
    ['says so in brackets', 'We close at (unintelligible)', 'We close at', 1_500],
    ['says so in German', 'Das macht [unverständlich] Euro', 'Das macht Euro', 2_000],
    ['may stress a word', 'This is *very* important', 'This is important', 2_000],
    ['names no sound', 'You get a (guaranteed) refund', 'You get a refund', 2_000],
    ['names no sound', '[guaranteed refund] yes', 'yes', 1_200],
    ['has words that are sung', 'Yes ♪ we guarantee it ♪ bye', 'Yes bye', 1_500],
    ['is longer than words can be', 'Good evening. [Music]', 'Good evening.', 5_000],
  ])('may stand for words if it %s', (_, text, spoken, durationMs) => {
    expect(read({ text }, durationMs)).toEqual({ text: spoken, isPartial: true });
  });

  it('takes no time from the words beside it, whether or not the server times it', () => {
    const words = [
      { text: 'We', startMs: 100, endMs: 300 },
      { text: 'close.', startMs: 1_500, endMs: 2_000 },
    ];
    const timed = [
      { word: 'We', start: 0.1, end: 0.3 },
      { word: 'close', start: 1.5, end: 2 },
    ];
    const marks = [
      { word: ' (gentle', start: 0.4, end: 0.9 },
      { word: ' music)', start: 0.9, end: 1.4 },
    ];
    const text = 'We (gentle music) close.';
    // Two seconds are too long for them, so that more may have been said.

    expect(read({ text, words: timed }, 2_000)).toEqual({ text: 'We close.', words, isPartial: true });
    expect(read({ text, words: [timed[0], ...marks, timed[1]] }, 2_000)).toEqual({
      text: 'We close.',
      words,
      isPartial: true,
    });
  });
});

describe('a mark beside words', () => {
  it.each([
    ['ggml-org/whisper.cpp#1768', '[music] [applause]'],
    ['ggml-org/whisper.cpp#1240', '[MUSIC PLAYING]'],
    ['ggml-org/whisper.cpp#2649', '[LAUGH] [SIGH]'],
    ['human37/open-wispr#73', '(soft music) (wind blowing)'],
    ['Notely-Voice/NotelyVoice#95', '(upbeat music) [birds chirping] [ Applause ]'],
    ['Beingpax/VoiceInk#149', '(laughter) (air swooshing)'],
    ['lifemate-ai/familiar-ai#51', '(歌と音楽)'],
    ['they-juanreina/compost#10', '[cough] [clear_throat]'],
    ['goodroot/hyprwhspr#51', '(keyboard clicking)'],
    ['VocaHQ/vocamac#77', '[NO_SPEECH] [BLANK_AUDIO]'],
    ['sandrohanea/whisper.net#365', '[[NOISE]] (humming)'],
    ['nikoelt/WhisperAttack#41', '(buzzing) (clicks)'],
    ['bugbakery/transcribee#25', '[Musik] [applause]'],
    ['Soniox, Azure, AssemblyAI, Speechmatics', '[buzzer] [noise] [beep] [silence] [laughter]'],
    ['ElevenLabs Scribe', '(footsteps) (phone ringing) (door slams) (clears throat) (breathes deeply)'],
    ['subtitles', '[engine revving] [dramatic music continues] (crowd cheering) (sound of a phone ringing) ♪ music ♪'],
    ['German', '(Gelächter) [Sanfte Musik] (räuspert sich) [Telefon klingelt] (Hintergrundgeräusche) [Stille]'],
    ['Spanish', '[Música de fondo] (aplausos) (suena el teléfono) (se ríe) [Silencio]'],
    ['Spanish, decomposed', '[Música]'.normalize('NFD')],
    ['French', '[Musique douce] (rires) (il soupire) [Bruit de fond] (sonnerie de téléphone) [Applaudissements]'],
    ['Chinese, Japanese, Korean', '（音乐）【拍手】（笑い声）(박수)'],
  ])('of a sound hides no words (%s): %s', (_, marks) => {
    for (const mark of [marks, ...marks.split(/(?<=[\])）】]) /u)])
      expect([mark, read({ text: `We are ${mark} open` }, 1_500)]).toEqual([mark, { text: 'We are open' }]);
  });

  it.each([
    ['(during the day)'],
    ['(near the window)'],
    ['(the ATM is free)'],
    ['(that sounds good)'],
    ['(click here)'],
    ['(ring us)'],
    ['(open the door)'],
    ['(music lessons)'],
    ['[there is no noise]'],
    ['(Windräder)'],
    ['(Lachs)'],
    ['（音楽が好きです）'],
    ['[beeper]'],
    ['(no)'],
    ['(blank)'],
    // A word that was said and is not shown (jdepoix/youtube-transcript-api#120).
    ['[ __ ]'],
    ['[bleep]'],
    ['[PERSON_NAME]'],
  ])('may stand for them unless all of its words name a sound: %s', (mark) => {
    expect(read({ text: `We are ${mark} open` }, 1_500)).toEqual({ text: 'We are open', isPartial: true });
  });

  it('hides no common word of spoken English that does not name a sound, alone or beside one that does', () => {
    const words = readFileSync('test/fixtures/compatibility/recognisers/common-words.txt', 'utf8').trim().split(/\s+/);
    const hides = (mark: string) => read({ text: `We are (${mark}) open` }, 1_500)?.isPartial !== true;
    expect(words).toHaveLength(2_000);
    const sounds = words.filter(hides);
    // Beside a sound these say where it is, or how it sounds.
    const beside = words.filter((word) => !hides(word) && hides(`${word} music`));
    expect(sounds.join(' ')).toBe('music laugh crying laughing breath noise rings');
    expect(beside.join(' ')).toBe(
      'the and of in an people car door phone dog sounds playing sound air quiet calm il deep slow la sad wind dogs heavy bird de ' +
        'loud crowd telephone soft engine plays',
    );
    const random = new Random(45, 'brackets');
    const one = () => words[Math.floor(random.next() * words.length)]!;
    const phrases = Array.from({ length: shareOf(20_000) }, () => [one(), one(), one()]);
    const hidden = phrases.filter((phrase) => hides(phrase.join(' ')));
    expect(hidden.flat().filter((word) => ![...sounds, ...beside].includes(word))).toEqual([]);
  });
});

describe('the answer of a transcription server', () => {
  it.each([
    ['null for its text', { text: null }, ''],
    ['the field transcript (VocaHQ/vocalinux#468)', { transcript: 'We close.' }, 'We close.'],
    ['the field transcription (VocaHQ/vocalinux#468)', { transcription: 'We close.' }, 'We close.'],
    ['lines of JSON (Blaizzy/mlx-audio#704)', '{"text":" We","start":0}\n{"text":" close.","start":1}\n', 'We close.'],
    [
      'speech where its model found none (zachlatta/freeflow#111)',
      { text: 'Thank you.', segments: [{ text: 'Thank you.', no_speech_prob: 0.97 }] },
      '',
    ],
    [
      'speech of which its model is not sure in one segment',
      { text: 'Hello. Thank you.', segments: [{ no_speech_prob: 0.1 }, { no_speech_prob: 0.97 }] },
      'Hello. Thank you.',
    ],
  ])('may have %s', (_, body, text) => {
    expect(read(body)).toEqual({ text });
  });

  it.each([['<html>\n<body>'], ['Hello.\nWe close.'], ['{"error":"no"}'], ['[]']])('is not %j', (body) => {
    expect(read(body)).toBeUndefined();
  });

  it('has the words of random texts, with their times, wherever marks are', () => {
    const random = new Random(45, 'marks');
    const one = <T>(values: readonly T[]): T => values[Math.floor(random.next() * values.length)]!;
    const MARKS = [
      '[Music]',
      '[[BLANK_AUDIO]]',
      '(gentle music)',
      '【拍手】',
      '<|en|>',
      '（音楽）',
      '[00:00]',
      '*sighs*',
    ];
    const WORDS = ['We', 'close', 'at', '9', 'or', '(800)', 'Café', '7:30', 'don’t', 'Straße.', '七時'];
    for (let n = 0; n < shareOf(2_000); n++) {
      const length = 1 + Math.floor(random.next() * 12);
      const written = Array.from({ length }, () => one(random.next() < 0.6 ? WORDS : MARKS));
      const spoken = written.filter((item) => WORDS.includes(item));
      const text = one([' ', '\n ', '']) + written.join(one([' ', '  '])) + one(['', '\n']);
      const timesMarks = random.next() < 0.5;
      const timed = written.flatMap((item, index) =>
        WORDS.includes(item) || timesMarks ? [{ word: item, start: index, end: index + 0.5 }] : [],
      );
      const words = one<object>([{}, { words: null }, { words: timed }, { segments: [{ text, words: timed }] }]);
      const body = one<object | string>([
        { text, ...words },
        { ...words, transcript: text, text: null },
        written.map((item) => JSON.stringify({ text: ` ${item}` })).join('\n'),
      ]);
      const result = read(body, 20_000);
      expect([n, result?.text]).toEqual([n, spoken.join(' ')]);
      for (const word of result?.words ?? []) {
        expect([n, written[Math.floor(word.startMs / 1_000)]]).toEqual([n, word.text]);
      }
    }
  });
});
