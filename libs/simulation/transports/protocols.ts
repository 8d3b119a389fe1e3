import { EventEmitter } from 'node:events';
import { availableParallelism } from 'node:os';
import { OwnedThreads } from '../../concurrency/index.js';
import type { Transport } from '../conversation/transport.js';
import { MediaThread, type ThreadDeath } from '../voice/thread/media-thread.js';
import { ThreadPerCall } from '../voice/thread/thread-per-call.js';
import type { VoiceTransport } from '../voice/wire/voice-transport.js';
import type { AgentCall, AgentEndpoint } from './modules/endpoint.js';
import { registry } from './modules/registry.js';
import { chatCompletionsModule } from './text/chat-completions/index.js';
import { voiceTransport } from './voice-call.js';
import { elevenlabs, elevenlabsText } from './wires/elevenlabs/index.js';
import { openaiRealtime } from './wires/openai-realtime/index.js';
import { retellText } from './wires/retell/index.js';
import { twilioMediaStreams } from './wires/twilio-media-streams/index.js';
import { vapi, vapiChat } from './wires/vapi/index.js';

/** The protocols of the service. A further one is a folder and a line here. */
export const PROTOCOLS = registry([
  chatCompletionsModule,
  twilioMediaStreams,
  openaiRealtime,
  elevenlabs,
  elevenlabsText,
  vapi,
  vapiChat,
  retellText,
]);

/** Of each medium, unless a setting says otherwise. */
const CALL_THREADS = Math.max(4, 2 * availableParallelism());

/** Emits `death` when a thread that carries the audio of voice calls has ended unexpectedly. */
export const mediaThreadEvents = new EventEmitter<{ death: [ThreadDeath] }>();
const onDeath = (death: ThreadDeath) => void mediaThreadEvents.emit('death', death);

/** Those of the voice calls of this process, by workspace: one ticker for all calls of a thread. */
export const mediaThreads = new OwnedThreads({ start: () => new MediaThread({ onDeath }), most: CALL_THREADS });
const suspectThreads = new ThreadPerCall({ onDeath });

/** Limits the threads of each medium, in which what agents send is read, to this number. */
export function limitCallThreads(most: number): void {
  mediaThreads.most = most;
}

/** Reaches an agent over the protocol of its endpoint. Only a `VoiceTransport` has `call`. */
export function transportTo(
  endpoint: AgentEndpoint,
  call: AgentCall,
  protocols = PROTOCOLS,
): Transport | VoiceTransport {
  const module = protocols.of(endpoint.protocol);
  return module.medium === 'text'
    ? module.transport(endpoint, call)
    : voiceTransport(module, endpoint, call, call.isSuspect ? suspectThreads : mediaThreads);
}
