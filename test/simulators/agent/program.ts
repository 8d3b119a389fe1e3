import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { CachedSpeech, FliteEngine } from '../../../libs/speech/index.js';
import { DEFAULT_SLOW_MS } from './agent.js';
import { FAULT_NAMES, FAULTS, type FaultName, isFault } from './faults.js';
import {
  AGENT_NAME,
  DEFAULT_HOST,
  DEFAULT_PORT,
  type ReferenceAgentServerOptions,
  startReferenceAgent,
} from './server.js';
import { prepareVoice } from './voice/prepare.js';
import { FAULTS_OVER, type Platform, PLATFORMS } from './voice/platform-faults.js';
import {
  isRealtimeFault,
  REALTIME_FAULT_NAMES,
  REALTIME_FAULTS,
  type RealtimeFaultName,
  SHARED_FAULT_NAMES,
} from '../openai-realtime/realtime-faults.js';
import {
  ELEVENLABS_FAULT_NAMES,
  ELEVENLABS_FAULTS,
  type ElevenLabsFaultName,
  isElevenLabsFault,
} from '../elevenlabs/elevenlabs-faults.js';
import {
  isPipecatFault,
  PIPECAT_FAULT_NAMES,
  PIPECAT_FAULTS,
  type PipecatFaultName,
} from '../pipecat/pipecat-faults.js';
import { isVapiFault, VAPI_FAULT_NAMES, VAPI_FAULTS, type VapiFaultName } from '../vapi/vapi-faults.js';
import { startTranscription } from './voice/transcription.js';
import { isVoiceFault, VOICE_FAULT_NAMES, VOICE_FAULTS, type VoiceFaultName } from './voice/voice-faults.js';
import { isTelephoneFault, WORD_FAULT_NAMES } from './voice/word-faults.js';

type AnyFaultName =
  FaultName | VoiceFaultName | RealtimeFaultName | ElevenLabsFaultName | VapiFaultName | PipecatFaultName;

/** In place of an agent: a server that understands what the agent says. */
const TRANSCRIPTION = 'transcription-server';

interface Flags {
  readonly fault?: AnyFaultName;
  readonly as: Platform | typeof TRANSCRIPTION;
  readonly listFaults?: boolean;
  readonly port: number;
  readonly host: string;
  readonly latencyMs: number;
  readonly slowMs: number;
  readonly tokensPerSecond: number;
  readonly responseMs?: number;
  readonly authToken?: string;
  readonly realCallers?: boolean;
  readonly publicUrl?: string;
}

type ServerFlags = Omit<Flags, 'listFaults' | 'as'>;

const MAX_DELAY_MS = 600_000;
const CALLS_EVERY_MS = 20_000;
const MAX_TOKENS_PER_SECOND = 100_000;

/** The CLI of the reference agent. The server runs until SIGINT or SIGTERM. */
export function agentProgram(start = startReferenceAgent, startServer = startTranscription): Command {
  return new Command('reference-agent')
    .description('A restaurant-booking agent to test against: correct by default, or with one planted fault.')
    .option('--fault <name>', 'fault to plant, one of --list-faults', fault)
    .option('--list-faults', 'print all faults and how to detect them, then exit')
    .addOption(
      new Option(
        '--as <platform>',
        `how the agent answers beside chat completions; ${TRANSCRIPTION}: not the agent, but a server that transcribes what it says`,
      )
        .choices([...PLATFORMS, TRANSCRIPTION])
        .default(PLATFORMS[0]),
    )
    .option('--port <n>', 'port to listen on; 0 for any free port', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--host <address>', 'address to listen on', DEFAULT_HOST)
    .option('--latency-ms <n>', 'delay before the first part of every answer', wholeNumber(0, MAX_DELAY_MS), 0)
    .option('--slow-ms <n>', 'additional delay of the fault slow-answer', wholeNumber(0, MAX_DELAY_MS), DEFAULT_SLOW_MS)
    .option(
      '--tokens-per-second <n>',
      'speed of the answers; 0 sends each at once',
      wholeNumber(0, MAX_TOKENS_PER_SECOND),
      0,
    )
    .option(
      '--response-ms <n>',
      "on voice calls: time from the caller's last sound to the answer",
      wholeNumber(0, MAX_DELAY_MS),
    )
    .addOption(
      new Option(
        '--auth-token <token>',
        'on voice calls: check the signatures of Twilio; as another platform: the API key',
      ).env('TWILIO_AUTH_TOKEN'),
    )
    .option(
      '--real-callers',
      `with --as retell: a real caller has a call with it every ${CALLS_EVERY_MS / 1_000} seconds`,
    )
    .option('--public-url <url>', 'on the telephone: address of this server as Twilio sees it')
    .allowExcessArguments(false)
    .exitOverride()
    .action(async ({ listFaults, as, ...flags }: Flags) => {
      if (listFaults) return print(faultList());
      const server: { url: string; sipServer?: string | undefined; close(): Promise<void> } = await explained(
        flags,
        () => (as === TRANSCRIPTION ? startListening(startServer, flags) : start(agentOptions(as, flags))),
      );
      print(as === TRANSCRIPTION ? transcriptionText(server.url) : agentText(as, flags.fault, server));
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
    });
}

const agentText = (
  as: Platform,
  fault: AnyFaultName | undefined,
  { url, sipServer }: { readonly url: string; readonly sipServer?: string | undefined },
): string =>
  `The ${fault ? `agent with the fault ${fault}` : 'healthy agent'} is listening on ${url}
  text       POST ${url}/v1/chat/completions
             POST ${url}/agents/${AGENT_NAME}:FAULT/v1/chat/completions
${voiceAddresses(as, url, sipServer)}
FAULT is "healthy", or a fault that exists at the address (--list-faults describes them)
  text: ${FAULT_NAMES.join(', ')}
  ${as}: ${FAULTS_OVER[as].join(', ')}`;

const transcriptionText = (url: string): string =>
  `The transcription server is listening on ${url}; it understands what the reference agent says, and nothing else
  POST ${url}/v1/audio/transcriptions
  of the testing service: STT_BASE_URL=${url} STT_MODEL=reference-agent`;

function voiceAddresses(as: Platform, url: string, sipServer = ''): string {
  if (as === 'openai-realtime') {
    const address = url.replace(/^http/, 'ws');
    return `  realtime   ${address}/v1/realtime?model=${AGENT_NAME}       (WebSocket of OpenAI Realtime)
             ${address}/v1/realtime?model=${AGENT_NAME}:FAULT`;
  }
  if (as === 'elevenlabs') {
    return `  elevenlabs GET  ${url}/v1/convai/conversation/get-signed-url?agent_id=${AGENT_NAME}   (voice and text of ElevenLabs)
             GET  ${url}/v1/convai/conversation/get-signed-url?agent_id=${AGENT_NAME}:FAULT`;
  }
  if (as === 'vapi') {
    return `  vapi       POST ${url}/call                          (voice of Vapi: assistantId "${AGENT_NAME}" or "${AGENT_NAME}:FAULT")
             POST ${url}/chat                          (the same in text)`;
  }
  if (as === 'retell') {
    return `  retell     POST ${url}/agent-playground-completion/${AGENT_NAME}   (text of Retell)
             POST ${url}/agent-playground-completion/${AGENT_NAME}:FAULT
             POST ${url}/v2/register-phone-call   (voice of Retell: agent_id "${AGENT_NAME}" or "${AGENT_NAME}:FAULT")
             ${sipServer}   (its SIP server: the option sipServer of a connection)`;
  }
  if (as === 'pipecat') {
    return `  pipecat    ${url.replace(/^http/, 'ws')}/ws-client                  (WebSocket of Pipecat; POST ${url}/start names it)
             ${url.replace(/^http/, 'ws')}/agents/${AGENT_NAME}:FAULT/ws-client`;
  }
  return `  telephone  POST ${url}/voice                         (webhook of Twilio Media Streams)
             POST ${url}/agents/${AGENT_NAME}:FAULT/voice`;
}

async function startListening(start: typeof startTranscription, { fault: planted, port, host }: ServerFlags) {
  if (planted !== undefined)
    throw new Error(`--fault ${planted} is a fault of the agent, not of --as ${TRANSCRIPTION}`);
  const engine = new FliteEngine();
  try {
    return await start({ port, host, speech: speechOf(engine), today: Date.now() });
  } finally {
    await engine.close();
  }
}

function agentOptions(as: Platform, options: ServerFlags): ReferenceAgentServerOptions {
  const { fault: name, responseMs, authToken, publicUrl, realCallers, ...rest } = options;
  if (realCallers && as !== 'retell') throw new Error('--real-callers is an option of --as retell');
  const callsEveryMs = realCallers ? CALLS_EVERY_MS : undefined;
  const fault = name !== undefined && isFault(name) ? { fault: name } : {};
  const common = { slowMs: options.slowMs, responseMs, prepare };
  /** The fault, if it is one of the platform. */
  const plant = <Name extends AnyFaultName>(isOne: (fault: string) => fault is Name): { readonly fault?: Name } => {
    if (name !== undefined && isOne(name)) return { fault: name };
    if (name === undefined || isFault(name)) return {};
    throw new Error(`--fault ${name} is not a fault of an agent with --as ${as}`);
  };
  const services = {
    'twilio-media-streams': () => ({ telephone: { ...common, ...plant(isTelephoneFault), authToken, publicUrl } }),
    'openai-realtime': () => ({ realtime: { ...common, ...plant(isRealtimeFault), apiKey: authToken } }),
    elevenlabs: () => ({ elevenlabs: { ...common, ...plant(isElevenLabsFault), apiKey: authToken } }),
    vapi: () => ({ vapi: { ...common, ...plant(isVapiFault), apiKey: authToken } }),
    pipecat: () => ({ pipecat: { ...common, ...plant(isPipecatFault), apiKey: authToken } }),
    retell: () => ({ retell: { ...common, ...plant(isFault), apiKey: authToken, callsEveryMs } }),
  };
  return { ...rest, ...fault, ...services[as]() };
}

/** Starts a server. @throws Error that names the option to change */
async function explained<Server>(options: ServerFlags, start: () => Promise<Server>): Promise<Server> {
  try {
    return await start();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const at = `${options.host}:${options.port}`;
    if (code === 'EADDRINUSE') throw new Error(`${at} is already in use; choose another --port`, { cause: error });
    if (code === 'EACCES') throw new Error(`permission denied for ${at}; choose another --port`, { cause: error });
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error(`--host ${options.host} is not an address of this machine`, { cause: error });
    }
    throw error;
  }
}

/** Sounds are synthesised once ever: they are kept in the system's folder for temporary files. */
const speechOf = (engine: FliteEngine) =>
  new CachedSpeech(engine, { folder: path.join(tmpdir(), 'reference-agent-speech') });

const prepare = () => prepareVoice({ speech: speechOf(new FliteEngine()), today: Date.now() });

/** All faults with their effect and how a tester detects them. */
export function faultList(): string {
  const list = (names: readonly string[], faults: Readonly<Record<string, { effect: string; detection: string }>>) =>
    names.map((name) => `${name}\n  effect:    ${faults[name]?.effect}\n  detection: ${faults[name]?.detection}`);
  return [
    'Faults over text',
    ...list(FAULT_NAMES, FAULTS),
    '',
    `Faults on the telephone: ${WORD_FAULT_NAMES.join(', ')}, and`,
    ...list(VOICE_FAULT_NAMES, VOICE_FAULTS),
    '',
    `Faults with --as openai-realtime: ${[...SHARED_FAULT_NAMES, ...WORD_FAULT_NAMES].join(', ')}, and`,
    ...list(REALTIME_FAULT_NAMES, REALTIME_FAULTS),
    '',
    `Faults with --as elevenlabs: ${[...SHARED_FAULT_NAMES, ...WORD_FAULT_NAMES].join(', ')}, and`,
    ...list(ELEVENLABS_FAULT_NAMES, ELEVENLABS_FAULTS),
    '',
    `Faults with --as vapi: ${[...SHARED_FAULT_NAMES, ...WORD_FAULT_NAMES].join(', ')}, and`,
    ...list(VAPI_FAULT_NAMES, VAPI_FAULTS),
    '',
    `Faults with --as pipecat: ${[...SHARED_FAULT_NAMES, ...WORD_FAULT_NAMES].join(', ')}, and`,
    ...list(PIPECAT_FAULT_NAMES, { ...VOICE_FAULTS, ...PIPECAT_FAULTS }),
  ].join('\n');
}

function fault(name: string): AnyFaultName {
  if (isFault(name) || isVoiceFault(name)) return name;
  if (isRealtimeFault(name) || isElevenLabsFault(name) || isVapiFault(name) || isPipecatFault(name)) return name;
  const ofPlatforms = [...REALTIME_FAULT_NAMES, ...ELEVENLABS_FAULT_NAMES, ...VAPI_FAULT_NAMES, ...PIPECAT_FAULT_NAMES];
  const names = [...FAULT_NAMES, ...VOICE_FAULT_NAMES, ...ofPlatforms];
  throw new InvalidArgumentError(`Valid faults: ${[...new Set<string>(names)].join(', ')}.`);
}

function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Must be a whole number from ${min} to ${max}.`);
  };
}

const print = (text: string) => void process.stdout.write(`${text}\n`);
