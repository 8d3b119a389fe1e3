import type { DefinitionInput, ToolResult } from '../../evaluation-definition/index.js';
import { OutboundClient } from '../../outbound-http/index.js';
import { chatCompletions, RealClock } from '../index.js';
import { call } from '../testing/calls.js';
import { TestServers } from '../../../test/simulators/servers.js';
import { startArgumentAgent } from '../../../test/simulators/agent/testing/tool-agent.js';

const servers = new TestServers();
afterAll(() => servers.close());

/** A value that the evaluation wants, the forms in which a healthy agent may write it, and what a faulty one writes. */
const VALUES: readonly {
  readonly wanted: unknown;
  readonly forms: readonly unknown[];
  readonly wrong: readonly unknown[];
}[] = [
  {
    wanted: '19:30',
    forms: ['19:30', '7:30 pm', '7:30PM', 'half past seven in the evening', '19.30', '2026-12-04T19:30'],
    wrong: ['20:30', '7:30 am', 'half past eight in the evening', 'noon'],
  },
  { wanted: '19:00', forms: ['19:00', "seven o'clock", '7 pm', 'at seven', 7], wrong: ['eight', '9 pm', 6] },
  { wanted: 4, forms: [4, '4', 'four', '4.0'], wrong: [5, '5', 'five', 'fourteen'] },
  {
    wanted: '2026-12-04',
    forms: [
      '2026-12-04',
      'December 4th, 2026',
      'Friday, the fourth of December',
      '4.12.2026',
      'Friday',
      '2026-12-04T00:00:00',
    ],
    wrong: ['2026-12-05', 'Saturday', 'December 5th'],
  },
  { wanted: '€45', forms: ['€45', 'forty-five euros', '45 EUR', '45,00 €', 45], wrong: ['€54', '$45', 46] },
  { wanted: 20, forms: [20, 'twenty', '20', '20%'], wrong: [30, 'thirty', '2'] },
  { wanted: 'QX7', forms: ['QX7', 'qx7', 'Q X 7', 'Quebec X-ray seven', 'QX-7'], wrong: ['QX8', 'Q X 8', 'QXZ'] },
  {
    wanted: '+15555550142',
    forms: ['+15555550142', '+1 (555) 555-0142', '555 555 0142', 'five five five five five five oh one four two'],
    wrong: ['+15555550143', '555 555 0143'],
  },
  { wanted: true, forms: [true, 'true', 'yes'], wrong: [false, 'false', 'no'] },
  { wanted: 'Rossi', forms: ['Rossi', 'rossi', 'Rossi.', 'ROSSI'], wrong: ['Russo', 'Rosso'] },
  {
    wanted: 'ana@example.com',
    forms: ['ana@example.com', 'Ana@Example.com', 'ana at example dot com'],
    wrong: ['anna@example.com', 'ana@example.org'],
  },
];

const FREE = { tool: 'find', result: { free: true } };
const TAKEN: ToolResult = { tool: 'find', result: { free: false } };
const object = (value: unknown) => ({ properties: { of: { const: value } }, required: ['of'] });

/** Every way to write that only the wanted value is free. */
const WAYS: readonly [string, (wanted: unknown) => Omit<ToolResult, 'tool'>][] = [
  ['arguments', (of) => ({ arguments: { of } })],
  ['nested arguments', (of) => ({ arguments: { booking: { of } } })],
  ['a schema with const', (of) => ({ argumentsSchema: object(of) })],
  ['a schema with enum', (of) => ({ argumentsSchema: { properties: { of: { enum: [of, 'other'] } } } })],
  ['same', (of) => ({ same: { of } })],
  ['nested same', (of) => ({ same: { booking: { of } } })],
  ['same and arguments', (of) => ({ same: { of }, arguments: { more: 1 } })],
];
const FALLBACKS: readonly [string, readonly ToolResult[]][] = [
  ['nothing else', []],
  ['another result for all other calls', [TAKEN]],
  ['an error for all other calls', [{ tool: 'find', error: 'not found' }]],
  ['no answer to all other calls', [{ tool: 'find', noAnswer: true }]],
];
const GRID = WAYS.flatMap(([way, write]) => FALLBACKS.map(([rest, others]) => [way, rest, write, others] as const));

describe('a mock of a value that has many forms', () => {
  let url: string;
  beforeAll(async () => {
    url = await startArgumentAgent(servers);
  });

  const talk = (said: unknown, toolResults: readonly ToolResult[]) => {
    const definition: DefinitionInput = {
      script: [{ say: JSON.stringify({ of: said, booking: { of: said }, more: 1 }) }],
      toolResults,
      checks: [{ type: 'says', text: 'booked' }],
    };
    const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
    const transport = chatCompletions({ client, url, assistantId: 'a1' });
    return call(definition, { transport, clock: new RealClock(), patienceMs: 20 });
  };

  it.each(GRID)(
    'written as %s, with %s, fails no healthy agent and passes no faulty one',
    async (way, _rest, write, others) => {
      for (const { wanted, forms, wrong } of VALUES) {
        const results = [{ ...FREE, ...write(wanted) }, ...others];
        for (const form of forms) {
          const { outcome, failure } = await talk(form, results);
          expect([wanted, form, outcome]).not.toContain('failed');
          if (outcome !== 'passed') expect([form, failure?.code]).toEqual([form, 'tool_result_missing']);
          // What is written in the same way is always known.
          if (form === wanted) expect([form, outcome]).toEqual([form, 'passed']);
        }
        for (const form of wrong) {
          const { outcome } = await talk(form, results);
          expect([wanted, form, outcome]).not.toContain('passed');
          if (way === 'arguments' && others[0] === TAKEN && typeof form === typeof wanted) {
            expect([wanted, form, outcome]).toContain('failed');
          }
        }
      }
    },
  );

  it('written as same knows at least two of the forms of each value', async () => {
    for (const { wanted, forms } of VALUES) {
      const outcomes = await Promise.all(
        forms.map(async (form) => (await talk(form, [{ ...FREE, same: { of: wanted } }, TAKEN])).outcome),
      );
      expect([wanted, outcomes.filter((outcome) => outcome === 'passed').length >= 2]).toEqual([wanted, true]);
    }
  });

  it.each<[string, Readonly<Record<string, unknown>>, unknown, string]>([
    // What models write for nothing: ebongard/renfield#55, PrefectHQ/fastmcp#3265, UKGovernmentBEIS/inspect_ai#1477
    ['null, which is left out', { page: null, of: 4 }, { of: 4 }, 'passed'],
    ['null, written as an empty text', { page: null, of: 4 }, { page: '', of: 4 }, 'passed'],
    ['null, written as a word', { page: null, of: 4 }, { page: 'None', of: 4 }, 'passed'],
    ['null, where there is a value', { page: null, of: 4 }, { page: 2, of: 4 }, 'failed'],
    ['an empty text, which is left out', { note: '', of: 4 }, { of: 4 }, 'passed'],
    ['a list in another order: sierra-research/tau2-bench#557', { ids: ['A1', 'B2'] }, { ids: ['B2', 'A1'] }, 'error'],
    ['a list of other items', { ids: ['A1', 'B2'] }, { ids: ['C3', 'A1'] }, 'failed'],
    ['a list in a text: MoonshotAI/kimi-cli#2513', { ids: ['A1', 'B2'] }, { ids: '["A1","B2"]' }, 'error'],
    ['an object in a text: vllm-project/vllm#46924', { of: { day: 4 } }, { of: '{"day":4}' }, 'error'],
    ['one item instead of a list', { ids: ['A1'] }, { ids: 'A1' }, 'error'],
    ['the whole object in a text: livekit/agents#5409', { of: 4 }, '{"of":4}', 'passed'],
    ['a space of an API of dates: a narrow one without a break', { of: '7:00 PM' }, { of: '7:00\u202fPM' }, 'passed'],
  ])('of %s fails no healthy agent', async (_, wanted, given, outcome) => {
    const definition = (fits: Omit<ToolResult, 'tool'>): DefinitionInput => ({
      script: [{ say: JSON.stringify(given) }],
      toolResults: [{ ...FREE, ...fits }, TAKEN],
      checks: [{ type: 'says', text: 'booked' }],
    });
    const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
    const transport = chatCompletions({ client, url, assistantId: 'a1' });
    const options = { transport, clock: new RealClock(), patienceMs: 20 };
    expect((await call(definition({ same: wanted }), options)).outcome).toBe(outcome);
    const exact = (await call(definition({ arguments: wanted }), options)).outcome;
    expect(outcome === 'failed' ? ['failed'] : ['passed', 'error']).toContain(exact);
  });
});
