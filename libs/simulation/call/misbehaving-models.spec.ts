import { VirtualClock } from '../index.js';
import {
  BOOKING_CRITERION,
  bookingAgent,
  wellBehavedModel,
} from '../../../test/simulators/agent/testing/booking-agent.js';
import { call } from '../testing/calls.js';
import { stubModel } from '../../../test/simulators/model/llm-stub.js';
import {
  MISBEHAVING_MODELS,
  type MisbehavingModel,
  misbehaving,
} from '../../../test/simulators/model/misbehaving-models.js';
import { TestServers } from '../../../test/simulators/servers.js';

const servers = new TestServers();
afterEach(() => servers.close());

const CRITERION = { criteria: [{ text: BOOKING_CRITERION }] };
const CHECK = { checks: [{ type: 'says', text: 'is booked' }] } as const;

async function play(isFaulty: boolean, model: MisbehavingModel | undefined, definition: object) {
  const answering = model ? misbehaving(model, wellBehavedModel) : wellBehavedModel;
  // Only models that do not answer take this long.
  const timeoutMs = model?.name.includes('in time') ? 500 : 10_000;
  const stub = await stubModel(servers, answering, { timeoutMs });
  const result = await call(
    { maxTurns: 12, ...definition },
    { transport: bookingAgent(isFaulty), model: stub.model, clock: new VirtualClock() },
  );
  return result;
}

describe('a well-behaved language model', () => {
  it('passes the healthy agent and fails the faulty one', async () => {
    for (const definition of [CRITERION, CHECK]) {
      expect((await play(false, undefined, definition)).outcome).toBe('passed');
      expect((await play(true, undefined, definition)).outcome).toBe('failed');
    }
  });
});

describe('a language model that misbehaves', () => {
  it.each(MISBEHAVING_MODELS.map((model) => [`${model.task} that ${model.name}`, model] as const))(
    'neither blames a healthy agent nor passes a faulty one: %s',
    async (_name, model) => {
      const [healthy, faulty] = [await play(false, model, CRITERION), await play(true, model, CRITERION)];
      expect(model.healthy).toContain(healthy.outcome);
      expect(model.faulty).toContain(faulty.outcome);
    },
  );

  const callers = MISBEHAVING_MODELS.filter(({ task }) => task === 'caller');
  it.each(callers.map((model) => [model.name, model] as const))(
    'does not make a check fail: a caller that %s',
    async (_name, model) => {
      expect(model.healthy).toContain((await play(false, model, CHECK)).outcome);
    },
  );
});
