import type { AgentEvent, LineOptions, RequestRecord } from '../../conversation/transport.js';
import { VirtualClock } from '../../time/virtual-clock.js';
import { Timeline, type TimelineEntry } from '../../timeline/timeline.js';
import { HostedLine } from './hosted-line.js';
import type { LineReport } from './messages.js';

/** A line whose agent acts as the test says, and its reports. */
function hosted(options: Pick<LineOptions, 'isTest'> = {}) {
  const reports: LineReport[] = [];
  const clock = new VirtualClock();
  const hungUp = jest.fn();
  let emit: (event: AgentEvent) => void = () => undefined;
  const transport = {
    name: 'scripted',
    connect: (line: LineOptions) => {
      emit = line.emit;
      const say = () => Promise.resolve({ start: 0, end: 0 });
      return { agentSpeaksFirst: false, say, hangUp: hungUp };
    },
  };
  const report = (one: LineReport) => void reports.push(structuredClone(one));
  const line = new HostedLine(transport, { ...options, report }, clock);
  return { line, emit: (event: AgentEvent) => emit(event), reports, hungUp };
}

function timelineOf(events: readonly AgentEvent[]): readonly TimelineEntry[] {
  const timeline = new Timeline();
  for (const event of events) {
    if (event.type === 'speech') timeline.agentSpeaks(event.text, event.at);
    else timeline.agentPaused(event.at);
  }
  return timeline.entries;
}

describe('HostedLine', () => {
  afterEach(() => jest.useRealTimers());

  it('reports 90,000 parts that arrive at once as few events, and each of their times', () => {
    const { emit, reports, line } = hosted();
    const request: RequestRecord = { tokensAt: [] };
    emit({ type: 'request', at: 0, request });
    for (let n = 0; n < 90_000; n++) {
      if (n < 500) request.tokensAt.push(n / 1_000);
      emit({ type: 'speech', at: n / 1_000, text: n % 3 === 0 ? ' ' : 'x' });
    }
    emit({ type: 'turn_end', at: 90 });
    const events = reports.flatMap((report) => report.events);
    expect(events.length).toBeLessThan(10);
    expect(events.flatMap((event) => (event.type === 'speech' ? event.text : [])).join('')).toHaveLength(90_000);
    expect(reports.flatMap(({ record }) => record!.tokensAt)).toEqual(request.tokensAt);
    line.close();
  });

  it('makes the same timeline as the parts themselves, whatever they are and whenever they arrive', () => {
    jest.useFakeTimers();
    let seed = 1;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let trial = 0; trial < 300; trial++) {
      const { emit, reports, line } = hosted();
      const all: AgentEvent[] = [];
      let at = 0;
      for (let n = 0; n < 40; n++) {
        at += [0, 0.2, 3, 60, 480, 700][random(6)]!;
        const text = ['word', ' ', 'a b', '\n', ' then'][random(5)]!;
        const event: AgentEvent = random(12) === 0 ? { type: 'speech_end', at } : { type: 'speech', at, text };
        all.push(event);
        emit(event);
        if (random(4) === 0) jest.advanceTimersByTime(20);
      }
      const end: AgentEvent = { type: 'turn_end', at: at + 1 };
      emit(end);
      expect(timelineOf(reports.flatMap(({ events }) => events))).toEqual(timelineOf([...all, end]));
      line.close();
    }
  });

  it('keeps a tool call between the words that came before and after it at the same time', () => {
    const { emit, reports, line } = hosted();
    const all: AgentEvent[] = [
      { type: 'speech', at: 0, text: 'One ' },
      { type: 'speech', at: 0, text: 'moment.' },
      { type: 'tool_start', at: 0 },
      { type: 'speech', at: 0, text: ' Booked.' },
      { type: 'speech_end', at: 0 },
      { type: 'tool_call', at: 0, endedAt: 0, name: 'book', arguments: {} },
      { type: 'turn_end', at: 0 },
    ];
    for (const event of all) emit(event);
    const timeline = new Timeline();
    for (const event of reports.flatMap(({ events }) => events)) {
      if (event.type === 'speech') timeline.agentSpeaks(event.text, event.at);
      else if (event.type === 'tool_start') timeline.toolStarts();
      else if (event.type === 'tool_call') timeline.toolCalled(event, event.at, event.endedAt);
      else timeline.agentPaused(event.at);
    }
    expect(timeline.entries).toMatchObject([{ text: 'One moment.' }, { name: 'book' }, { text: ' Booked.' }]);
    line.close();
  });

  it('reports what becomes known of a request although the agent says nothing', () => {
    jest.useFakeTimers();
    const { emit, reports, line } = hosted();
    const request: RequestRecord = { tokensAt: [] };
    emit({ type: 'request', at: 0, request });
    Object.assign(request, { sentAt: 1, status: 200, firstByteAt: 2 });
    jest.advanceTimersByTime(100);
    expect(reports.map(({ record }) => record)).toEqual([{ tokensAt: [] }, request]);
    line.close();
  });

  it('reports nothing after the end of the call', () => {
    const { emit, reports } = hosted();
    for (let n = 0; n < 1_000; n++) emit({ type: 'hang_up', at: n, reason: 'bye' });
    expect(reports.flatMap(({ events }) => events)).toEqual([{ type: 'hang_up', at: 0, reason: 'bye' }]);
  });

  it('hangs up by itself after the first call of a tool in a test', () => {
    const { emit, hungUp, line } = hosted({ isTest: true });
    emit({ type: 'speech', at: 0, text: 'One moment' });
    expect(hungUp).not.toHaveBeenCalled();
    emit({ type: 'tool_call', at: 1, endedAt: 1, name: 'find', arguments: {} });
    expect(hungUp).toHaveBeenCalledTimes(1);
    line.close();
  });
});
