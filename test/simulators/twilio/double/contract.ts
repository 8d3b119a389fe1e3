/** The agent's side of Twilio Media Streams, as `wireContract` needs it. */
export function twilioContractDouble() {
  let streamSid = '';
  const message = (event: string, fields: object = {}) => JSON.stringify({ event, streamSid, ...fields });
  return {
    receive: (data: string | Uint8Array) => {
      const received = JSON.parse(String(data));
      if (received.event === 'start') streamSid = received.streamSid;
    },
    ready: () => [],
    /** A square wave of 500 Hz: mu-law 0x90 and 0x10 are a half of full scale up and down. */
    speech: (ms: number) => {
      const sound = Uint8Array.from({ length: ms * 8 }, (_, index) => (index % 16 < 8 ? 0x90 : 0x10));
      return [message('media', { media: { payload: Buffer.from(sound).toString('base64') } })];
    },
    unknown: (text: string) => message(text),
    echoes: (text: string) => [
      message('media', { media: { payload: text } }),
      message('media', { media: { payload: '' }, text }),
      message('mark', { mark: { name: text } }),
      message('clear', { text }),
      message(text),
      JSON.stringify({ event: 'mark', streamSid: text, mark: { name: text } }),
      JSON.stringify({ event: 'clear', streamSid: [text] }),
      JSON.stringify({ text }),
      `not JSON: ${text}`,
    ],
  };
}
