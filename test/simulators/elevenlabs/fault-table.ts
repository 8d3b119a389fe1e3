import { EVALUATION_KEYS } from '../agent/evaluations.js';
import { expectationOf } from '../agent/expected.js';
import { FAULTS, type FaultName } from '../agent/faults.js';
import { VOICE_EVALUATION_KEYS } from '../agent/voice/evaluations.js';
import { elevenlabsExpectationOf } from '../agent/voice/expected.js';
import { SHARED_FAULT_NAMES } from '../openai-realtime/realtime-faults.js';
import { VOICE_FAULTS, VOICE_FAULT_NAMES, type VoiceFaultName } from '../agent/voice/voice-faults.js';
import { isWordFault, WORD_FAULT_NAMES } from '../agent/voice/word-faults.js';
import { ELEVENLABS_FAULT_NAMES, ELEVENLABS_FAULTS, type ElevenLabsFaultName } from './elevenlabs-faults.js';

const NO_AUDIO = 'text has no audio';
const FORMATS = 'the formats of the audio are settings of the agent, which the platform names and keeps to';
const BY_CODE = 'over this protocol it would be a close code, which ends the call as an error of the platform';

/** Why a fault of another protocol cannot happen over voice. */
const NOT_OVER_VOICE: Readonly<Record<string, string>> = {
  'wrong-encoding': FORMATS,
  'wrong-rate': FORMATS,
  'wav-header': FORMATS,
  'no-clear': 'the platform reports the interruption, and its client drops the audio',
  'wrong-stream-sid': 'a conversation is a connection of its own, without an id in its messages',
  'nameless-marks': 'the protocol has no marks',
  'ignores-keys': 'the protocol has no keys',
  'error-status': BY_CODE,
  'cut-stream': BY_CODE,
};

/** Why a fault is not shown in text. Other faults of the telephone are about audio, which text does not have. */
const NOT_IN_TEXT: Readonly<Record<string, string>> = {
  'never-hangs-up': 'in text it is `never-ends`',
  'hangs-up-mid-sentence': 'in text it is `hangs-up-early`',
  'talks-for-a-minute': 'in text it is `talks-too-much`',
  'no-answer-events': 'in text it is `silence`',
  'stops-answering': 'in text it is `silence`',
  'error-message': 'errors after which the conversation goes on are not shown in text',
  'error-status': BY_CODE,
  'cut-stream': BY_CODE,
};

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const shown = (failing: number, of: number): string => `shown: fails ${failing} of ${of} evaluations`;

function overVoice(fault: string): string {
  const reason = NOT_OVER_VOICE[fault];
  if (reason !== undefined) return `not shown: ${reason}`;
  if (isWordFault(fault)) return inWords(fault);
  const keys = VOICE_EVALUATION_KEYS.filter((key) => key !== 'phone-keys');
  const expected = keys.map((key) => elevenlabsExpectationOf(fault as ElevenLabsFaultName, key));
  const failing = expected.filter(({ outcome }) => outcome === 'failed').length;
  const finding = expected.find((one) => one.finding !== undefined)?.finding;
  if (failing > 0) return shown(failing, keys.length) + (finding === undefined ? '' : `, finding \`${finding}\``);
  return `shown: finding \`${finding}\`, which fails no check`;
}

function inText(fault: string): string {
  if (isWordFault(fault) || fault === 'slow-answer') return inWords(fault);
  return `not shown: ${NOT_IN_TEXT[fault] ?? NO_AUDIO}`;
}

function inWords(fault: FaultName): string {
  const failing = EVALUATION_KEYS.filter((key) => expectationOf(fault, key).outcome === 'failed').length;
  return shown(failing, EVALUATION_KEYS.length);
}

/** Every planted fault, and whether the protocols of ElevenLabs show it, by what `npm run accuracy -- --elevenlabs` expects. */
export function faultTable(): string {
  const effects = { ...FAULTS, ...VOICE_FAULTS, ...ELEVENLABS_FAULTS };
  const onTelephone = VOICE_FAULT_NAMES.filter((name: VoiceFaultName) => !SHARED_FAULT_NAMES.includes(name));
  const names = [
    ...WORD_FAULT_NAMES,
    ...SHARED_FAULT_NAMES,
    ...ELEVENLABS_FAULT_NAMES,
    ...onTelephone,
    ...(['error-status', 'cut-stream'] as const),
  ];
  const head = ['Fault', 'The agent …', '`elevenlabs`', '`elevenlabs-text`'];
  const rows = names.map((name) => row([`\`${name}\``, effects[name].effect, overVoice(name), inText(name)]));
  return [row(head), '| --- | --- | --- | --- |', ...rows].join('\n');
}
