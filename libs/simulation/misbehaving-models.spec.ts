import { inProcess, VirtualClock } from './index.js';
import { call } from './testing/calls.js';
import { type Asked, stubModel } from './testing/llm-stub.js';
import { MISBEHAVING_MODELS, type MisbehavingModel, misbehaving, soundJudge } from './testing/misbehaving-models.js';
import { TestServers } from './testing/servers.js';

const servers = new TestServers();
afterEach(() => servers.close());

/** Asks for what it does not know yet, and then books; the faulty one says that it is full. */
function bookingAgent(isFaulty: boolean) {
  let said = '';
  let isBooked = false;
  return inProcess(async function* ({ messages }) {
    const words = messages.at(-1)?.content ?? '';
    said += ` ${words}`;
    if (isBooked && /bye/i.test(words)) yield { say: 'Goodbye.' };
    else if (isBooked) yield { say: 'Is there anything else?' };
    else if (!/four/i.test(said)) yield { say: 'For how many people?' };
    else if (!/friday/i.test(said)) yield { say: 'Which day would you like to come?' };
    else if (!/rossi/i.test(said)) yield { say: 'Please give me your name.' };
    else {
      isBooked = true;
      yield { say: isFaulty ? 'I am afraid that we are full.' : 'Your table is booked.' };
    }
  });
}

const judge = soundJudge(({ lines }) => lines.some(({ who, text }) => who === 'agent' && /is booked/.test(text)));

function soundModel(asked: Asked) {
  if (asked.role === 'judge') return judge(asked);
  const heard = asked.messages.at(-1)!.content;
  if (/how many/.test(heard)) return { say: 'Four of us.', end: null };
  if (/Which day/.test(heard)) return { say: 'On Friday, please.', end: null };
  if (/your name/.test(heard)) return { say: 'My name is Rossi.', end: null };
  if (/booked|full/.test(heard)) return { say: 'All right. Goodbye.', end: 'That is settled' };
  return { say: 'Hello, I would like to book a table.', end: null };
}

const CRITERION = { criteria: [{ text: 'The agent books the table.' }] };
const CHECK = { checks: [{ type: 'says', text: 'is booked' }] } as const;

async function play(isFaulty: boolean, model: MisbehavingModel | undefined, definition: object) {
  const answering = model ? misbehaving(model, soundModel) : soundModel;
  const stub = await stubModel(servers, answering, { timeoutMs: 100 });
  const result = await call(
    { maxTurns: 12, ...definition },
    { transport: bookingAgent(isFaulty), model: stub.model, clock: new VirtualClock() },
  );
  return result;
}

describe('a sound language model', () => {
  it('passes the sound agent and fails the faulty one', async () => {
    for (const definition of [CRITERION, CHECK]) {
      expect((await play(false, undefined, definition)).outcome).toBe('passed');
      expect((await play(true, undefined, definition)).outcome).toBe('failed');
    }
  });
});

describe('a language model that misbehaves', () => {
  it.each(MISBEHAVING_MODELS.map((model) => [`${model.task} that ${model.name}`, model] as const))(
    'neither blames a sound agent nor passes a faulty one: %s',
    async (_name, model) => {
      const [sound, faulty] = [await play(false, model, CRITERION), await play(true, model, CRITERION)];
      expect(model.sound).toContain(sound.outcome);
      expect(model.faulty).toContain(faulty.outcome);
    },
  );

  const callers = MISBEHAVING_MODELS.filter(({ task }) => task === 'caller');
  it.each(callers.map((model) => [model.name, model] as const))(
    'does not make a check fail: a caller that %s',
    async (_name, model) => {
      expect(model.sound).toContain((await play(false, model, CHECK)).outcome);
    },
  );
});
