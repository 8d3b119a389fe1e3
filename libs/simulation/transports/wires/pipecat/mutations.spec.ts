import { Random } from '../../../../audio/index.js';
import { shareOf } from '../../../../statistics/testing/sample.js';
import { MediaCall } from '../../../voice/call/media-call.js';
import { collected, planOf } from '../../../voice/testing/virtual-calls.js';
import { bot, bytes, says, tone } from '../../../../../test/simulators/pipecat/messages.js';
import { pipecat } from './index.js';
import pipecatWire from './wire.js';

const MESSAGES = shareOf(20_000);
const PER_CALL = 100;
const STATE = {
  rate: 16_000,
  speaksRtvi: true,
  showsTools: false,
  mockedTools: ['book'],
  addresses: [],
  secrets: [],
} as const;
const HEALTHY = [
  ...[bot.audio(tone(40)), bot.audio(tone(40, 8_000), 8_000), bot.interruption(), bot.text('x'), bytes(9, 'later')],
  ...[
    says.ready(),
    says.started(),
    says.output('Hello, you.', 1, 'Hello,'),
    says.outputOf1('Hello.', true, 'word'),
  ].map(bot.message),
  ...[says.transcription('Hello.'), says.heard('Hi'), says.callerStarted(), says.stopped(), says.metrics()].map(
    bot.message,
  ),
  ...[says.call('c1', 'book', { people: 4 }), says.call('c2'), says.callStopped('c1', [1]), says.refused('no')].map(
    bot.message,
  ),
];

/** A message with some of its bytes changed, left out, repeated or put in. */
function mutated(message: Buffer, random: Random): Buffer {
  const below = (limit: number) => Math.floor(random.next() * limit);
  let data = message;
  for (let changes = 1 + below(3); changes > 0; changes--) {
    const from = below(data.length + 1);
    const length = below(4);
    const put = Buffer.from(Array.from({ length: below(4) }, () => below(256)));
    const rest = data.subarray(Math.min(data.length, from + length));
    data = random.next() < 0.1 ? data.subarray(0, from) : Buffer.concat([data.subarray(0, from), put, rest]);
  }
  return data;
}

it(`survives ${MESSAGES} mutated messages, and says of none more than the findings that it knows`, () => {
  const random = new Random(1);
  const codes = new Set<string>();
  for (let left = MESSAGES; left > 0;) {
    const recording = collected();
    const plan = planOf([{ type: 'wait', ms: 60_000 }], { rate: 24_000 });
    const call = new MediaCall(plan, pipecatWire(STATE), { send: () => undefined, recording: recording.sink });
    let now = 0;
    call.start(now);
    call.onMessage(now, bot.message(says.ready()));
    for (let n = 0; n < PER_CALL && !call.isOver && left > 0; n++, left--) {
      const message = HEALTHY[Math.floor(random.next() * HEALTHY.length)]!;
      const data = mutated(message, random);
      call.onMessage(now, random.next() < 0.05 ? data.toString('utf8') : data);
      call.tick((now += 20));
    }
    call.abort(now);
    const facts = call.facts();
    expect(structuredClone(facts)).toEqual(facts);
    for (const { code } of facts.wireFindings) codes.add(code);
  }
  expect(Object.keys(pipecat.findings)).toEqual(expect.arrayContaining([...codes]));
  expect(codes.has('invalid_message')).toBe(true);
});
