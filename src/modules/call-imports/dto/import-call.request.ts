import { ApiProperty } from '@nestjs/swagger';
import type { TranscriptEntry } from '../../../../libs/simulation/index.js';
import { findJsonViolations, sentence } from '../../../../libs/json-input/index.js';
import { checked, EnumField, IdField, StringField, TimestampField } from '../../../platform/http/dto/fields.js';
import { CHANNEL_ORDERS, type ChannelOrder } from '../../recordings/recording-uploads.service.js';
import { isDateAndTime } from '../../../platform/http/dto/moment.field.js';

/** Maximum size of a recording in bytes. */
export const MAX_RECORDING = 200 * 1024 * 1024;
const MAX_TRANSCRIPT = 4 * 1024 * 1024;
const MAX_ENTRIES = 10_000;
const MAX_TEXT = 4_000;
/** Violations of a transcript that are named. */
const MAX_NAMED = 10;
/** How far the clock of a client may be ahead. */
const AHEAD_MS = 24 * 60 * 60_000;

/** Maximum size in bytes of each field beside the recording. */
export const FIELD_BYTES = {
  channels: 100,
  evaluationId: 255,
  startedAt: 255,
  transcript: MAX_TRANSCRIPT,
  externalId: 1_020,
} as const;

/** A call that was recorded elsewhere; the form's fields are texts. */
export class ImportCallRequest {
  @ApiProperty({
    type: 'string',
    format: 'binary',
    description:
      'The recording from the answer to the end of the call, as WAV with two channels: 16-bit PCM, mu-law or A-law at 8,000, 16,000, 22,050, 24,000, 44,100 or 48,000 samples per second; at most 200 MiB',
  })
  recording: string;

  @EnumField(CHANNEL_ORDERS, {
    description: 'Who is in the first (left) and in the second channel',
    example: 'caller-agent',
  })
  channels: ChannelOrder;

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
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { issues: ['transcript must be valid JSON'] };
  }
  if (!Array.isArray(value)) return { issues: ['transcript must be a JSON array'] };
  if (value.length > MAX_ENTRIES) {
    return { issues: [`transcript must have at most ${MAX_ENTRIES} entries; it has ${value.length}`] };
  }
  const limits = { maxValues: 10 * MAX_ENTRIES, maxViolations: MAX_NAMED };
  const { violations } = findJsonViolations(value, limits);
  const unsafe = violations.map(({ path, text }) => sentence({ path: ['transcript', ...path], text }));
  if (unsafe.length > 0) return { issues: unsafe };
  const entries = value as unknown[];
  const issues = entries.flatMap((entry, index) => {
    const issue = entryIssue(entry, endMs);
    return issue === undefined ? [] : [`transcript[${index}]${issue}`];
  });
  if (issues.length > MAX_NAMED) {
    return { issues: [...issues.slice(0, MAX_NAMED), `transcript has ${issues.length - MAX_NAMED} further faults`] };
  }
  return issues.length > 0
    ? { issues }
    : (entries as TranscriptEntry[]).map(({ speaker, text, startMs, endMs: to }) => ({
        speaker,
        text,
        startMs,
        endMs: to,
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
