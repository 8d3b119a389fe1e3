import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** The typings of a vendor. */
export interface VendorTypes {
  readonly file: string;
  /** Types of the messages that are sent here, by `type`; `types` is what the file exports. */
  readonly names: Readonly<Record<string, string>>;
}

const ELEVENLABS_TYPES: VendorTypes = {
  file: path.resolve('test/elevenlabs-agent/node_modules/@elevenlabs/types/generated/types/asyncapi-types.ts'),
  names: {
    conversation_initiation_metadata: 'ConversationMetadata',
    audio: 'Audio',
    agent_response: 'AgentResponse',
    agent_response_correction: 'AgentResponseCorrection',
    agent_chat_response_part: 'AgentChatResponsePart',
    user_transcript: 'UserTranscript',
    interruption: 'Interruption',
    ping: 'Ping',
    client_tool_call: 'ClientToolCallMessage',
    agent_tool_request: 'AgentToolRequestMessage',
    agent_tool_response: 'AgentToolResponseMessage',
    agent_tool_response_full_payload: 'AgentToolResponseFullPayloadMessage',
    vad_score: 'VadScore',
    guardrail_triggered: 'GuardrailTriggered',
    error: 'ErrorMessage',
    conversation_initiation_client_data: 'ConversationInitiation',
    user_audio_chunk: 'UserAudio',
    pong: 'Pong',
    user_message: 'UserMessage',
    user_activity: 'UserActivity',
    client_tool_result: 'ClientToolResult',
  },
};

const strings = (object: string, name: string): string => `Omit<types.${object}, '${name}'> & { ${name}: string }`;

/** An output of the model, and the format of audio, are objects in the typings, and text in the documentation. */
export const VAPI_TYPES: VendorTypes = {
  file: path.resolve('test/vapi-agent/node_modules/@vapi-ai/server-sdk/dist/cjs/api/types/index.d.ts'),
  names: {
    'assistant.started': 'types.ClientMessageAssistantStarted',
    'assistant.speechStarted': 'types.ClientMessageAssistantSpeech',
    'speech-update': 'types.ClientMessageSpeechUpdate',
    transcript: 'types.ClientMessageTranscript',
    'model-output': strings('ClientMessageModelOutput', 'output'),
    'voice-input': 'types.ClientMessageVoiceInput',
    'user-interrupted': 'types.ClientMessageUserInterrupted',
    'tool-calls': 'types.ClientMessageToolCalls',
    'conversation-update': 'types.ClientMessageConversationUpdate',
    hang: 'types.ClientMessageHang',
    'status-update': 'types.ServerMessageStatusUpdate',
    'end-call': 'types.ClientInboundMessageMessage.EndCall',
  },
};

interface Message {
  readonly type?: string;
  readonly [field: string]: unknown;
}

/** Whether the typings of ElevenLabs, and of Vapi, are installed. */
export const hasVendorTypes = existsSync(ELEVENLABS_TYPES.file);
export const hasVapiTypes = existsSync(VAPI_TYPES.file);

const OPTIONS: ts.CompilerOptions = {
  ...{ noEmit: true, strict: true, skipLibCheck: true, allowImportingTsExtensions: true, types: [] },
  ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
};

/** Parses each file once: the typings of a vendor and of the language are the same in every program. */
const host = ts.createCompilerHost(OPTIONS);
const parse = host.getSourceFile.bind(host);
const parsed = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (name, ...more) => {
  if (!parsed.has(name)) parsed.set(name, parse(name, ...more));
  return parsed.get(name);
};

/**
 * What the compiler finds wrong with messages, by the typings of a vendor: missing, wrong and unknown fields.
 * @param file a path that does not exist yet, for the messages
 */
export function typeErrors(
  file: string,
  messages: readonly Message[],
  { file: types, names }: VendorTypes = ELEVENLABS_TYPES,
): string[] {
  const lines = messages.map((message, index) => {
    const name = names[message.type ?? 'user_audio_chunk'] ?? 'never';
    const type = name.includes('types.') ? name : `types.${name}`;
    return `export const message${index}: ${type} = ${JSON.stringify(message)};`;
  });
  return compilerErrors(file, types, lines);
}

/**
 * What the compiler finds wrong with a program: each error with the line of it.
 * @param file a path that no program had before: what was parsed is kept
 * @param types a file whose exports the lines use as `types`
 */
export function compilerErrors(file: string, types: string, lines: readonly string[]): string[] {
  writeFileSync(file, [`import type * as types from ${JSON.stringify(types)};`, ...lines].join('\n'));
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], OPTIONS, host))
    .map(({ messageText, start = 0, file: source }) => {
      const where = source?.text.slice(start, source.text.indexOf('\n', start)).slice(0, 200) ?? '';
      return `${ts.flattenDiagnosticMessageText(messageText, ' ')}: ${where}`;
    });
}
