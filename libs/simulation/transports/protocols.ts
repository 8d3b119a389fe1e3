import { EventEmitter } from 'node:events';
import { availableParallelism } from 'node:os';
import { OwnedThreads, type ThreadDeath, ThreadPerCall } from '../../concurrency/index.js';
import type { Transport } from '../conversation/transport.js';
import { MediaThread } from '../voice/thread/media-thread.js';
import type { VoiceTransport } from '../voice/wire/voice-transport.js';
import type { AgentCall, AgentEndpoint, ProtocolName } from './modules/endpoint.js';
import { registry } from './modules/registry.js';
import { RequestThread } from './requests/request-thread.js';
import { textTransport } from './requests/thread-line.js';
import { threadPlatform } from './requests/thread-session.js';
import { chatCompletionsModule } from './text/chat-completions/index.js';
import { voiceTransport } from './voice-call.js';
import { elevenlabs, elevenlabsText } from './wires/elevenlabs/index.js';
import { openaiRealtime } from './wires/openai-realtime/index.js';
import { pipecat } from './wires/pipecat/index.js';
import { retell, retellText } from './wires/retell/index.js';
import { sip } from './wires/sip/index.js';
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
  retell,
  retellText,
  pipecat,
  sip,
]);

/** Of each medium, unless a setting says otherwise. */
const CALL_THREADS = Math.max(4, 2 * availableParallelism());

/** Emits `death` when a thread that carries calls has ended unexpectedly. */
export const callThreadEvents = new EventEmitter<{ death: [ThreadDeath] }>();
const onDeath = (death: ThreadDeath) => void callThreadEvents.emit('death', death);

/** Those of the voice calls of this process, by workspace: one ticker for all calls of a thread. */
export const mediaThreads = new OwnedThreads({ start: () => new MediaThread({ onDeath }), most: CALL_THREADS });
/** Those of text calls, and of requests to platforms. */
export const requestThreads = new OwnedThreads({ start: () => new RequestThread({ onDeath }), most: CALL_THREADS });
/** Of calls that may have ended their threads; enough heap for one with an agent that keeps to the limits. */
const suspects = {
  media: new ThreadPerCall(() => new MediaThread({ heapMiB: 256, onDeath })),
  requests: new ThreadPerCall(() => new RequestThread({ heapMiB: 256, onDeath })),
};

/** Limits the threads of each medium, in which what agents send is read, to this number. */
export function limitCallThreads(most: number): void {
  mediaThreads.most = requestThreads.most = most;
}

/** Reaches an agent over the protocol of its endpoint. Only a `VoiceTransport` has `call`. */
export function transportTo(
  endpoint: AgentEndpoint,
  call: AgentCall,
  protocols = PROTOCOLS,
): Transport | VoiceTransport {
  const module = protocols.of(endpoint.protocol, endpoint.options);
  const { media, requests } = call.isSuspect ? suspects : { media: mediaThreads, requests: requestThreads };
  return module.medium === 'text'
    ? textTransport(module, endpoint, call, requests)
    : voiceTransport(module, endpoint, call, media, requests);
}

/** The requests to a platform beside calls, on behalf of a workspace. */
export const platformOf = (protocol: ProtocolName, workspaceId: string) =>
  threadPlatform(PROTOCOLS.of(protocol), workspaceId, requestThreads);
