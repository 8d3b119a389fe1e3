import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const FOLDER = path.resolve('test/elevenlabs-agent');
const TYPES = path.join(FOLDER, 'node_modules/@elevenlabs/types/generated/types/asyncapi-types.ts');

/** The vendor's types of the messages that are sent here, by `type`. */
const NAMES: Readonly<Record<string, string>> = {
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
};

interface Message {
  readonly type?: string;
  readonly [field: string]: unknown;
}

/** Whether the typings are installed. */
export const hasVendorTypes = existsSync(TYPES);

/**
 * What the compiler finds wrong with messages, by the typings of ElevenLabs: missing, wrong and unknown fields.
 * @param file a path that does not exist yet, for the messages
 */
export function typeErrors(file: string, messages: readonly Message[]): string[] {
  const lines = messages.map((message, index) => {
    const name = NAMES[message.type ?? 'user_audio_chunk'] ?? 'never';
    return `export const message${index}: types.${name} = ${JSON.stringify(message)};`;
  });
  writeFileSync(file, [`import type * as types from ${JSON.stringify(TYPES)};`, ...lines].join('\n'));
  const program = ts.createProgram([file], {
    ...{ noEmit: true, strict: true, skipLibCheck: true, allowImportingTsExtensions: true, types: [] },
    ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText, start = 0, file: source }) => {
    const where = source?.text.slice(start, source.text.indexOf('\n', start)).slice(0, 200) ?? '';
    return `${ts.flattenDiagnosticMessageText(messageText, ' ')}: ${where}`;
  });
}
