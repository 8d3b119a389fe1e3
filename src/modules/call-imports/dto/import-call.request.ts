import { ApiProperty } from '@nestjs/swagger';
import type { TranscriptEntry } from '../../../../libs/simulation/index.js';
import {
  checked,
  EnumField,
  IdField,
  MAX_LENGTH,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { CHANNEL_ORDERS, type ChannelOrder } from '../../recordings/recording-uploads.service.js';
import { CALL_ORIGINS, type CallOrigin } from '../call-import.entity.js';
import { inListOf, parsedJson } from '../json-field.js';
import { isDateAndTime } from '../../../platform/http/dto/moment.field.js';

/** Maximum size of a recording in bytes. */
export const MAX_RECORDING = 200 * 1024 * 1024;
const MAX_TRANSCRIPT = 4 * 1024 * 1024;
const MAX_ENTRIES = 10_000;
const MAX_TEXT = 4_000;
const MAX_TOOL_CALLS = 1024 * 1024;
const MAX_REPORTED = 64 * 1024;
/** How far the clock of a client may be ahead. */
const AHEAD_MS = 24 * 60 * 60_000;

/** Maximum size in bytes of each field beside the recording. */
export const FIELD_BYTES = {
  channels: 100,
  evaluationId: 255,
  startedAt: 255,
  transcript: MAX_TRANSCRIPT,
  externalId: 1_020,
  toolCalls: MAX_TOOL_CALLS,
  endedReason: 4 * MAX_LENGTH.name,
  reported: MAX_REPORTED,
  origin: 100,
} as const;

/** A call that was recorded elsewhere; the form's fields are texts. */
export class ImportCallRequest {
  @ApiProperty({
    type: 'string',
    format: 'binary',
    description:
      'The recording from the answer to the end of the call, as WAV with two channels: 16-bit PCM, mu-law or A-law at 8,000, 16,000, 22,050, 24,000, 44,100 or 48,000 samples per second; at most 200 MiB. It may be left out if `transcript` has both sides; then no times are measured',
    required: false,
  })
  recording?: string;

  @EnumField(CHANNEL_ORDERS, {
    description: 'Who is in the first (left) and in the second channel; required with `recording`, and only then',
    example: 'caller-agent',
    optional: true,
  })
  channels?: ChannelOrder;

  @IdField({ kind: 'evaluation', description: 'Evaluation of the agent whose checks and criteria apply' })
  evaluationId: string;

  @checked('started', startViolation)
  @TimestampField({ description: 'When the call was answered' })
  startedAt: string;

  @StringField({
    description: `What was said, as JSON: a list of at most ${MAX_ENTRIES} objects with \`speaker\` (\`agent\` or \`caller\`), \`text\`, \`startMs\` and \`endMs\` in milliseconds from the beginning of the recording. Without it no words are known: checks on words are undecided`,
    maxLength: MAX_TRANSCRIPT,
    example: '[{"speaker":"agent","text":"Good evening.","startMs":420,"endMs":1310}]',
    optional: true,
  })
  transcript?: string;

  @StringField({
    description:
      "The call's name where it was recorded, unique per agent: sent again with the same content, the response is the call that was imported; with other content: 409",
    minLength: 1,
    maxLength: 255,
    example: 'CA5ef8732a3c49700934481addd5ce1659',
    optional: true,
  })
  externalId?: string;

  @StringField({
    description:
      'The tool calls of the agent, as JSON: a list of at most 1,000 objects with `name`, `startMs` in milliseconds from the beginning of the recording, and where they are known `arguments` (an object, or JSON in a text) and `result` (any JSON). An empty list says that there were none. Without it checks on tool calls are undecided',
    maxLength: MAX_TOOL_CALLS,
    example: '[{"name":"opening_hours","arguments":{"day":"Friday"},"result":{"until":"22:00"},"startMs":4200}]',
    optional: true,
  })
  toolCalls?: string;

  @StringField({
    description:
      'Why the call ended: `caller`, `agent`, or the reason of Vapi, Retell or ElevenLabs. A reason that does not say who ended the call leaves checks on that undecided',
    minLength: 1,
    maxLength: MAX_LENGTH.name,
    example: 'customer-ended-call',
    optional: true,
  })
  endedReason?: string;

  @StringField({
    description: 'What the platform measured, as a JSON object, such as latencies. It is shown, and decides nothing',
    maxLength: MAX_REPORTED,
    example: '{"turnLatencies":[612,580]}',
    optional: true,
  })
  reported?: string;

  @EnumField(CALL_ORIGINS, {
    description:
      'Whose call it was. On one of `production` the caller follows no script: required checks that the call cannot decide are not asked, and if nothing is decided, the call is `invalid`',
    optional: true,
    default: 'import',
  })
  origin?: CallOrigin;
}

function startViolation(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const time = isDateAndTime(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(time)) return 'must be a date and time with a time zone, such as 2026-11-21T06:37:42.758Z';
  return time > Date.now() + AHEAD_MS ? 'must not be in the future' : undefined;
}

/**
 * Reads a transcript.
 * @param endMs end of the recording
 * @returns its entries, or what is wrong with it, one sentence each
 */
export function readTranscript(json: string, endMs: number): readonly TranscriptEntry[] | { issues: string[] } {
  const value = parsedJson('transcript', json, 10 * MAX_ENTRIES);
  if ('issues' in value) return value;
  const found = inListOf('transcript', value.json, MAX_ENTRIES, (entry) => entryIssue(entry, endMs));
  if ('issues' in found) return found;
  return (found as TranscriptEntry[]).map(({ speaker, text, startMs, endMs: to }) => ({
    ...{ speaker, text, startMs, endMs: to },
  }));
}

/** Times of transcripts are rounded. */
const ROUNDING_MS = 1_000;
const FIELDS: ReadonlySet<string> = new Set(['speaker', 'text', 'startMs', 'endMs']);

/** The rest of a sentence that begins with the path of the entry. */
function entryIssue(entry: unknown, recordingEndMs: number): string | undefined {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return ' must be an object';
  const { speaker, text, startMs, endMs } = entry as Record<string, unknown>;
  const unknown = Object.keys(entry).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) return ` must have only speaker, text, startMs and endMs`;
  if (speaker !== 'agent' && speaker !== 'caller') return '.speaker must be one of agent, caller';
  if (typeof text !== 'string') return '.text must be a string';
  if (text.length > MAX_TEXT) return `.text must have at most ${MAX_TEXT} characters`;
  if (typeof startMs !== 'number' || startMs < 0) return '.startMs must be a number that is not less than 0';
  if (typeof endMs !== 'number' || endMs < startMs) return '.endMs must be a number that is not less than startMs';
  const latest = Math.ceil(recordingEndMs + ROUNDING_MS);
  return endMs > latest ? `.endMs must not be greater than ${latest}, a second after the recording ends` : undefined;
}
