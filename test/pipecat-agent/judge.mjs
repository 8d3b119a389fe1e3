// The serializer of Pipecat's own client. Reads a JSON list from stdin and prints one of the same length:
//
//     {"read": BASE64}                        what it reads of a frame: its sound as base64, its message, or its error
//     {"write": {"pcm": BASE64, "rate": N}}   its frame for a sound, as base64
//     {"write": {"message": OBJECT}}          its frame for a message
import { ProtobufFrameSerializer } from '@pipecat-ai/websocket-transport';

const serializer = new ProtobufFrameSerializer();
const base64 = (bytes) => Buffer.from(bytes).toString('base64');

async function read(frame) {
  try {
    const { type, audio, message } = await serializer.deserialize(new Blob([Buffer.from(frame, 'base64')]));
    return type === 'audio' ? { pcm: base64(new Uint8Array(audio.buffer)) } : { message };
  } catch (error) {
    return { error: error.message };
  }
}

function write({ pcm, rate, message }) {
  if (pcm === undefined) return base64(serializer.serializeMessage(message));
  return base64(serializer.serializeAudio(new Uint8Array(Buffer.from(pcm, 'base64')).buffer, rate, 1));
}

let input = '';
for await (const part of process.stdin) input += part;
const answers = [];
for (const one of JSON.parse(input)) answers.push(one.read === undefined ? write(one.write) : await read(one.read));
process.stdout.write(JSON.stringify(answers));
