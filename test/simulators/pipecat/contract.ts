import { bot, frame, bytes, says, toneFrames } from './messages.js';

/** A bot, as `wireContract` needs it. */
export const pipecatContractDouble = () => ({
  receive: () => undefined,
  ready: () => [bot.message(says.ready())],
  goesOn: true,
  speech: (ms: number) => toneFrames(ms),
  unknown: (id: string) => bot.message({ label: 'rtvi-ai', type: 'of-a-later-version', id }),
  echoes: (text: string) => [
    bot.message(says.ready(text)),
    bot.message(says.output(text, 1)),
    bot.message(says.output(text, 2, text, text)),
    bot.message(says.outputOf1(text, true, 'word')),
    bot.message(says.transcription(text)),
    bot.message(says.stopped()),
    bot.message(says.heard(text)),
    bot.message(says.call(text, text, { value: text, [text]: 1 })),
    bot.message(says.call(text)),
    bot.message(says.error(text)),
    bot.message(says.error(text, true)),
    bot.message(says.refused(text)),
    bot.message({ label: 'rtvi-ai', type: 'bot-output', data: { spoken: true, text: { text } } }),
    bot.message({ label: 'rtvi-ai', type: text, data: { text } }),
    bot.message(`{ not JSON: ${text}`),
    bot.text(text),
    bot.transcription(text),
    frame('audio', bytes(3, text)),
    bytes(9, text),
    Buffer.from(text),
    text,
  ],
});
