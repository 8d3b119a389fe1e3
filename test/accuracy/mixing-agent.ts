import { decodeMulaw, EnergyGate, encodeMulaw, FRAME_MS, saturate, type SoundSource } from '../../libs/audio/index.js';
import type { InProcessMediaAgentFactory } from '../../libs/simulation/index.js';

const FRAME = 160;
/** How long the bed is heard before the greeting. */
const BEFORE_GREETING_MS = 2_000;

/** When the bed is heard: while the agent speaks, all the time, or all the time and for two seconds before the greeting. */
export const MODES = ['while speaking', 'all the time', 'before the greeting'] as const;
export type BedMode = (typeof MODES)[number];

export interface MixingOptions {
  readonly bed: SoundSource;
  readonly mode: BedMode;
  /** Of the voice. */
  readonly gainDb: number;
  /** Takes the onset and end of each sound of the voice alone, in call time. */
  readonly onSound: (startMs: number, endMs: number) => void;
}

/** An agent on a media stream of Twilio whose platform mixes a bed into its voice, in frames of 20 ms as they are spoken. */
export const mixing =
  (agentOf: InProcessMediaAgentFactory, { bed, mode, gainDb, onSound }: MixingOptions): InProcessMediaAgentFactory =>
  (socket) => {
    const gain = 10 ** (gainDb / 20);
    const gate = new EnergyGate(8_000);
    let voice: number[] = mode === 'before the greeting' ? new Array<number>(BEFORE_GREETING_MS * 8).fill(0) : [];
    let marks: { readonly name: string; left: number }[] = [];
    let streamSid = '';
    let frames = 0;
    const agent = agentOf({
      send: (data) => {
        const message = JSON.parse(data as string) as {
          event: string;
          media?: { payload: string };
          mark?: { name: string };
        };
        if (message.media) {
          for (const sample of decodeMulaw(Buffer.from(message.media.payload, 'base64'))) voice.push(sample);
        } else if (message.mark) marks.push({ name: message.mark.name, left: voice.length });
        else if (message.event === 'clear') {
          voice = [];
          marks = marks.map((mark) => ({ ...mark, left: 0 }));
          socket.send(data);
        }
      },
      close: (...closing) => socket.close(...closing),
    });
    const sendFrame = () => {
      const isSpeaking = voice.length > 0;
      const spoken = voice.splice(0, FRAME);
      marks.forEach((mark) => (mark.left -= FRAME));
      const clean = Int16Array.from({ length: FRAME }, (_, n) => saturate((spoken[n] ?? 0) * gain));
      const event = gate.push(decodeMulaw(encodeMulaw(clean)), true);
      if (event?.type === 'end') onSound(event.onsetMs, event.atMs);
      const sum = new Float64Array(FRAME);
      bed.addTo(sum);
      if (mode === 'while speaking' && !isSpeaking) sum.fill(0);
      const payload = encodeMulaw(clean.map((sample, n) => saturate(sample + sum[n]!)));
      const media = { payload: Buffer.from(payload).toString('base64') };
      socket.send(JSON.stringify({ event: 'media', streamSid, media }));
    };
    return {
      onMessage: (now, data) => {
        const message = JSON.parse(data as string) as { event: string; start?: { streamSid: string } };
        streamSid = message.start?.streamSid ?? streamSid;
        agent.onMessage(now, data);
      },
      tick: (now) => {
        agent.tick(now);
        for (; streamSid !== '' && frames * FRAME_MS <= now; frames++) sendFrame();
        const due = marks.filter(({ left }) => left <= 0);
        marks = marks.filter(({ left }) => left > 0);
        for (const { name } of due) agent.onMessage(now, JSON.stringify({ event: 'mark', streamSid, mark: { name } }));
      },
      onClose: (now) => agent.onClose?.(now),
    };
  };
