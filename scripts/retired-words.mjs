// Words that the project no longer uses, with the standard term for each: see docs/glossary.md. `npm run docs:check` looks
// for them in code, comments, titles of tests, names of files, and documents. A space in a pattern also matches the line
// break and the signs between two lines of a comment. `example` is a text in which the pattern must be found.

export const RETIRED_WORDS = [
  { pattern: /\b(with|without|over) sound\b/i, instead: 'voice call, text call', example: 'calls\n * with sound' },
  { pattern: /\bcalls? (has|have|had) sound\b/i, instead: 'is a voice call', example: 'if its calls have sound' },
  {
    pattern: /\bsound (reference |booking )?agents?\b/i,
    instead: 'healthy agent',
    example: 'passed by the sound agent',
  },
  { pattern: /SoundAgent|SOUND_AGENT/i, instead: 'healthyAgent', example: 'startSoundAgents()' },
  { pattern: /\bagents? (is|are) sound\b/i, instead: 'healthy', example: 'the agent is sound without one' },
  {
    pattern: /booking:sound\b/,
    instead: 'booking:healthy',
    example: '/agents/booking:sound/voice',
    except: ['test/simulators/agent/server.spec.ts'],
  },
  { pattern: /\bmedium\W{0,9}sound\b/i, instead: 'voice', example: "medium === 'sound'" },
  { pattern: /'text'( \||,) 'sound'/, instead: 'voice', example: "medium: 'text' | 'sound'" },
  {
    pattern: /\b(minutes?|seconds?|ms|bytes|kHz) of sound\b/i,
    instead: 'of audio',
    example: '160 ms of sound',
  },
  { pattern: /\bbring(s|ing)?\b/i, instead: 'provides, carries', example: 'what it brings' },
  { pattern: /\banew\b/i, instead: 'again', example: 'decided anew' },
  { pattern: /\bwhoever\b/i, instead: 'anyone who, the side that', example: 'whoever speaks first' },
  { pattern: /\bnobody['’]s\b/i, instead: "neither side's", example: 'a silence that is nobody’s' },
  { pattern: /\bso (many|often)\b/i, instead: 'this many', example: 'at least so many messages' },
  {
    pattern: /\b(is|are|was|were) told\b/i,
    instead: 'gets, is refused with',
    example: 'the client is told so',
    except: ['libs/simulation/judge/prompt.ts'],
  },
  { pattern: /\bcame to\b/i, instead: 'became, was', example: 'what it came to' },
  { pattern: /\bfor ever\b/i, instead: 'without a limit', example: 'waits for ever' },
  { pattern: /\bmeanwhile\b/i, instead: 'at the same time', example: 'Meanwhile it waits' },
  { pattern: /\btwice is once\b/i, instead: 'a second time has no effect', example: 'closing twice is once' },
  {
    pattern: /(?<!\bthere )\b(is|are|was|were) no\b(?! (longer|more|less|later|earlier|fewer|other)\b|-)/i,
    instead: 'is not a',
    example: 'media that is no object',
  },
];

/** Files, and beginnings of paths, that are not checked. */
export const UNCHECKED = [
  'scripts/retired-words.mjs',
  // Generated from files that are checked.
  'libs/client/api.d.ts',
];
