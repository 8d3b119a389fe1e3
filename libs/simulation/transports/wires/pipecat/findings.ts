import { COMMON_FINDINGS } from '../../../voice/wire/common-findings.js';
import { findingsOf, type KnownFindings } from '../../../voice/wire/known-finding.js';

const FRAMES = 'pipecat, frames/frames.proto';
const RTVI = 'pipecat, frameworks/rtvi/models.py';

/** Deviations of a call. `error`: the caller hears something else than the agent meant; `warning`: the rest. */
export const PIPECAT_FINDINGS = {
  ...COMMON_FINDINGS,
  no_clear_on_barge_in: {
    severity: 'error',
    meaning: 'The caller interrupted the agent, and everything that was buffered was played: no `interruption` came',
    source: 'Pipecat sends InterruptionFrame when the user interrupts the bot (pipecat-ai/pipecat#4553)',
  },
  no_interruption_frame: {
    severity: 'warning',
    meaning: '`user-started-speaking` clears what is buffered, because no `interruption` comes: Pipecat before 1.3',
    source: 'The serializer sends InterruptionFrame since May 2026 (pipecat-ai/pipecat#4553)',
  },
  no_rtvi: {
    severity: 'warning',
    meaning:
      'No RTVI came within 10 s: words, function calls and keys are not known. Enable it, or set `rtvi` to `off`',
    source: `"BotReady: Sent after bot initialization is complete" (${RTVI})`,
  },
  unusual_frame: {
    severity: 'warning',
    meaning:
      'Audio has a WAV header, half a sample, another number of channels than 1 or another rate than before, or a frame has no known member; the audio is converted, and other clients may not play it',
    source: `AudioRawFrame: "audio", "sample_rate", "num_channels" (${FRAMES})`,
  },
  unusable_rate: {
    severity: 'error',
    meaning: 'Audio has another `sample_rate` than 8000, 16000, 22050, 24000, 44100 and 48000, and is not played',
    source: `AudioRawFrame: "uint32 sample_rate" (${FRAMES})`,
  },
  error_event: {
    severity: 'warning',
    meaning: 'The bot reported an error, and went on',
    source: `"fatal: Indicates the pipeline has stopped due to this error" (${RTVI})`,
  },
  invalid_message: {
    severity: 'error',
    meaning: 'A message is text, bytes other than a frame, or RTVI that lacks a field: audio, words or calls are lost',
    source: `The messages are binary, in the encoding of protobuf (${FRAMES})`,
  },
} as const satisfies KnownFindings;

export const pipecatFinding = findingsOf(PIPECAT_FINDINGS);
