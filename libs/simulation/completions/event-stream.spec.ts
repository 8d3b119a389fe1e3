import { EventStreamParser } from './event-stream.js';

/** All events of a text that arrives in pieces of `size` characters. */
function eventsOf(text: string, size: number): string[] {
  const parser = new EventStreamParser();
  const events: string[] = [];
  for (let at = 0; at < text.length; at += size)
    events.push(...parser.push(text.slice(at, at + size)).map(({ data }) => data));
  return events;
}

describe('event stream', () => {
  it.each([1, 2, 3, 100])('is parsed independently of its fragmentation: pieces of %d characters', (size) => {
    const text = 'data: one\n\n: a comment\r\ndata: two\r\ndata:three\r\n\r\nevent: x\rdata: four\r\rdata: left';
    expect(eventsOf(text, size)).toEqual(['one', 'two\nthree', 'four']);
  });

  it('names events, and reads the one that the end of the body leaves unfinished', () => {
    const parser = new EventStreamParser();
    expect(parser.push('event: progress\ndata: 1\n\ndata: 2\r')).toEqual([{ name: 'progress', data: '1' }]);
    expect(parser.end()).toEqual([{ name: '', data: '2' }]);
  });

  it('scans a long line only once even if it arrives one character at a time', () => {
    const parser = new EventStreamParser();
    parser.push(`data: ${'x'.repeat(1_000_000)}`);
    const begun = performance.now();
    for (let n = 0; n < 10_000; n++) parser.push('y');
    // A search from the beginning of the line takes more than a millisecond per chunk.
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(parser.push('\n\n')[0]!.data).toHaveLength(1_010_000);
  });
});
