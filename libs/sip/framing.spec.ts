import { KEEP_ALIVE, SipFraming } from './framing.js';

const bytes = (text: string): Buffer => Buffer.from(text);
const ONE = 'OPTIONS sip:a SIP/2.0\r\nContent-Length: 6\r\n\r\nä\r\n\r\n';
const TWO = 'SIP/2.0 200 OK\r\nl : 0\r\n\r\n';

describe('SipFraming', () => {
  it('gives the same messages and keep-alives wherever the stream is split', () => {
    const stream = bytes(`\r\n\r\n${ONE}\r\n${TWO}\r\n\r\n${ONE}`);
    for (let at = 0; at <= stream.length; at += 1) {
      const framing = new SipFraming();
      const pushed = [...framing.push(stream.subarray(0, at)), ...framing.push(stream.subarray(at))];
      expect(pushed).toEqual([KEEP_ALIVE, ONE, TWO, KEEP_ALIVE, ONE]);
      expect(framing.partial).toBe(false);
    }
  });

  it('gives the same messages when each byte comes alone', () => {
    const framing = new SipFraming();
    const pushed = [...bytes(ONE + TWO)].flatMap((byte) => [...framing.push(Buffer.from([byte]))]);
    expect(pushed).toEqual([ONE, TWO]);
  });

  it.each([
    ['message without a valid Content-Length', 'BYE sip:a SIP/2.0\r\nTo: a\r\n\r\n'],
    ['message without a valid Content-Length', 'BYE sip:a SIP/2.0\r\nContent-Length: -1\r\n\r\n'],
    ['message without a valid Content-Length', 'BYE sip:a SIP/2.0\r\nContent-Length: 1\r\nl: 2\r\n\r\n'],
    ['message over 16 KiB', 'BYE sip:a SIP/2.0\r\nContent-Length: 1000000\r\n\r\n'],
    ['message over 16 KiB', 'x'.repeat(17_000)],
    ['message with more than 64 header lines', `BYE sip:a SIP/2.0\r\n${'X: 1\r\n'.repeat(64)}l: 0\r\n\r\n`],
  ])('refuses a %s', (reason, text) => {
    expect(() => [...new SipFraming().push(bytes(text))]).toThrow(reason);
  });

  it('knows that a message has begun', () => {
    const framing = new SipFraming();
    expect([...framing.push(bytes('BYE'))]).toEqual([]);
    expect(framing.partial).toBe(true);
  });
});
