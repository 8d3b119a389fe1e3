/**
 * How fast calls are carried out on a virtual clock, without network and database.
 * Usage: node --import @swc-node/register/esm-register bench/simulation/virtual-calls.ts [calls]
 */
import { normalise } from '../../libs/evaluation-definition/index.js';
import { carryOutCall, inProcess, VirtualClock } from '../../libs/simulation/index.js';

const ANSWERS = [
  'Good evening, how many people will you be?',
  'And on which day and at what time would you like to come?',
  'Under which name may I book?',
  'May I have a telephone number?',
  'Thank you, the table is booked. Is there anything else?',
  'Goodbye!',
];
const definition = normalise({
  script: [
    { say: "Hello, I'd like to book a table." },
    {
      answers: [
        { when: { says: { pattern: '(?i)how many|people' } }, say: 'Four of us.' },
        { when: { says: { pattern: '(?i)what (day|date|time)|when' } }, say: 'Friday at half past seven.' },
        { when: { says: { pattern: '(?i)telephone|number' } }, say: '555 0100.' },
        { when: { says: { text: 'name' } }, say: 'Rossi.' },
      ],
      until: { says: { pattern: '(?i)booked|confirmed' } },
      otherwise: 'Sorry, could you say that again?',
    },
    { say: 'Thank you, goodbye.' },
    { end: 'The table is booked' },
  ],
  checks: [
    { type: 'says', pattern: '(?i)booked|confirmed' },
    { type: 'never_says', text: 'prompt' },
    { type: 'calls_tool', tool: 'book_table', arguments: { people: 4 } },
    { type: 'max_latency_ms', ms: 1_500 },
  ],
});

async function main(): Promise<void> {
  const count = Number(process.argv[2] ?? 1_000);
  const clock = new VirtualClock();
  const begun = performance.now();
  const results = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const transport = inProcess(async function* ({ messages }) {
        const turn = (messages.length - 1) / 2;
        await clock.sleep(100 + ((index * 37) % 900));
        if (turn === 4) yield { tool: 'book_table', arguments: { people: 4 } };
        yield { say: ANSWERS[turn] ?? '' };
      });
      const scenario = { scenarioText: 'A table for four' };
      return carryOutCall({ definition, scenario, personality: { name: 'Plain' }, transport, clock });
    }),
  );
  const seconds = (performance.now() - begun) / 1_000;
  const passed = results.filter(({ outcome }) => outcome === 'passed').length;
  const turns = results.reduce((sum, { measures }) => sum + measures.turns, 0);
  process.stdout.write(
    `${count} calls at once, ${turns} turns, ${passed} passed, ${Math.round(clock.now())} ms of virtual time\n` +
      `${seconds.toFixed(2)} s (limit for 1,000: 2 s), ${Math.round(count / seconds)} calls/s, ` +
      `${Math.round(process.memoryUsage().rss / 2 ** 20)} MB\n`,
  );
}

void main();
