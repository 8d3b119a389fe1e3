import { amplitudeOf, decodeMulaw, encodeMulaw, FRAME_MS, Random, TELEPHONE_RATE } from '../../../audio/index.js';
import { Line } from '../facts/line.js';
import { agentSound, factsOf, line as lineOfCaller } from '../testing/facts.js';
import { Ear } from './ear.js';
import { hearAgain } from './hear-again.js';

const END_MS = 6_010;
const line = new Line(TELEPHONE_RATE);
const CALLER = [lineOfCaller(1_700, 2_400)];

/** The facts and the recording of speech from 400 to 1,600 and from 3,000 to 4,500 ms. @param bedDbfs noise besides */
function recorded(bedDbfs: number | null) {
  const random = new Random(1);
  const ear = new Ear(line);
  ear.format = { rate: TELEPHONE_RATE, encoding: 'mulaw' };
  const heard: Int16Array[] = [];
  for (let atMs = 0; atMs + FRAME_MS <= END_MS; atMs += FRAME_MS) {
    const isSpeech = (atMs >= 400 && atMs < 1_600) || (atMs >= 3_000 && atMs < 4_500);
    const amplitude = isSpeech ? amplitudeOf(-26) : bedDbfs === null ? 0 : amplitudeOf(bedDbfs);
    const noise = Int16Array.from({ length: line.frameSamples }, () => random.gaussian() * amplitude);
    // Without a bed nothing is sent between the two.
    if (isSpeech || bedDbfs !== null) ear.play(atMs, decodeMulaw(encodeMulaw(noise)));
    if (atMs === 1_600) ear.turnEnded(atMs);
    heard.push(ear.hearFrame());
  }
  heard.push(ear.finish(END_MS));
  const facts = factsOf({
    caller: CALLER,
    end: { by: 'caller', code: 'script_over', reason: 'The script ended', atMs: END_MS },
    ...ear.facts(
      (atMs) => (atMs >= CALLER[0]!.startMs ? 1 : 0),
      (atMs) => (atMs > CALLER[0]!.startMs ? CALLER[0]!.endMs : 0),
    ),
  });
  return { facts, lane: { rate: line.rate, pcm: Int16Array.from(heard.flatMap((frame) => [...frame])) } };
}

describe('hearAgain', () => {
  it.each([null, -46])('hears the same in the recording as on the call, with a bed of %s dBFS', (bedDbfs) => {
    const { facts, lane } = recorded(bedDbfs);
    expect(facts.agent).toHaveLength(2);
    expect(facts.background === null).toBe(bedDbfs === null);
    const forgotten = { ...facts, agent: [], background: null };
    expect(hearAgain(forgotten, lane)).toEqual(facts);
  });

  it('hears the recording, regardless of the stored sounds', () => {
    const { facts, lane } = recorded(null);
    const silenced = lane.pcm.map((sample, index) => (index >= line.samplesOf(2_900) ? 0 : sample));
    const { agent } = hearAgain({ ...facts, agent: [agentSound(5_000, 5_500)] }, { ...lane, pcm: silenced });
    expect(agent).toEqual([facts.agent[0]]);
  });

  it('treats the missing end of a recording as silence', () => {
    const { facts, lane } = recorded(null);
    const { agent } = hearAgain(facts, { ...lane, pcm: lane.pcm.slice(0, line.samplesOf(2_000)) });
    expect(agent).toEqual([facts.agent[0]]);
  });

  it('reports an inaudible agent if none of its audio is heard', () => {
    const { facts, lane } = recorded(null);
    const { level } = hearAgain(facts, { ...lane, pcm: new Int16Array(lane.pcm.length) });
    expect(level).toMatchObject({ dbfs: null, inaudible: true });
  });

  it('keeps the stored sounds if the recording is not exactly what was heard', () => {
    const { facts, lane } = recorded(null);
    const { hearing: _, ...without } = facts;
    expect(hearAgain(without, { ...lane, pcm: new Int16Array(lane.pcm.length) })).toBe(without);
  });
});
