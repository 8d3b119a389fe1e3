import { readPacket, receiverReport, rtp } from './packets.js';

const SSRC = 0x5eed;

/** The packets of a far side, as `wireContract` needs them. */
export const sipContractDouble = () => {
  let sequence = 0;
  const packet = (payload: Uint8Array, payloadType = 0, marker = false) => {
    sequence++;
    return rtp({ payloadType, marker, sequence, timestamp: 160 * sequence, ssrc: SSRC, payload });
  };
  /** A square wave of 500 Hz. */
  const tone = () => packet(Uint8Array.from({ length: 160 }, (_, n) => (n % 16 < 8 ? 0x90 : 0x10)));
  const said = (text: string) => Buffer.from(text);
  return {
    receive: (data: string | Uint8Array) => void (typeof data === 'string' ? undefined : readPacket(data)),
    ready: () => [receiverReport(SSRC)],
    goesOn: true,
    speech: (ms: number) => Array.from({ length: Math.ceil(ms / 20) }, tone),
    unknown: (text: string) => packet(said(text), 77),
    echoes: (text: string) => [
      packet(said(text), 77),
      packet(said(text), 13),
      packet(said(text), 101),
      packet(said(text), 0),
      packet(said(text), 8),
      Buffer.concat([Buffer.from([0x80, 200, 0, 99]), said(text)]),
      Buffer.concat([Buffer.from([0x80, 204, 0, 1]), said(text)]),
      Buffer.concat([Buffer.from([0xff, 0]), said(text)]),
      said(text),
      text,
    ],
  };
};
